package webhookserver

// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get;list;watch,namespace=longhorn-system
