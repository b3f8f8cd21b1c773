package machine

// Rules are the rules that are switched off; the zero value applies all of them. Only the ablation test, which proves that each rule is
// needed, switches any off.
type Rules uint

// The rules that can be switched off.
const (
	// RuleCreating: a volume in state creating closes first, on whichever node it is wanted.
	RuleCreating Rules = 1 << iota
	// RuleAttachError: a replica that errors while the volume is attaching has failed.
	RuleAttachError
	// RuleDownHoldsNothing: an instance on a down node does not delay the next step of closing.
	RuleDownHoldsNothing
	// RuleFailFirst: replicas on down nodes are marked as failed before the first reachable replica is stopped.
	RuleFailFirst
	// RuleModesOfThisRun: replica modes that an earlier run of the engine reported do not count.
	RuleModesOfThisRun
	// RuleSalvageWaits: the volume waits for a healthy replica on a down node instead of using failed ones.
	RuleSalvageWaits
	// RuleModesAtClose: the replica modes that the engine reported last are recorded before the volume is detached.
	RuleModesAtClose
	// RuleCutOffFirst: at a fail-over the frontend is fenced from its target before anything is concluded from the target's absence.
	RuleCutOffFirst
)

func (r Rules) off(rule Rules) bool { return r&rule != 0 }
