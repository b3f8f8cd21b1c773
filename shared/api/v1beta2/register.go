package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "longhorn.io", Version: "v1beta2"}

// AddToScheme registers every kind of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, kinds()...)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// kinds lists one object and one list for each kind; a test compares it with the generated CRDs.
func kinds() []runtime.Object {
	return []runtime.Object{
		&BackingImage{}, &BackingImageList{},
		&BackingImageDataSource{}, &BackingImageDataSourceList{},
		&Backup{}, &BackupList{},
		&BackupTarget{}, &BackupTargetList{},
		&BackupVolume{}, &BackupVolumeList{},
		&DataEngineUpgradeManager{}, &DataEngineUpgradeManagerList{},
		&Engine{}, &EngineList{},
		&EngineFrontend{}, &EngineFrontendList{},
		&EngineImage{}, &EngineImageList{},
		&InstanceManager{}, &InstanceManagerList{},
		&Node{}, &NodeList{},
		&NodeDataEngineUpgrade{}, &NodeDataEngineUpgradeList{},
		&Orphan{}, &OrphanList{},
		&RecurringJob{}, &RecurringJobList{},
		&Replica{}, &ReplicaList{},
		&Setting{}, &SettingList{},
		&ShareManager{}, &ShareManagerList{},
		&Snapshot{}, &SnapshotList{},
		&Volume{}, &VolumeList{},
		&VolumeAttachment{}, &VolumeAttachmentList{},
	}
}
