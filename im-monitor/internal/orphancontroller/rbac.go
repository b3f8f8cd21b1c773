package orphancontroller

// What evaluating and deleting need. Volumes, Engines, Replicas and PersistentVolumes are read for the checks right before
// a deletion.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans,verbs=get;list;watch;create,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;replicas;nodes;instancemanagers,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list
