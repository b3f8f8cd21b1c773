package upgradecontroller

// Beside what package runkit needs:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers,verbs=get;list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=dataengineupgrademanagers/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodedataengineupgrades,verbs=get;list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodedataengineupgrades/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;volumes;engines,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas;instancemanagers;backups,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots,verbs=get;list;watch;create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;create;delete,namespace=longhorn-system
