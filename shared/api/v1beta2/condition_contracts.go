package v1beta2

// ConditionContract is one line of the table of conditions that are contracts: one binary writes the condition, others
// act on it. A reason that is not in the lists comes from a newer peer controller and means wait.
type ConditionContract struct {
	// Kind is the kind whose status holds the condition.
	Kind string
	// Part is the part of the status that holds it; empty means status.conditions.
	Part string
	// Type is the condition's type.
	Type string
	// Writer is the binary that alone writes it.
	Writer string
	// Means returns what it means that the status is True.
	Means string
	// True and False are the closed lists of reasons.
	True, False []string
}

// ConditionContracts is the whole table, kind by kind. The pages of documentation are made from it.
func ConditionContracts() []ConditionContract {
	var table []ConditionContract
	for _, part := range [][]ConditionContract{
		orphanContracts(), snapshotContracts(), backupContracts(), replicaContracts(), nodeDownContracts(), creationContracts(),
		attachmentContracts(), volumeContracts(), nodeContracts(), instanceManagerContracts(), engineImageContracts(),
		upgradeContracts(), settingContracts(),
	} {
		table = append(table, part...)
	}
	return table
}

// OrphanNonDecisions are the reasons for which the orphan rules decide nothing: no condition, but an event and a
// metric carry them.
func OrphanNonDecisions() []string {
	return []string{
		ReasonNotLive, ReasonCRDeleting, ReasonStateChanging, ReasonTransientState, ReasonOwnerElsewhere, ReasonNoUUID,
		ReasonInventoryUnknown, ReasonNodeDown, ReasonFrontendNotJudged, ReasonSecondLookDisagrees,
	}
}

func orphanContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "Orphan", Type: OrphanOrphaned, Writer: "im-monitor",
			Means: "evaluated so; the reason is the rule, the message names the source of the UUID",
			True: []string{ReasonNoOwnerCR, ReasonOwnedByOtherInstanceManager, ReasonStoppedButPresent, ReasonDataOnly,
				ReasonForeignData}},
		{Kind: "Orphan", Type: OrphanInstanceState, Writer: "im-monitor",
			Means: "the instance is there; the reason is its runtime state",
			True: []string{InstanceStateRunning, InstanceStateSuspended, InstanceStateError, InstanceStateStopped,
				InstanceStateStarting, InstanceStateStopping, InstanceStatePending, InstanceStateTerminating},
			False: []string{InstanceStateTerminated}},
		{Kind: "Orphan", Type: OrphanWithdrawn, Writer: "im-monitor", Means: "nothing is left to execute; final",
			True: []string{ReasonInstanceGone, ReasonUUIDMismatch, ReasonClaimed, ReasonRenamed, ReasonNotCleanable}},
		{Kind: "Orphan", Type: OrphanDataCleanable, Writer: "im-monitor",
			Means: "the data of the orphan can be destroyed; True has no reason",
			False: []string{ReasonNodeUnavailable, ReasonNodeEvicted, ReasonDiskInvalid, ReasonDiskChanged, ReasonDiskEvicted}},
		{Kind: "Orphan", Type: OrphanDeletionReason, Writer: "orphan-controller",
			Means: "deleted by policy; written before the deletion, never changed",
			True:  []string{ReasonAutoDeletion, ReasonEviction}},
		{Kind: "Orphan", Type: OrphanCleanupApproved, Writer: "orphan-controller", Means: "execute what the spec names",
			True: []string{ReasonApproved},
			False: []string{ReasonGracePeriod, ReasonLastCopy, ReasonFlood, ReasonNotAbandoned, ReasonMappedByEngine, ReasonRateLimited,
				ReasonAcknowledged,
				ReasonDryRun, ReasonClaimed, ReasonNodeGone, ReasonInstanceManagerGone, ReasonNotJudged, ReasonNoDataPath}},
		{Kind: "Orphan", Type: OrphanCleanupFailed, Writer: "im-monitor", Means: "the last attempt failed",
			True: []string{ReasonUnreachable, ReasonRefused, ReasonStillPresent, ReasonMappedByEngine, ReasonLastCopy}},
		{Kind: "Orphan", Type: OrphanError, Writer: "im-monitor",
			Means: "CleanupFailed of an orphan of replica data, as Longhorn names it; once it is there, False while nothing fails",
			True:  []string{ReasonUnreachable, ReasonRefused, ReasonStillPresent, ReasonMappedByEngine, ReasonLastCopy}},
	}
}

func snapshotContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "Snapshot", Type: SnapshotReady, Writer: "snapshot-controller", Means: "mirrors status.readyToUse",
			True: []string{ReasonReady},
			False: []string{ReasonWaitingForAttach, ReasonCreating, ReasonFailed, ReasonLimitReached, ReasonVolumeNotFound,
				ReasonVolumeDetached, ReasonMarkedRemoved, ReasonLost, ReasonRestoring, ReasonCloning}},
		{Kind: "Snapshot", Type: SnapshotProvisioned, Writer: "im-monitor", Means: "taken",
			True: []string{ReasonTaken, ReasonAdopted}, False: []string{ReasonFailed, ReasonCancelled, ReasonLimitReached}},
		{Kind: "Snapshot", Type: SnapshotRemovalApproved, Writer: "snapshot-controller", Means: "remove and purge",
			True: []string{ReasonRequested},
			False: []string{ReasonParentOfVolumeHead, ReasonHasMultipleChildren, ReasonPurgeDisabled, ReasonPurgeLimited,
				ReasonWaitingForAttach, ReasonUpgrading, ReasonMigrating, ReasonRebuilding, ReasonLinkedClone, ReasonBackingUp,
				ReasonRemovalFailed}},
		{Kind: "Snapshot", Type: SnapshotRemovalFailed, Writer: "im-monitor", Means: "the engine could not remove it, at lastProbeTime",
			True: []string{ReasonRefused, ReasonUnreachable, ReasonPurgeFailed}},
		{Kind: "Snapshot", Type: SnapshotWithdrawn, Writer: "im-monitor", Means: "its snapshot is gone; final",
			True: []string{ReasonSnapshotGone}},
	}
}

func backupContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "Backup", Type: BackupApproved, Writer: "snapshot-controller", Means: "take it",
			True: []string{ReasonReady},
			False: []string{ReasonWaitingForAttach, ReasonSnapshotNotReady, ReasonTargetUnavailable, ReasonVolumeNotFound,
				ReasonFailed, ReasonBackingUp, ReasonRestoring, ReasonCloning, ReasonUpgrading, ReasonRemoving, ReasonRemovalFailed}},
		{Kind: "Backup", Type: BackupProgressing, Writer: "snapshot-controller",
			Means: "never True: absent while the engine reports progress", False: []string{ReasonNoProgress}},
		{Kind: "BackupTarget", Type: BackupTargetAvailable, Writer: "im-monitor", Means: "an engine could copy there",
			True: []string{ReasonReached}, False: []string{ReasonRefused}},
		{Kind: "BackupTarget", Type: BackupTargetListed, Writer: "snapshot-controller",
			Means: "what it has is shown as BackupVolumes and Backups",
			True:  []string{ReasonListed}, False: []string{ReasonListedInPart, ReasonNoEngineBinary, ReasonCredentialsMissing, ReasonRefused,
				ReasonTimedOut, ReasonEmptyAnswer}},
		{Kind: "RecurringJob", Type: RecurringJobReady, Writer: "snapshot-controller",
			Means: "scheduled; the message names the last and the next run",
			True:  []string{ReasonScheduled}, False: []string{ReasonBadCron, ReasonUnsupported}},
		{Kind: "RecurringJob", Type: RecurringJobRetained, Writer: "snapshot-controller",
			Means: "never True: absent if the last run passed no volume over", False: []string{ReasonRetentionBlocked}},
	}
}

func replicaContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "Replica", Type: ReplicaDataRemovalApproved, Writer: "attach-controller", Means: "its data may be destroyed",
			True:  []string{ReasonVolumeDeleting, ReasonHealthyCopyElsewhere},
			False: []string{ReasonNoHealthyCopy, ReasonWaitingForLook, ReasonOtherReplicaFirst}},
		{Kind: "Replica", Type: ReplicaInstanceGone, Writer: "im-monitor",
			Means: "no instance of the deleted v1 replica runs; for the generation that it names",
			True:  []string{ReasonInstanceGone}, False: []string{ReasonUnreachable, ReasonStillPresent}},
		{Kind: "Replica", Type: ReplicaDataRemoved, Writer: "im-monitor (v2), disk-controller (v1)", Means: "nothing of it is left there",
			True: []string{ReasonRemoved, ReasonNothingToRemove, ReasonNodeGone, ReasonDiskGone},
			False: []string{ReasonUnreachable, ReasonMappedByEngine, ReasonUUIDMismatch, ReasonDiskNotLoaded, ReasonDiskNotReady,
				ReasonRemoving, ReasonDirectoryClaimed, ReasonDirectoryFailed}},
		{Kind: "Replica", Type: WaitForBackingImage, Writer: "im-monitor", Means: "it cannot start without the copy of its backing image",
			True: []string{ReasonWaiting, ReasonGetBackingImageFailed}, False: []string{ReasonBackingImageReady}},
	}
}

// creationContracts: a condition that was never False is absent.
func creationContracts() []ConditionContract {
	var table []ConditionContract
	for _, kind := range []string{"Engine", "EngineFrontend", "Replica"} {
		table = append(table, ConditionContract{Kind: kind, Type: InstanceCreation, Writer: "im-monitor",
			Means: "its instance runs after a creation that failed", True: []string{ReasonInstanceCreated},
			False: []string{ReasonInstanceCreationFailure, ReasonStartRefused, ReasonSpecIncomplete, ReasonVolumeMissing, ReasonDataMissing,
				ReasonEngineImageUnknown,
				ReasonEngineImageNotDeployed, ReasonInstanceManagerCannotStart, ReasonInstanceWithoutObject}})
	}
	return append(table, ConditionContract{Kind: "Engine", Type: EngineOperations, Writer: "im-monitor",
		Means: "what failed has succeeded, or is not asked for any more",
		True:  []string{ReasonNoOperationFails}, False: []string{ReasonOperationFailed}})
}

func nodeDownContracts() []ConditionContract {
	var table []ConditionContract
	for _, kind := range []string{"Engine", "EngineFrontend", "Replica"} {
		table = append(table, ConditionContract{Kind: kind, Type: InstanceNodeDown, Writer: "im-monitor",
			Means: "its node is down; the state is concluded, not seen", True: []string{ReasonNodeDown, ReasonOutOfService}})
	}
	return append(table, ConditionContract{Kind: "EngineFrontend", Type: FrontendDeviceLost, Writer: "im-monitor",
		Means: "a live upgrade lost it, and it was created again; until the volume is detached", True: []string{ReasonCreatedAnew}},
		ConditionContract{Kind: "EngineFrontend", Type: FrontendSwitchover, Writer: "im-monitor",
			Means: "a switch-over that waited does not wait any more",
			True:  []string{ReasonGoesOn}, False: []string{ReasonSwitchoverUnsupported, ReasonNodeBusy, ReasonEngineRebuilding,
				ReasonTargetUnknown}})
}

func settingContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "Setting", Type: SettingApplied, Writer: "the controller that reads the setting", Means: "mirrors status.applied",
			True: []string{ReasonInForce}, False: []string{ReasonInvalidValue, ReasonNotObeyed}},
	}
}

func engineImageContracts() []ConditionContract {
	return []ConditionContract{
		{Kind: "EngineImage", Type: EngineImageReady, Writer: "im-monitor",
			Means: "its binary is on every ready node, and its versions are known",
			True:  []string{ReasonDeployed},
			False: []string{ReasonImageMissing, ReasonDaemonSetMissing, ReasonPodsNotReady, ReasonBinaryUnread,
				ReasonBinaryIncompatible}},
		{Kind: "EngineImage", Type: EngineImageRemoved, Writer: "im-monitor",
			Means: "never True: while it is deleted, and needed", False: []string{ReasonIsDefaultImage, ReasonReferenced}},
	}
}
