package v1beta2

// Condition types of a DataEngineUpgradeManager and a NodeDataEngineUpgrade; writer upgrade-controller.
const (
	// UpgradePreflight is True when nothing stands against the upgrade; else the message names every blocker.
	UpgradePreflight = "Preflight"
	// UpgradeProgressing is True while the upgrade moves; its reason is the step.
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
