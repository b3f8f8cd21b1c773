package finding

import "drover.dev/drover/shared/api/v1beta2"

// Commands that several reasons share.
const (
	// Describe shows an object with its events.
	Describe         = "kubectl -n {ns} describe {kind} {name}"
	showManagers     = "kubectl -n {ns} get lhim -o wide"
	showEvents       = "kubectl -n {ns} get events --field-selector involvedObject.name={name}"
	showInstances    = "kubectl drover tree {volume} -n {ns}"
	showUpgrade      = "kubectl -n {ns} get lhum,lhnu -o wide"
	showNode         = "kubectl drover tree {node} -n {ns}"
	showKubernetes   = "kubectl describe nodes {node}"
	showTickets      = "kubectl -n {ns} describe lhva {volume}"
	explainOrphan    = "kubectl drover orphans explain {name} -n {ns}"
	planUpgrade      = "kubectl drover upgrade plan -n {ns}"
	resumeUpgrade    = "kubectl drover upgrade resume {manager} -n {ns}"
	setManagerImage  = "kubectl -n {ns} edit settings.longhorn.io default-instance-manager-image"
	showBackupTarget = "kubectl -n {ns} describe lhbt"
)

func attaching() []of {
	const guide = "attaching.md"
	return []of{
		{kinds: "VolumeAttachment", condition: v1beta2.VolumeAttachmentReady, guide: guide, command: showTickets,
			well: "Attached Detached", continues: "Attaching Detaching", warning: "Blocked NoCandidate", critical: "Faulted"},
		{kinds: "VolumeAttachment", condition: v1beta2.TicketSatisfied, guide: guide, command: showTickets,
			well:      "Satisfied",
			continues: "Attaching Migrating WaitingForDetach LowerPriority WaitingForData NodeUpgrading",
			warning: "AttachedElsewhere AttachedWithIncompatibleParameters NoNode NodeUnknown NodeNotReady NodeCordoned DataLocality " +
				"TooManyTickets WaitingForShare MigrationFailed TargetElsewhere DataNodeDown",
			critical: "VolumeFaulted",
			commands: map[string]string{"NodeCordoned": "kubectl uncordon {node}", "NodeNotReady": showKubernetes,
				"NodeUnknown": "kubectl -n {ns} get lhn", "NodeUpgrading": showUpgrade, "WaitingForShare": "kubectl -n {ns} get lhsm",
				"DataNodeDown":    "kubectl -n {ns} get lhv {volume} -o wide",
				"TargetElsewhere": `kubectl -n {ns} patch lhv {volume} --type=merge -p '{"spec":{"targetNodeID":null}}'`}},
		{kinds: "VolumeAttachment", condition: v1beta2.TicketValid, guide: guide, command: showTickets,
			warning: "ExpiresAtUnreadable TypeUnknown"},
		{kinds: "Volume", condition: v1beta2.VolumeAttached, guide: guide, command: showInstances,
			well: "Attached Detached",
			continues: "Detaching WaitingForReplicas WaitingForEngine WaitingForFrontend WaitingForSnapshots NodeUpgrading " +
				"Restoring Cloning Migrating VolumeDeleting",
			warning: "DeletedInUse InstanceUnknown ReplicaNotStarting NodeDown CopyUnknown", critical: "NoUsableReplica Faulted",
			commands: map[string]string{"InstanceUnknown": showManagers, "ReplicaNotStarting": showManagers, "NodeUpgrading": showUpgrade,
				"WaitingForSnapshots": "kubectl -n {ns} get lhsnap --field-selector spec.volume={volume}", "DeletedInUse": showTickets}},
		{kinds: "Volume", condition: v1beta2.VolumeFaulted, guide: guide, command: showInstances, well: "Usable", critical: "Faulted"},
		{kinds: "Volume", condition: v1beta2.VolumeReverted, guide: "backups.md", command: Describe,
			well: "Reverted", continues: "Reverting Migrating Rebuilding", warning: "WaitingForMaintenance Unsupported Failed",
			commands: map[string]string{"WaitingForMaintenance": showTickets}},
		{kinds: "Volume", condition: v1beta2.VolumeExpanded, guide: guide, well: "Expanded", warning: "ExpansionFailed",
			command: "kubectl -n {ns} get lhsnap --field-selector spec.volume={volume}"},
		{kinds: "Volume", condition: v1beta2.VolumeRemounted, guide: "pods.md", warning: "BackendNotReady",
			command: "kubectl -n {ns} get endpointslices -l kubernetes.io/service-name=longhorn-backend"},
		{kinds: "Volume", condition: v1beta2.VolumeScheduled, guide: guide, command: "kubectl -n {ns} get lhn -o yaml",
			well: "Placed", continues: "WaitingForNode RebuildLimit",
			warning: "NoUsableNode NoUsableDisk TagsNotFound SizeMissing InsufficientSpace AntiAffinity RebuildHeld RebuildFails",
			commands: map[string]string{"WaitingForNode": showTickets, "SizeMissing": "kubectl -n {ns} edit lhv {volume}",
				"RebuildHeld":  "kubectl -n {ns} get lhsnap --field-selector spec.volume={volume}",
				"RebuildFails": "kubectl -n {ns} describe lhv {volume}"}},
	}
}

func instances() []of {
	const guide, all = "attaching.md", "Engine EngineFrontend Replica"
	return []of{
		{kinds: all, condition: v1beta2.InstanceNodeDown, command: showKubernetes, warning: "NodeDown OutOfService"},
		{kinds: all, condition: v1beta2.InstanceCreation, guide: guide, command: showEvents,
			well: "InstanceCreated",
			warning: "InstanceCreationFailure StartRefused SpecIncomplete VolumeMissing DataMissing EngineImageUnknown " +
				"EngineImageNotDeployed InstanceManagerCannotStart InstanceWithoutObject",
			commands: map[string]string{"EngineImageUnknown": "kubectl -n {ns} get lhei",
				"EngineImageNotDeployed":     "kubectl -n {ns} get lhei",
				"InstanceManagerCannotStart": showManagers, "DataMissing": "kubectl -n {ns} get lho",
				"InstanceWithoutObject": "kubectl -n {ns} get lho"}},
		{kinds: "Engine", condition: v1beta2.EngineOperations, guide: guide, command: Describe, well: "NoOperationFails",
			warning: "OperationFailed"},
		{kinds: "EngineFrontend", condition: v1beta2.FrontendDeviceLost, command: showTickets,
			warning: "CreatedAnew"},
		{kinds: "EngineFrontend", condition: v1beta2.FrontendSwitchover, guide: "upgrading.md", command: Describe,
			well: "GoesOn", continues: "NodeBusy EngineRebuilding", warning: "SwitchoverUnsupported", critical: "TargetUnknown"},
		{kinds: "Replica", condition: v1beta2.ReplicaDataRemovalApproved, guide: guide, command: showTickets,
			well: "VolumeDeleting HealthyCopyElsewhere", continues: "NoHealthyCopy OtherReplicaFirst", info: "WaitingForLook"},
		{kinds: "Replica", condition: v1beta2.ReplicaDataRemoved, guide: guide, command: Describe,
			well: "Removed NothingToRemove NodeGone DiskGone", continues: "Removing",
			warning: "Unreachable MappedByEngine UUIDMismatch DiskNotLoaded DiskNotReady DirectoryClaimed DirectoryFailed",
			commands: map[string]string{"Unreachable": showManagers, "MappedByEngine": showTickets, "DiskNotLoaded": showNode,
				"DiskNotReady": showNode, "DirectoryFailed": showNode}},
		{kinds: "Replica", condition: v1beta2.ReplicaInstanceGone, guide: guide, command: showManagers,
			well: "InstanceGone", warning: "Unreachable StillPresent"},
		{kinds: "Replica", condition: v1beta2.WaitForBackingImage, guide: guide, command: "kubectl -n {ns} get lhbi",
			well: "BackingImageReady", continues: "Waiting", warning: "GetBackingImageFailed"},
	}
}

func nodes() []of {
	return []of{
		{kinds: "Node", condition: v1beta2.NodeReady, command: showKubernetes,
			well:    "NodeReady",
			warning: "KubernetesNodeGone KubernetesNodeNotReady ManagerPodMissing ManagerPodDown InstanceManagerUnreachable",
			commands: map[string]string{"ManagerPodMissing": showManagers, "ManagerPodDown": showManagers,
				"InstanceManagerUnreachable": showManagers}},
		// Ready and Schedulable are conditions of a disk, too: the reasons of both are below, under the kind Disk.
		{kinds: "Node", condition: v1beta2.NodeSchedulable, command: "kubectl uncordon {node}",
			well: "Schedulable", info: "KubernetesNodeCordoned"},
		{kinds: "Node", condition: v1beta2.NodeRemoved, command: showNode,
			warning: "KubernetesNodeInService InstanceManagersRemain"},
		{kinds: "Node", condition: v1beta2.NodeDefaultsApplied, guide: "disks.md", command: showNode,
			warning: "InvalidDefaults NoDirectory"},
		{kinds: "Node", condition: v1beta2.NodeMountPropagation, guide: "nodes.md", command: showNode,
			well: "MountsPropagate", warning: "NoMountPropagationSupport", info: "NotVisible"},
		{kinds: "Node", condition: v1beta2.NodeKernelModulesLoaded, guide: "nodes.md", command: showNode,
			well: "ModulesLoaded", warning: "KernelModulesNotLoaded", info: "NotVisible"},
		{kinds: "Node", condition: v1beta2.NodeRequiredPackages, guide: "nodes.md", command: showNode,
			well: "PackagesInstalled", warning: "PackagesNotInstalled", info: "NotVisible"},
		{kinds: Disk, condition: v1beta2.DiskReady, guide: "disks.md", command: Describe,
			well: "DiskReady", continues: "NodeNotReady",
			warning:  "NoDiskInfo NotInitialized InitializationUncertain DiskFilesystemChanged",
			commands: map[string]string{"NoDiskInfo": showManagers}},
		{kinds: Disk, condition: v1beta2.DiskSchedulable, guide: "disks.md", command: Describe,
			well: "Schedulable", continues: "DiskNotReady ContentNotListed NodeNotReady", warning: "DiskPressure"},
		{kinds: "InstanceManager", condition: v1beta2.InstanceManagerNodeReady, command: showKubernetes,
			well: "NodeReady", warning: "KubernetesNodeGone KubernetesNodeNotReady"},
		{kinds: "InstanceManager", condition: v1beta2.InstanceManagerPodReady,
			command: "kubectl -n {ns} describe pods {name}",
			well:    "PodReady", continues: "PodMissing PodStarting PodDeleting", warning: "PodCannotStart PodFailed PodBlocked PodRefused",
			info:     "KubernetesNodeCordoned",
			commands: map[string]string{"PodBlocked": planUpgrade, "PodRefused": Describe, "KubernetesNodeCordoned": showKubernetes}},
		{kinds: "InstanceManager", condition: v1beta2.InstanceManagerSettingSynced, command: Describe,
			well: "SettingsInForce", continues: "SettingsChanged Replacing VolumeUnsettled", info: "SettingsLeftOut LogsNotSet"},
		{kinds: "InstanceManager", condition: v1beta2.InstanceManagerReachable,
			command: "kubectl -n {ns} logs {name} --tail=50", well: "Answering", warning: "NotAnswering"},
		{kinds: "InstanceManager", condition: v1beta2.InstanceManagerFrontendRecords, command: Describe,
			well: "OnHost", info: "NotOnHost"},
		{kinds: "EngineImage", condition: v1beta2.EngineImageReady, guide: "engine-images.md",
			command: "kubectl -n {ns} get pods -o wide -l longhorn.io/engine-image={name}",
			well:    "Deployed", continues: "DaemonSetMissing BinaryUnread", warning: "ImageMissing PodsNotReady BinaryIncompatible",
			commands: map[string]string{"ImageMissing": Describe, "BinaryIncompatible": Describe, "DaemonSetMissing": Describe}},
		{kinds: "EngineImage", condition: v1beta2.EngineImageRemoved, guide: "engine-images.md", command: Describe,
			info: "IsDefaultImage Referenced"},
		{kinds: "Setting", condition: v1beta2.SettingApplied, guide: "settings.md", command: "kubectl -n {ns} edit settings.longhorn.io {name}",
			well: "InForce", info: "NotObeyed", warning: "InvalidValue"},
	}
}

func snapshots() []of {
	const guide = "snapshots.md"
	return []of{
		{kinds: "Snapshot", condition: v1beta2.SnapshotReady, guide: guide, command: Describe,
			well: "Ready", continues: "WaitingForAttach Creating VolumeDetached MarkedRemoved Restoring Cloning",
			warning: "Failed LimitReached VolumeNotFound Lost", commands: map[string]string{"WaitingForAttach": showTickets}},
		{kinds: "Snapshot", condition: v1beta2.SnapshotProvisioned, guide: guide, command: Describe,
			well: "Taken Adopted", info: "Cancelled", warning: "Failed LimitReached"},
		{kinds: "Snapshot", condition: v1beta2.SnapshotRemovalApproved, guide: guide, command: Describe,
			well: "Requested",
			continues: "ParentOfVolumeHead HasMultipleChildren PurgeLimited WaitingForAttach Upgrading Migrating Rebuilding LinkedClone " +
				"BackingUp",
			warning:  "PurgeDisabled RemovalFailed",
			commands: map[string]string{"PurgeDisabled": "kubectl -n {ns} get settings.longhorn.io disable-snapshot-purge -o yaml"}},
		{kinds: "Snapshot", condition: v1beta2.SnapshotRemovalFailed, guide: guide, command: Describe,
			warning: "Refused Unreachable PurgeFailed", commands: map[string]string{"Unreachable": showManagers}},
		{kinds: "Snapshot", condition: v1beta2.SnapshotWithdrawn, well: "SnapshotGone"},
		{kinds: "Backup", condition: v1beta2.BackupApproved, guide: "backups.md", command: Describe,
			well: "Ready", continues: "WaitingForAttach SnapshotNotReady BackingUp Restoring Cloning Upgrading Removing",
			warning:  "TargetUnavailable VolumeNotFound Failed RemovalFailed",
			commands: map[string]string{"WaitingForAttach": showTickets, "TargetUnavailable": showBackupTarget}},
		{kinds: "Backup", condition: v1beta2.BackupProgressing, guide: "backups.md", command: Describe, warning: "NoProgress"},
		{kinds: "BackupTarget", condition: v1beta2.BackupTargetAvailable, guide: "backups.md", command: Describe,
			well: "Reached", warning: "Refused"},
		{kinds: "BackupTarget", condition: v1beta2.BackupTargetListed, guide: "backups.md", command: Describe,
			well: "Listed", warning: "ListedInPart NoEngineBinary CredentialsMissing Refused TimedOut EmptyAnswer"},
		{kinds: "RecurringJob", condition: v1beta2.RecurringJobReady, guide: guide,
			command: "kubectl -n {ns} edit recurringjobs.longhorn.io {name}", well: "Scheduled", warning: "BadCron Unsupported"},
		{kinds: "RecurringJob", condition: v1beta2.RecurringJobRetained, guide: guide,
			command: "kubectl -n {ns} describe recurringjobs.longhorn.io {name}", warning: "RetentionBlocked"},
	}
}

func orphans() []of {
	const guide = "orphans.md"
	failed := of{kinds: "Orphan", condition: v1beta2.OrphanCleanupFailed, guide: guide, command: explainOrphan,
		continues: "LastCopy", warning: "Unreachable Refused StillPresent MappedByEngine",
		commands: map[string]string{"Unreachable": showManagers}}
	asLonghornNamesIt := failed
	asLonghornNamesIt.condition = v1beta2.OrphanError
	return []of{failed, asLonghornNamesIt,
		{kinds: "Orphan", condition: v1beta2.OrphanOrphaned, guide: guide, command: explainOrphan,
			info: "NoOwnerCR OwnedByOtherInstanceManager StoppedButPresent DataOnly ForeignData"},
		{kinds: "Orphan", condition: v1beta2.OrphanInstanceState,
			well: "running suspended error stopped starting stopping pending terminating terminated"},
		{kinds: "Orphan", condition: v1beta2.OrphanWithdrawn, well: "InstanceGone UUIDMismatch Claimed Renamed NotCleanable"},
		{kinds: "Orphan", condition: v1beta2.OrphanDataCleanable, guide: guide, command: showNode,
			info: "NodeUnavailable NodeEvicted DiskInvalid DiskChanged DiskEvicted"},
		{kinds: "Orphan", condition: v1beta2.OrphanDeletionReason, well: "AutoDeletion Eviction"},
		{kinds: "Orphan", condition: v1beta2.OrphanCleanupApproved, guide: guide, command: explainOrphan,
			well:      "Claimed NodeGone InstanceManagerGone NotJudged",
			continues: "Approved GracePeriod RateLimited",
			info:      "NotAbandoned MappedByEngine Acknowledged DryRun NoDataPath",
			warning:   "LastCopy Flood",
			commands:  map[string]string{"Flood": "kubectl -n {ns} get lhe,lhr,lhv"}},
	}
}

func upgrades() []of {
	const guide, both, manager, node = "upgrading.md", "DataEngineUpgradeManager NodeDataEngineUpgrade", "DataEngineUpgradeManager",
		"NodeDataEngineUpgrade"
	progressing := of{condition: v1beta2.UpgradeProgressing, guide: guide, command: showUpgrade, well: "Completed",
		commands: map[string]string{"UpgradeBlocked": resumeUpgrade, "NodeFailed": resumeUpgrade}}
	ofManager, ofNode := progressing, progressing
	ofManager.kinds, ofManager.continues = manager, "CheckingImages TryingRequests UpgradingNode WaitingForUpgrade"
	ofManager.info, ofManager.warning = "Paused AnotherImage Aborted", "WaitingForImage NotUnderstood UpgradeBlocked NodeFailed"
	ofManager.commands = map[string]string{"UpgradeBlocked": resumeUpgrade, "NodeFailed": resumeUpgrade, "WaitingForImage": setManagerImage,
		"Paused": resumeUpgrade}
	ofNode.kinds, ofNode.continues = node, "TakingNode WaitingForLook WaitingForSnapshot WaitingForTemporaryNode WaitingForTarget "+
		"WaitingForHealthyCopy DetachingReplica WaitingForInstanceManager WaitingForDisk WaitingForRebuild WaitingForUpgrade"
	ofNode.info, ofNode.warning = "Paused Aborted", "NotUnderstood UpgradeBlocked NodeFailed"
	return []of{ofManager, ofNode,
		{kinds: both, condition: v1beta2.UpgradePreflight, guide: guide, command: resumeUpgrade,
			well: "Passed", continues: "CheckingImages TryingRequests", warning: "UpgradeBlocked"},
		{kinds: both, condition: v1beta2.UpgradeStalled, guide: guide, command: showUpgrade, well: "InTime", warning: "TimedOut"},
		{kinds: both, condition: v1beta2.UpgradeCompleted, guide: guide, command: resumeUpgrade,
			well: "Completed", continues: "Unfinished", info: "Aborted", warning: "UpgradeBlocked NodeFailed"},
	}
}
