package gateway

// The gateway reads these objects, beside the rights of package runkit. PersistentVolumes and pods show who uses a volume; pods are in all
// namespaces:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes;engines;enginefrontends;replicas;volumeattachments;snapshots;backups,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;instancemanagers;settings;backuptargets;backupvolumes;orphans;recurringjobs;engineimages,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=persistentvolumes;pods,verbs=list;watch
//
// Events are listed for each request:
//
// +kubebuilder:rbac:groups="",resources=events,verbs=list,namespace=longhorn-system
//
// It has tokens of clients checked, with --require-tokens:
//
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
//
// It writes these for clients. A volume's claim is raised in place of the volume itself:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=volumes,verbs=create;delete;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=volumeattachments,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots;backups,verbs=create;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;patch
//
// And these for the pages of the web interface:
//
// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=create;patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes;replicas,verbs=patch;delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=orphans,verbs=delete,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=recurringjobs;backuptargets,verbs=create;patch;delete,namespace=longhorn-system
