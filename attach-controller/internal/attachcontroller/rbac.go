package attachcontroller

// Beside what package runkit and the take-over in package ticketcontroller need:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get;list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumeattachments,verbs=list;watch;create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumeattachments/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;engines;enginefrontends;replicas,verbs=list;watch,namespace=longhorn-system
