package backupexecutor

// The rights that taking backups needs. Volumes, Backups and BackupTargets are read uncached right before a call.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=backups,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backups/status;backuptargets/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backuptargets;volumes,verbs=get,namespace=longhorn-system
//
// The credentials of BackupTargets are in Secrets whose names people choose, right before a call:
//
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,namespace=longhorn-system
