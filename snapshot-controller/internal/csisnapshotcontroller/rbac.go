package csisnapshotcontroller

// The lease is made by deploy/lease-csi.yaml. Kubernetes' own objects are in no namespace:
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=external-snapshotter-leader-driver-longhorn-io,verbs=get;update;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotcontents,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotcontents/status,verbs=patch
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotclasses,verbs=list;watch
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots,verbs=get;list;watch;create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backups,verbs=get;list;watch;create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=list;watch,namespace=longhorn-system
