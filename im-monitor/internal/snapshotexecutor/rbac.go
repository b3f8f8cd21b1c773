package snapshotexecutor

// The rights that handling snapshots needs. Volumes and Snapshots are read uncached right before a call.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots,verbs=get;list;watch;create,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get,namespace=longhorn-system
