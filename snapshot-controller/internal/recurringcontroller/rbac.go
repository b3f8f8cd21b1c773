package recurringcontroller

// Beside what package runkit needs:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=recurringjobs,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=recurringjobs/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots;backups,verbs=list;watch;create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes;settings,verbs=list;watch,namespace=longhorn-system
//
// Claims are in all namespaces, PersistentVolumes in none:
//
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims;persistentvolumes,verbs=list;watch
