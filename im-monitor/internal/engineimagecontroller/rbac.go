package engineimagecontroller

// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engineimages,verbs=get;list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engineimages/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;replicas,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=list,namespace=longhorn-system
