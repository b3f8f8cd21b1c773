package runkit

// What every binary needs for leader election, events and the look for a running longhorn-manager:
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update,namespace=longhorn-system
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch,namespace=longhorn-system
