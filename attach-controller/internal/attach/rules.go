package attach

// Rules is a set of the rules that were shown to be needed. Each of them can be left out, for that proof; the controller applies all of
// them.
type Rules uint32

// The rules.
const (
	// CordonRefusesPeople lets a cordoned node refuse tickets of longhorn-api only; without it, every ticket.
	CordonRefusesPeople Rules = 1 << iota
	// ReleaseUnattached takes a volume back from a node that went down before it was attached there (D3).
	ReleaseUnattached
	// ReleaseDown takes a volume back from a node that is down when it is wanted elsewhere (D4).
	ReleaseDown
	// InterruptForSelectable lets only tickets interrupt that could be served then (D4, D5).
	InterruptForSelectable
	// InterruptForData lets restore and expansion interrupt, as workload does (D4, D5).
	InterruptForData
	// InterruptForFrontend lets a ticket interrupt that wants this node with the other frontend (D5).
	InterruptForFrontend
	// RollBackByTable applies D3 to D6 while a migration is rolled back (D2).
	RollBackByTable
	// MigrationFailures ends a migration whose source or target is down or failed (M2, second half of M3, M4).
	MigrationFailures
	// SatisfiedUnchanged lets a ticket be satisfied only by what the same verdict does not change (S1, S2).
	SatisfiedUnchanged
	// LowerFirst writes the lowered answers before Volume.spec.
	LowerFirst
	// EvaluatedVersion binds writes to the resourceVersions that were evaluated.
	EvaluatedVersion

	// AllRules is what the controller applies.
	AllRules = EvaluatedVersion<<1 - 1
)

// names are those of the single rules.
var names = map[Rules]string{
	CordonRefusesPeople: "cordon-refuses-people", ReleaseUnattached: "release-unattached", ReleaseDown: "release-down",
	InterruptForSelectable: "interrupt-for-selectable", InterruptForData: "interrupt-for-data",
	InterruptForFrontend: "interrupt-for-frontend", RollBackByTable: "roll-back-by-table",
	MigrationFailures: "migration-failures", SatisfiedUnchanged: "satisfied-unchanged", LowerFirst: "lower-first",
	EvaluatedVersion: "evaluated-version",
}

// Each returns every single rule, in order.
func Each() []Rules {
	var out []Rules
	for r := Rules(1); r <= AllRules; r <<= 1 {
		out = append(out, r)
	}
	return out
}

// String names a single rule.
func (r Rules) String() string { return names[r] }

// Without is the set without those rules.
func (r Rules) Without(left Rules) Rules { return r &^ left }

func (r Rules) has(rule Rules) bool { return r&rule != 0 }
