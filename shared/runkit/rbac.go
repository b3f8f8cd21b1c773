package runkit

// What every binary needs for its events, for the search for a running longhorn-manager and for its remaining webhooks, and for the
// contracts of the custom resource definitions. The lease is named in each controller's own markers:
//
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=longhorn-webhook-validator,verbs=list;watch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=longhorn-webhook-mutator,verbs=list;watch
