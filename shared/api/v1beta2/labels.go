package v1beta2

// Label keys and values that the controllers select by.
const (
	LabelVolume          = "longhornvolume"
	LabelNode            = "longhornnode"
	LabelDiskUUID        = "longhorndiskuuid"
	LabelInstanceManager = "longhorninstancemanager"
	LabelEngine          = "longhornengine"
	LabelReplica         = "longhornreplica"

	LabelComponent            = "longhorn.io/component"
	LabelManagedBy            = "longhorn.io/managed-by"
	LabelNodeOfComponent      = "longhorn.io/node"
	LabelDataEngine           = "longhorn.io/data-engine"
	LabelInstanceManagerType  = "longhorn.io/instance-manager-type"
	LabelInstanceManagerImage = "longhorn.io/instance-manager-image"
	LabelOrphanType           = "longhorn.io/orphan-type"
	LabelEngineImage          = "longhorn.io/engine-image"

	ManagedByLonghornManager   = "longhorn-manager"
	ManagedByAttachController  = "attach-controller"
	ManagedByUpgradeController = "upgrade-controller"
	ComponentInstanceManager   = "instance-manager"
	ComponentOrphan            = "orphan"
	ComponentManager           = "longhorn-manager"
	ComponentEngineImage       = "engine-image"
)

// LabelV2LUKSRoom is "true" on an encrypted v2 Volume whose replicas were created with room for the LUKS header. It is set at the volume's
// creation and never changes.
const LabelV2LUKSRoom = "v2-encrypted-volume-with-luks-header"

// LUKSHeaderBytes is the space that an encrypted volume needs beside its data (LUKS2, cryptsetup 2.1.0 and newer).
const LUKSHeaderBytes = 16 << 20

// LabelContract is on every CustomResourceDefinition of Drover; its value is ContractVersion. A definition without it is
// another Longhorn's: it drops fields that Drover's controllers need.
const (
	LabelContract   = "drover.dev/contract"
	ContractVersion = "1"
)
