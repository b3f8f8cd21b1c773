package wire

import (
	"net/http"
	"slices"
	"strings"
)

// Action names the types of an action's input and output.
type Action struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

// Schema describes a type. It names no fields: clients bind resources by methods and actions.
type Schema struct {
	Meta
	PluralName        string              `json:"pluralName"`
	ResourceMethods   []string            `json:"resourceMethods"`
	CollectionMethods []string            `json:"collectionMethods"`
	ResourceFields    map[string]struct{} `json:"resourceFields"`
	ResourceActions   map[string]Action   `json:"resourceActions"`
}

// methods are the methods that a collection and a resource of a type declare.
type methods struct{ collection, resource []string }

const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete

// declared are the types that declare more than GET. Nodes and orphans also serve DELETE, which the API does not declare.
var declared = map[string]methods{
	TypeVolume:           {[]string{get, post}, []string{get, del}},
	TypeEngineImage:      {[]string{get, post}, []string{get, del}},
	TypeBackingImage:     {[]string{get, post}, []string{get, del}},
	"systemBackup":       {[]string{get, post}, []string{get, del}},
	"systemRestore":      {[]string{get, post}, []string{get, del}},
	TypeRecurringJob:     {[]string{get, post}, []string{get, put, del}},
	TypeBackupTarget:     {[]string{get, post}, []string{get, put, del}},
	TypeSetting:          {[]string{get}, []string{get, put}},
	TypeNode:             {[]string{get}, []string{get, put}},
	TypeBackupVolume:     {[]string{get}, []string{get, put, del}},
	"backupBackingImage": {[]string{get}, []string{get, del}},
}

// The types that other packages name.
const (
	TypeVolume           = "volume"
	TypeNode             = "node"
	TypeSetting          = "setting"
	TypeEngineImage      = "engineImage"
	TypeBackingImage     = "backingImage"
	TypeRecurringJob     = "recurringJob"
	TypeBackupTarget     = "backupTarget"
	TypeBackupVolume     = "backupVolume"
	TypeBackup           = "backup"
	TypeOrphan           = "orphan"
	TypeInstanceManager  = "instanceManager"
	TypeEvent            = "event"
	TypeTag              = "tag"
	TypeVolumeAttachment = "volumeAttachment"
	TypeSnapshot         = "snapshot"
	TypeSnapshotCR       = "snapshotCR"
	TypeVolumeJob        = "volumeRecurringJob"
)

// types are all types with routes or actions, and the inputs and nested objects that clients look up.
var types = []string{"apiVersion", "attachInput", "attachment", "backingImage", "backup", "backupBackingImage", "backupInput",
	"backupListOutput", "backupTarget", "backupVolume", "controller", "detachInput", "diskUpdateInput", "empty", "engineImage",
	"engineUpgradeInput", "error", "event", "expandInput", "instanceManager", "kubernetesStatus", "node", "orphan", "recurringJob",
	"replica", "replicaRemoveInput", "salvageInput", "schema", "setting", "shard", "shardGroup", "snapshot", "snapshotCR",
	"snapshotCRInput", "snapshotCRListOutput", "snapshotInput", "snapshotListOutput", "supportBundle", "syncBackupResource",
	"systemBackup", "systemRestore", "tag", "updateReplicaCountInput", "volume", "volumeAttachment", "volumeCondition",
	"volumeRecurringJob", "volumeRecurringJobInput"}

// actionsOf names the actions of a type with their inputs and outputs.
var actionsOf = map[string]map[string]Action{
	TypeVolume: volumeActions(),
	TypeNode:   {"diskUpdate": {"diskUpdateInput", TypeNode}},
	TypeBackupTarget: {"backupTargetSync": {"syncBackupResource", TypeBackupTarget},
		"backupTargetUpdate": {TypeBackupTarget, TypeBackupTarget}},
	TypeBackupVolume: {"backupList": {"", "backupListOutput"}, "backupListByVolume": {TypeVolume, "backupListOutput"},
		"backupGet": {"backupInput", TypeBackup}, "backupDelete": {"backupInput", TypeBackupVolume},
		"backupVolumeSync": {"syncBackupResource", TypeBackupVolume}},
}

func volumeActions() map[string]Action {
	actions := map[string]Action{
		"attach": {"attachInput", TypeVolume}, "detach": {"detachInput", TypeVolume}, "salvage": {"salvageInput", TypeVolume},
		"expand": {"expandInput", TypeVolume}, "engineUpgrade": {"engineUpgradeInput", TypeVolume},
		"replicaRemove": {"replicaRemoveInput", TypeVolume},
		"snapshotList":  {"", "snapshotListOutput"}, "snapshotCRList": {"", "snapshotCRListOutput"},
		"recurringJobAdd":    {"volumeRecurringJobInput", TypeVolumeJob},
		"recurringJobDelete": {"volumeRecurringJobInput", TypeVolumeJob}, "recurringJobList": {"", TypeVolumeJob},
	}
	for _, name := range []string{"snapshotCreate", "snapshotGet"} {
		actions[name] = Action{"snapshotInput", TypeSnapshot}
	}
	for _, name := range []string{"snapshotCRCreate", "snapshotCRGet"} {
		actions[name] = Action{"snapshotCRInput", TypeSnapshotCR}
	}
	actions["snapshotCRDelete"] = Action{"snapshotCRInput", "empty"}
	for _, name := range []string{"snapshotDelete", "snapshotRevert", "snapshotBackup"} {
		actions[name] = Action{"snapshotInput", TypeVolume}
	}
	for _, name := range []string{"activate", "cancelExpansion", "offlineReplicaRebuilding", "pvCreate", "pvcCreate", "snapshotPurge",
		"trimFilesystem"} {
		actions[name] = Action{"", TypeVolume}
	}
	for _, name := range UpdateActions() {
		actions[name] = Action{name + "Input", TypeVolume}
	}
	return actions
}

// UpdateActions names the actions that change one field of a volume, in order.
func UpdateActions() []string {
	return []string{"updateAccessMode", "updateBackupCompressionMethod", "updateBackupTargetName", "updateDataLocality",
		"updateFreezeFilesystemForSnapshot", "updateRebuildConcurrentSyncLimit", "updateReplicaAutoBalance", "updateReplicaCount",
		"updateReplicaDiskSoftAntiAffinity", "updateReplicaRebuildingBandwidthLimit", "updateReplicaSoftAntiAffinity",
		"updateReplicaZoneSoftAntiAffinity", "updateSnapshotDataIntegrity", "updateSnapshotMaxCount", "updateSnapshotMaxSize",
		"updateUblkNumberOfQueue", "updateUblkQueueDepth", "updateUnmapMarkSnapChainRemoved"}
}

// Schemas returns the schemas of all types, by name.
func Schemas(base string) []Schema {
	out := make([]Schema, 0, len(types))
	for _, name := range types {
		out = append(out, newSchema(base, name))
	}
	return out
}

// FindSchema returns the schema of a type, which may be named in any case or in the plural.
func FindSchema(base, name string) (Schema, bool) {
	i := slices.IndexFunc(types, func(t string) bool { return strings.EqualFold(t, name) || strings.EqualFold(Plural(t), name) })
	if i < 0 {
		return Schema{}, false
	}
	return newSchema(base, types[i]), true
}

func newSchema(base, name string) Schema {
	m := declared[name]
	if m.collection == nil {
		m = methods{[]string{get}, []string{get}}
	}
	s := Schema{Meta: NewMeta(base, "schema", name), PluralName: Plural(name), CollectionMethods: m.collection,
		ResourceMethods: m.resource, ResourceFields: map[string]struct{}{}, ResourceActions: actionsOf[name]}
	s.Links["self"] = base + "/" + Version + "/schemas/" + name
	s.Links["collection"] = CollectionURL(base, name)
	if s.ResourceActions == nil {
		s.ResourceActions = map[string]Action{}
	}
	return s
}
