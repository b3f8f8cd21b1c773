package controller

// Beside what package runkit needs. Of Settings it writes the two that the migration is about, and no other: one of the others is the image
// of privileged pods. The new one is created by an apply, because only then the API server checks the name of what is created.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans,verbs=get;list;watch;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;instancemanagers;engines;volumes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings,resourceNames=orphan-resource-auto-deletion,verbs=create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings,resourceNames=orphan-auto-deletion,verbs=delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list;watch
