package v1beta2

func attachmentContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "VolumeAttachment", Type: VolumeAttachmentReady, Writer: "attach-controller",
			Means: "the volume is where it is wanted; the message names holder, blocker and next step",
			True:  []string{ReasonAttached, ReasonDetached},
			False: []string{ReasonAttaching, ReasonDetaching, ReasonBlocked, ReasonNoCandidate, ReasonFaulted}},
		{Kind: "VolumeAttachment", Part: "status.attachmentTicketStatuses", Type: TicketSatisfied, Writer: "attach-controller",
			Means: "attached as the ticket asks", True: []string{ReasonSatisfied},
			False: []string{ReasonAttaching, ReasonAttachedWithIncompatibleParameters, ReasonAttachedElsewhere,
				ReasonWaitingForDetach, ReasonLowerPriority, ReasonWaitingForData, ReasonNoNode, ReasonNodeUnknown, ReasonNodeNotReady,
				ReasonNodeCordoned, ReasonNodeUpgrading, ReasonDataLocality, ReasonTooManyTickets, ReasonVolumeFaulted,
				ReasonWaitingForShare, ReasonMigrating, ReasonMigrationFailed, ReasonTargetElsewhere,
				ReasonDataNodeDown}},
		{Kind: "VolumeAttachment", Part: "status.attachmentTicketStatuses", Type: TicketValid, Writer: "attach-controller",
			Means: "everything in the ticket can be read; absent while that is so",
			False: []string{ReasonExpiresAtUnreadable, ReasonTypeUnknown}},
	}
}

func volumeContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "Volume", Type: VolumeAttached, Writer: "attach-controller",
			Means: "usable on status.currentNodeID; the reason states what is waited for",
			True:  []string{ReasonAttached, ReasonDeletedInUse},
			False: []string{ReasonDetached, ReasonDetaching, ReasonWaitingForReplicas, ReasonWaitingForEngine, ReasonWaitingForFrontend,
				ReasonWaitingForSnapshots, ReasonInstanceUnknown, ReasonReplicaNotStarting, ReasonNoUsableReplica, ReasonNodeDown,
				ReasonNodeUpgrading, ReasonFaulted,
				ReasonRestoring, ReasonCloning, ReasonCopyUnknown, ReasonMigrating, ReasonVolumeDeleting}},
		{Kind: "Volume", Type: VolumeFaulted, Writer: "attach-controller",
			Means: "the volume cannot continue: its engine failed, or no replica is usable",
			True:  []string{ReasonFaulted}, False: []string{ReasonUsable}},
		{Kind: "Volume", Type: VolumeReverted, Writer: "attach-controller",
			Means: "it has the content of the snapshot that spec.revertToSnapshot names again",
			True:  []string{ReasonReverted},
			False: []string{ReasonWaitingForMaintenance, ReasonReverting, ReasonMigrating, ReasonRebuilding, ReasonUnsupported,
				ReasonFailed}},
		{Kind: "Volume", Type: VolumeExpanded, Writer: "attach-controller",
			Means: "it has its size after an expansion that had failed",
			True:  []string{ReasonExpanded}, False: []string{ReasonExpansionFailed}},
		{Kind: "Volume", Type: VolumeRemounted, Writer: "attach-controller",
			Means: "no pod keeps a mount that lost its device; absent while that is so",
			False: []string{ReasonBackendNotReady}},
		{Kind: "Volume", Type: VolumeScheduled, Writer: "attach-controller",
			Means: "every replica that the volume wants has a place, and its rebuild does not wait; the message states what stands against it",
			True:  []string{ReasonPlaced},
			False: []string{ReasonWaitingForNode, ReasonNoUsableNode, ReasonNoUsableDisk, ReasonTagsNotFound,
				ReasonSizeMissing, ReasonInsufficientSpace, ReasonAntiAffinity, ReasonRebuildLimit, ReasonRebuildHeld, ReasonRebuildFails}},
	}
}

func nodeContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "Node", Type: NodeReady, Writer: "im-monitor",
			Means: "in service; only KubernetesNodeGone and KubernetesNodeNotReady mean that the node is down",
			True:  []string{ReasonNodeReady},
			False: []string{ReasonKubernetesNodeGone, ReasonKubernetesNodeNotReady, ReasonManagerPodMissing,
				ReasonManagerPodDown, ReasonInstanceManagerUnreachable}},
		{Kind: "Node", Type: NodeSchedulable, Writer: "im-monitor", Means: "new replicas may be placed there",
			True: []string{ReasonSchedulable}, False: []string{ReasonKubernetesNodeCordoned}},
		{Kind: "Node", Type: NodeRemoved, Writer: "im-monitor", Means: "a Node that is being deleted is gone",
			False: []string{ReasonKubernetesNodeInService, ReasonInstanceManagersRemain}},
		{Kind: "Node", Type: NodeDefaultsApplied, Writer: "disk-controller",
			Means: "the node has its default disks and tags; absent if nothing prevents that",
			False: []string{ReasonInvalidDefaults, ReasonNoDirectory}},
		{Kind: "Node", Type: NodeMountPropagation, Writer: "disk-controller", Means: "mounts that are made later are seen in pods",
			True: []string{ReasonMountsPropagate}, False: []string{ReasonNoMountPropagationSupport, ReasonNotVisible}},
		{Kind: "Node", Type: NodeKernelModulesLoaded, Writer: "disk-controller", Means: "the kernel has what the data engines need",
			True: []string{ReasonModulesLoaded}, False: []string{ReasonKernelModulesNotLoaded, ReasonNotVisible}},
		{Kind: "Node", Type: NodeRequiredPackages, Writer: "disk-controller", Means: "the node has the programs that volumes need",
			True: []string{ReasonPackagesInstalled}, False: []string{ReasonPackagesNotInstalled, ReasonNotVisible}},
		{Kind: "Node", Part: "status.diskStatus", Type: DiskReady, Writer: "im-monitor (v2 disks), disk-controller (v1 disks)",
			Means: "the disk is loaded and holds the lvstore, or its directory has the file, whose UUID is recorded",
			True:  []string{ReasonDiskReady},
			False: []string{ReasonNoDiskInfo, ReasonNotInitialized, ReasonInitializationUncertain, ReasonDiskFilesystemChanged,
				ReasonNodeNotReady}},
		{Kind: "Node", Part: "status.diskStatus", Type: DiskSchedulable, Writer: "im-monitor (v2 disks), disk-controller (v1 disks)",
			Means: "new replicas may be placed on the disk", True: []string{ReasonSchedulable},
			False: []string{ReasonDiskNotReady, ReasonContentNotListed, ReasonDiskPressure, ReasonNodeNotReady}},
	}
}

func instanceManagerContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "InstanceManager", Type: InstanceManagerNodeReady, Writer: "im-monitor", Means: "its Kubernetes node is up",
			True: []string{ReasonNodeReady}, False: []string{ReasonKubernetesNodeGone, ReasonKubernetesNodeNotReady}},
		{Kind: "InstanceManager", Type: InstanceManagerPodReady, Writer: "im-monitor", Means: "its pod is ready",
			True: []string{ReasonPodReady},
			False: []string{ReasonPodMissing, ReasonPodStarting, ReasonPodCannotStart, ReasonPodFailed, ReasonPodDeleting,
				ReasonPodBlocked, ReasonPodRefused, ReasonKubernetesNodeCordoned}},
		{Kind: "InstanceManager", Type: InstanceManagerSettingSynced, Writer: "im-monitor",
			Means: "its pod carries the settings now in force",
			True:  []string{ReasonSettingsInForce}, False: []string{ReasonSettingsChanged, ReasonReplacing, ReasonVolumeUnsettled,
				ReasonSettingsLeftOut, ReasonLogsNotSet}},
		{Kind: "InstanceManager", Type: InstanceManagerReachable, Writer: "im-monitor",
			Means: "whole lists can be read; absent while no pod runs",
			True:  []string{ReasonAnswering}, False: []string{ReasonNotAnswering}},
		{Kind: "InstanceManager", Type: InstanceManagerFrontendRecords, Writer: "im-monitor",
			Means: "its engine frontends outlive its pod; absent for v1 and while there is no pod",
			True:  []string{ReasonOnHost}, False: []string{ReasonNotOnHost}},
	}
}
