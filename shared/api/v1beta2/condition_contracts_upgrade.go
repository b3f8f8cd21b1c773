package v1beta2

// upgradeContracts are the same for both kinds, but for what each waits for.
func upgradeContracts() []ConditionContract {
	return append(
		upgradeContractsOf("DataEngineUpgradeManager",
			[]string{ReasonCheckingImages, ReasonTryingRequests, ReasonUpgradingNode},
			[]string{ReasonWaitingForUpgrade, ReasonWaitingForImage, ReasonNotUnderstood, ReasonPaused, ReasonAnotherImage}),
		upgradeContractsOf("NodeDataEngineUpgrade",
			[]string{ReasonTakingNode, ReasonWaitingForLook, ReasonWaitingForSnapshot, ReasonWaitingForTemporaryNode,
				ReasonWaitingForTarget, ReasonWaitingForHealthyCopy, ReasonDetachingReplica, ReasonWaitingForInstanceManager,
				ReasonWaitingForDisk,
				ReasonWaitingForRebuild},
			[]string{ReasonWaitingForUpgrade, ReasonNotUnderstood, ReasonPaused})...)
}

func upgradeContractsOf(kind string, moves, holds []string) []ConditionContract {
	ended := []string{ReasonUpgradeBlocked, ReasonNodeFailed, ReasonAborted}
	return []ConditionContract{
		{Kind: kind, Type: UpgradePreflight, Writer: "upgrade-controller",
			Means: "nothing stands against the upgrade; else the message names every blocker",
			True:  []string{ReasonPassed}, False: []string{ReasonCheckingImages, ReasonTryingRequests, ReasonUpgradeBlocked}},
		{Kind: kind, Type: UpgradeProgressing, Writer: "upgrade-controller",
			Means: "the upgrade continues by itself; the reason states what it waits for",
			True:  moves, False: append(append(holds, ReasonCompleted), ended...)},
		{Kind: kind, Type: UpgradeStalled, Writer: "upgrade-controller", Means: "a step takes longer than its timeout",
			True: []string{ReasonTimedOut}, False: []string{ReasonInTime}},
		{Kind: kind, Type: UpgradeCompleted, Writer: "upgrade-controller", Means: "all is done",
			True: []string{ReasonCompleted}, False: append([]string{ReasonUnfinished}, ended...)},
	}
}
