package v1beta2

// Condition types of a DataEngineUpgradeManager and a NodeDataEngineUpgrade; writer upgrade-controller.
const (
	// UpgradePreflight is True when nothing stands against the upgrade; else the message names every blocker.
	UpgradePreflight = "Preflight"
	// UpgradeProgressing is True while the upgrade moves; its reason says what it waits for, the state is the step.
	UpgradeProgressing = "Progressing"
	// UpgradeStalled is True while a step takes longer than its timeout; the message says what it waits for.
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
	// VolumeUpgradeReady is a volume that may be touched.
	VolumeUpgradeReady = "ready"
	// VolumeUpgradeMoving is a volume whose target goes to the temporary node.
	VolumeUpgradeMoving = "moving"
	// VolumeUpgradeAway is a volume whose target does not need the node.
	VolumeUpgradeAway = "away"
	// VolumeUpgradeDetached is a volume that nothing on the node serves any more.
	VolumeUpgradeDetached = "detached"
	// VolumeUpgradeReturning is a volume whose target goes home.
	VolumeUpgradeReturning = "returning"
	// VolumeUpgradeHome is a volume whose target is home.
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
	// ReasonPassed surfaces when nothing stands against the upgrade.
	ReasonPassed = "Passed"
	// ReasonCheckingImages surfaces while pods find out whether the nodes have the new image, or what runs is not seen at the
	// moment.
	ReasonCheckingImages = "CheckingImages"
	// ReasonUpgradeBlocked surfaces when something stands against the upgrade; the message names every blocker.
	ReasonUpgradeBlocked = "UpgradeBlocked"
)

// Reasons of UpgradeProgressing beside those of other kinds.
const (
	// ReasonUpgradingNode surfaces while a node is being upgraded.
	ReasonUpgradingNode = "UpgradingNode"
	// ReasonWaitingForUpgrade surfaces while another upgrade that came first is not finished.
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
	// ReasonTakingNode surfaces while the node is being closed for new volumes, or opened again.
	ReasonTakingNode = "TakingNode"
)

// Reasons of UpgradeStalled.
const (
	// ReasonTimedOut surfaces when a step takes longer than its timeout; the message says what it waits for.
	ReasonTimedOut = "TimedOut"
	// ReasonInTime surfaces while every step is in its time.
	ReasonInTime = "InTime"
)

// Reasons of UpgradeCompleted, and of UpgradeProgressing at the end.
const (
	// ReasonCompleted surfaces when all is done.
	ReasonCompleted = "Completed"
	// ReasonAnotherImage surfaces when all is done, and the setting default-instance-manager-image names another image since: that one
	// takes a DataEngineUpgradeManager of another name.
	ReasonAnotherImage = "AnotherImage"
	// ReasonUnfinished surfaces while the upgrade goes on.
	ReasonUnfinished = "Unfinished"
	// ReasonNodeFailed surfaces when a node could not be upgraded.
	ReasonNodeFailed = "NodeFailed"
	// ReasonAborted surfaces when somebody ended the upgrade.
	ReasonAborted = "Aborted"
)
