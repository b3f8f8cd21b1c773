package backuptargetcontroller

// BackupTargets, and the object that is about to go, are read uncached right before a write:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=backuptargets,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backuptargets/status;backupvolumes/status;backups/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backupvolumes;backups,verbs=get;list;watch;create;patch;delete,namespace=longhorn-system
//
// A BackupVolume that is deleted: whether all of Longhorn is.
//
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get,namespace=longhorn-system
//
// The credentials of BackupTargets are in Secrets whose names people choose:
//
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,namespace=longhorn-system
