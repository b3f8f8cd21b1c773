package csicontroller

// deploy/lease-csi.yaml creates the lease. Kubernetes' own objects are in no namespace:
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=external-attacher-leader-driver-longhorn-io,verbs=get;update;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=storage.k8s.io,resources=volumeattachments,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=storage.k8s.io,resources=volumeattachments/status,verbs=patch
// +kubebuilder:rbac:groups=storage.k8s.io,resources=csinodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list;watch;patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=longhorn.io,resources=volumeattachments,verbs=get;list;watch;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=list;watch,namespace=longhorn-system
