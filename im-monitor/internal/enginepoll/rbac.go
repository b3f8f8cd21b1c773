package enginepoll

// Engines, EngineFrontends, Volumes, Snapshots, Backups and BackupTargets are read uncached right before a call, but to take a snapshot.
//
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;enginefrontends;engineimages;replicas;instancemanagers,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=engines;enginefrontends;volumes,verbs=get,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots,verbs=get;list;watch;create,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=snapshots/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backups,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backups/status;backuptargets/status,verbs=patch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=backuptargets,verbs=get,namespace=longhorn-system
//
// What a backup reports of its volume, beside the data, right before it is requested:
//
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list
// +kubebuilder:rbac:groups=longhorn.io,resources=backingimages,verbs=list;watch,namespace=longhorn-system
//
// The credentials of BackupTargets are in Secrets whose names people choose, right before a call:
//
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,namespace=longhorn-system
