package snapshotcontroller

// Beside what package runkit needs:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots,verbs=list;watch;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumeattachments,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;replicas;nodes;settings;backups,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers/status,verbs=patch,namespace=longhorn-system
