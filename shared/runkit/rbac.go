package runkit

// What every binary needs for its events and the look for a running longhorn-manager. The lease is named in each
// controller's own markers:
//
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch,namespace=longhorn-system
