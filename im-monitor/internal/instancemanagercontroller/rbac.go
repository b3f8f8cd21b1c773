package instancemanagercontroller

// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers,verbs=list;watch;create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodedataengineupgrades,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines,verbs=list,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers/status,verbs=patch,namespace=longhorn-system
