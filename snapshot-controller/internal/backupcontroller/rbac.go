package backupcontroller

// Beside what package runkit and the controller of snapshots need:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=backups,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backups/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backuptargets,verbs=list;watch,namespace=longhorn-system
//
// Before data is removed from a target, all that its removal rests on is read uncached:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=backups,verbs=get;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backuptargets;backupvolumes,verbs=get,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backupvolumes,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get,namespace=longhorn-system
