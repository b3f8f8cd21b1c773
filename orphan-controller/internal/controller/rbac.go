package controller

// Beside what package runkit needs:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans,verbs=get;list;watch;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;instancemanagers;engines;volumes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=enginefrontends,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=get;list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list;watch
