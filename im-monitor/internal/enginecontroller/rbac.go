package enginecontroller

// +kubebuilder:rbac:groups=longhorn.io,resources=engines;enginefrontends;engineimages;replicas;instancemanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;enginefrontends;volumes,verbs=get,namespace=longhorn-system
