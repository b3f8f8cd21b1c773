package v1beta2

// Condition types of a DataEngineUpgradeManager and a NodeDataEngineUpgrade; writer upgrade-controller.
const (
	// UpgradePreflight is True when nothing blocks the upgrade; else the message names every blocker.
	UpgradePreflight = "Preflight"
	// UpgradeProgressing is True while the upgrade moves; its reason states what it waits for, the state is the step.
	UpgradeProgressing = "Progressing"
	// UpgradeStalled is True while a step takes longer than its timeout; the message states what it waits for.
	UpgradeStalled = "Stalled"
	// UpgradeCompleted is True once all is done, False once it ended otherwise.
	UpgradeCompleted = "Completed"
)

// States of an upgrade: of the whole (DataEngineUpgradeManager), of a node (NodeDataEngineUpgrade), or of both.
const (
	UpgradeStateUndefined                = "undefined"
	UpgradeStateInitializing             = "initializing"
	UpgradeStateUpgrading                = "upgrading"
	UpgradeStateAborting                 = "aborting"
	UpgradeStatePaused                   = "paused"
	UpgradeStateSwitchingOver            = "switching-over"
	UpgradeStateDetachingReplicas        = "detaching-replicas"
	UpgradeStateUpgradingInstanceManager = "upgrading-instance-manager"
	UpgradeStateSwitchingBack            = "switching-back"
	UpgradeStateRebuildingReplica        = "rebuilding-replica"
	UpgradeStateRollingBack              = "rolling-back"
	UpgradeStateCompleted                = "completed"
	UpgradeStateError                    = "error"
)

// States of a volume in NodeDataEngineUpgrade.status.volumes.
const (
	// VolumeUpgradeWaiting is a volume whose snapshot is not ready.
	VolumeUpgradeWaiting = "waiting"
	// VolumeUpgradeReady is a volume that may be changed.
	VolumeUpgradeReady = "ready"
	// VolumeUpgradeMoving is a volume whose target is being relocated to the temporary node.
	VolumeUpgradeMoving = "moving"
	// VolumeUpgradeAway is a volume whose target does not need the node: it was relocated, or the volume is attached elsewhere.
	VolumeUpgradeAway = "away"
	// VolumeUpgradeDetached is a volume that nothing on the node serves any more.
	VolumeUpgradeDetached = "detached"
	// VolumeUpgradeReturning is a volume whose target is being switched back.
	VolumeUpgradeReturning = "returning"
	// VolumeUpgradeHome is a volume whose target was switched back, or that this upgrade did not relocate.
	VolumeUpgradeHome = "home"
	// VolumeUpgradeRebuilding is a volume that is not healthy yet.
	VolumeUpgradeRebuilding = "rebuilding"
	// VolumeUpgradeDone is a volume that is healthy again.
	VolumeUpgradeDone = "done"
	// VolumeUpgradeReleased is a volume that its user detached or deleted: the upgrade has nothing to do with it any more.
	VolumeUpgradeReleased = "released"
)

// Reasons of UpgradePreflight.
const (
	// ReasonPassed surfaces when nothing blocks the upgrade.
	ReasonPassed = "Passed"
	// ReasonCheckingImages surfaces while pods check whether the nodes have the new image, or the instances of a volume are not
	// known.
	ReasonCheckingImages = "CheckingImages"
	// ReasonTryingRequests surfaces while a binary has not reported whether the API server accepts what the upgrade will have to
	// write and delete; each binary tries that by dry-run requests.
	ReasonTryingRequests = "TryingRequests"
	// ReasonUpgradeBlocked surfaces when something blocks the upgrade; the message names every blocker.
	ReasonUpgradeBlocked = "UpgradeBlocked"
)

// Reasons of UpgradeProgressing beside those of other kinds.
const (
	// ReasonUpgradingNode surfaces while a node is being upgraded.
	ReasonUpgradingNode = "UpgradingNode"
	// ReasonWaitingForUpgrade surfaces while an earlier upgrade is not finished.
	ReasonWaitingForUpgrade = "WaitingForUpgrade"
	// ReasonWaitingForImage surfaces while the setting default-instance-manager-image names no image.
	ReasonWaitingForImage = "WaitingForImage"
	// ReasonNotUnderstood surfaces when a field has a value that this version does not know.
	ReasonNotUnderstood = "NotUnderstood"
	// ReasonPaused surfaces while spec.paused holds the upgrade.
	ReasonPaused = "Paused"
	// ReasonWaitingForSnapshot surfaces while the snapshot of a volume is not ready.
	ReasonWaitingForSnapshot = "WaitingForSnapshot"
	// ReasonWaitingForTemporaryNode surfaces while no node can hold a volume's target meanwhile.
	ReasonWaitingForTemporaryNode = "WaitingForTemporaryNode"
	// ReasonWaitingForTarget surfaces while the target of a volume moves.
	ReasonWaitingForTarget = "WaitingForTarget"
	// ReasonWaitingForHealthyCopy surfaces while a volume has no healthy replica elsewhere, so that the one on the node stays.
	ReasonWaitingForHealthyCopy = "WaitingForHealthyCopy"
	// ReasonDetachingReplica surfaces while a replica leaves its engine.
	ReasonDetachingReplica = "DetachingReplica"
	// ReasonWaitingForInstanceManager surfaces while the instance manager of the new image does not run yet.
	ReasonWaitingForInstanceManager = "WaitingForInstanceManager"
	// ReasonWaitingForDisk surfaces while the new instance manager runs and a v2 disk of the node is not loaded yet.
	ReasonWaitingForDisk = "WaitingForDisk"
	// ReasonWaitingForRebuild surfaces while a replica on the node is being rebuilt.
	ReasonWaitingForRebuild = "WaitingForRebuild"
	// ReasonTakingNode surfaces while the node is being cordoned for new volumes, or uncordoned.
	ReasonTakingNode = "TakingNode"
)

// Reasons of UpgradeStalled.
const (
	// ReasonTimedOut surfaces when a step takes longer than its timeout; the message states what it waits for.
	ReasonTimedOut = "TimedOut"
	// ReasonInTime surfaces while every step is within its timeout.
	ReasonInTime = "InTime"
)

// Reasons of UpgradeCompleted, and of UpgradeProgressing at the end.
const (
	// ReasonCompleted surfaces when all is done.
	ReasonCompleted = "Completed"
	// ReasonAnotherImage surfaces when all is done, and the setting default-instance-manager-image names another image since: that one
	// takes a DataEngineUpgradeManager of another name.
	ReasonAnotherImage = "AnotherImage"
	// ReasonUnfinished surfaces while the upgrade continues.
	ReasonUnfinished = "Unfinished"
	// ReasonNodeFailed surfaces when a node could not be upgraded.
	ReasonNodeFailed = "NodeFailed"
	// ReasonAborted surfaces when a person ended the upgrade.
	ReasonAborted = "Aborted"
)
