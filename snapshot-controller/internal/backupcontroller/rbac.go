package backupcontroller

// Beside what package runkit and the controller of snapshots need:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=backups,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backups/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backuptargets,verbs=list;watch,namespace=longhorn-system
