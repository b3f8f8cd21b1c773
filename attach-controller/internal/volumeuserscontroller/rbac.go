package volumeuserscontroller

// Pods are in all namespaces. Beside what package runkit needs:
//
// +kubebuilder:rbac:groups="",resources=pods;persistentvolumes,verbs=list;watch
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes;engines,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes/status,verbs=patch,namespace=longhorn-system
