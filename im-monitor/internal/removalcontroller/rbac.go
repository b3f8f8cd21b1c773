package removalcontroller

// What destroying the data of deleted replicas needs. Volumes, Engines, Replicas and Nodes are read uncached right
// before a call.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas;engines;nodes;instancemanagers,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=replicas/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get,namespace=longhorn-system
