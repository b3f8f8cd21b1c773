package machinecontroller

// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines,verbs=get,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;enginefrontends,verbs=list;watch;create;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas,verbs=get;list;watch;patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumeattachments,verbs=get;list;watch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backupvolumes;nodedataengineupgrades,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots,verbs=list;watch;create;delete,namespace=longhorn-system
