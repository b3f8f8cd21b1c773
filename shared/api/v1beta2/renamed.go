package v1beta2

// renamedReasons has, by condition type, the reasons that the next minor version writes, and what this version writes instead. Binaries are
// rolled out one by one: readers know both words one minor version before any writer uses the new one.
var renamedReasons = map[string]map[string]string{
	UpgradeProgressing: {
		"CordoningNode":  ReasonTakingNode,
		"Unsupported":    ReasonNotUnderstood,
		"WaitingForPoll": ReasonWaitingForLook,
	},
	ReplicaDataRemovalApproved: {"WaitingForPoll": ReasonWaitingForLook},
	SnapshotReady:              {"Missing": ReasonLost},
	OrphanCleanupApproved:      {"NotEvaluated": ReasonNotJudged},
}

// PresentReason returns the word of this version for a reason of a condition type that the next minor version calls otherwise; any other
// reason is returned as it is.
func PresentReason(conditionType, reason string) string {
	if present, ok := renamedReasons[conditionType][reason]; ok {
		return present
	}
	return reason
}
