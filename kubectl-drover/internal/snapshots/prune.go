package snapshots

import (
	"slices"
	"time"

	"drover.dev/drover/kubectl-drover/internal/terminal"
)

// Rule is which snapshots may go: those beside the Keep newest that are older than OlderThan.
type Rule struct {
	Keep      int
	OlderThan time.Duration
}

// Plan is what pruning would do.
type Plan struct {
	Volume string `json:"volume"`
	// Delete are the snapshots that go, the oldest first.
	Delete []Snapshot `json:"delete"`
	// Refused are old enough, and needed.
	Refused []Snapshot `json:"refused"`
	// Kept counts those that the rule keeps.
	Kept int `json:"kept"`

	now time.Time
}

// Prune selects by the rule. What something needs now is refused.
func Prune(t Tree, rule Rule) Plan {
	plan := Plan{Volume: t.Volume, Delete: []Snapshot{}, Refused: []Snapshot{}, now: t.now}
	there := slices.DeleteFunc(slices.Clone(t.Snapshots), func(s Snapshot) bool { return s.Deleting })
	old := max(len(there)-rule.Keep, 0)
	for i, s := range there {
		switch {
		case i >= old || t.now.Sub(taken(s)) < rule.OlderThan:
			plan.Kept++
		case s.Needed != "":
			plan.Refused = append(plan.Refused, s)
		default:
			plan.Delete = append(plan.Delete, s)
		}
	}
	return plan
}

// Names returns the snapshots that go.
func (p Plan) Names() []string { return names(p.Delete) }

// Text writes what would go, what is refused and why.
func (p Plan) Text(out *terminal.Printer) {
	total := int64(0)
	var rows [][]terminal.Cell
	for _, s := range p.Delete {
		total += s.SizeBytes
		rows = append(rows, terminal.Row(s.Name, terminal.Size(s.SizeBytes), terminal.Age(p.now, s.Taken), s.Purpose))
	}
	out.Table("", []string{"DELETED", "SIZE", "TAKEN", "PURPOSE"}, rows)
	rows = nil
	for _, s := range p.Refused {
		rows = append(rows, terminal.Row(s.Name, terminal.Size(s.SizeBytes), terminal.Age(p.now, s.Taken), s.Needed))
	}
	if len(rows) > 0 && len(p.Delete) > 0 {
		out.Line("")
	}
	out.Table("", []string{"REFUSED", "SIZE", "TAKEN", "REASON"}, rows)
	if len(p.Delete)+len(p.Refused) > 0 {
		out.Line("")
	}
	out.Line("volume %s: %d to delete (%s), %d refused, %d kept", p.Volume, len(p.Delete), terminal.Size(total), len(p.Refused), p.Kept)
}
