package replicacontroller

// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas,verbs=get;list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;nodedataengineupgrades;instancemanagers;engineimages,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumeattachments,verbs=list;watch,namespace=longhorn-system
