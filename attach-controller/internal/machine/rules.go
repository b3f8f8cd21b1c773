package machine

// Rules are the rules that are switched off; the zero value obeys all of them. Only the model test, which proves that each
// is needed, switches any off.
type Rules uint

// The rules that can be switched off.
const (
	// RuleCreating: a volume that is being created closes first, wherever it is wanted.
	RuleCreating Rules = 1 << iota
	// RuleAttachError: a replica that errors while the volume is attaching has failed.
	RuleAttachError
	// RuleDownHoldsNothing: an instance on a node that is down does not hold up the next step of closing.
	RuleDownHoldsNothing
	// RuleFailFirst: replicas on nodes that are down have failed before the first reachable one is stopped.
	RuleFailFirst
	// RuleModesOfThisRun: what an earlier run of the engine said of its replicas does not count.
	RuleModesOfThisRun
	// RuleSalvageWaits: a healthy replica on a node that is down is waited for, instead of taking failed ones.
	RuleSalvageWaits
	// RuleModesAtClose: what the engine said of its replicas last is kept before the volume is detached.
	RuleModesAtClose
	// RuleCutOffFirst: a frontend is cut off from a target that is given up before anything is concluded from its absence.
	RuleCutOffFirst
)

func (r Rules) off(rule Rules) bool { return r&rule != 0 }
