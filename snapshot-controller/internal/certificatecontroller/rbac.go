package certificatecontroller

// The Secret and the configurations are made by deploy/webhook.yaml, so that nothing of others can be read or written:
//
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=snapshot-controller-webhook,verbs=list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations;validatingwebhookconfigurations,resourceNames=drover-snapshot-controller,verbs=list;watch;patch
