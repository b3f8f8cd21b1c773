package instancecontroller

// What starting and stopping instances needs. Volumes, Engines, EngineFrontends and Replicas are read uncached right before a call.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;enginefrontends;replicas,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines/status;enginefrontends/status;replicas/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;instancemanagers;orphans;settings;engineimages,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backingimages,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch,namespace=longhorn-system
