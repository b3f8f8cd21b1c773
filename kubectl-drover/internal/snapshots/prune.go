package snapshots

import (
	"time"

	"drover.dev/drover/kubectl-drover/internal/terminal"
)

// Rule is which snapshots may go: restore points beside the Keep newest that are older than OlderThan. A restore point is ready, has a
// time, is not marked removed, and was asked for.
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
	// NotCounted are no restore points: they stay, and none of those that the rule keeps is one of them.
	NotCounted []Snapshot `json:"notCounted"`
	// Kept counts those that the rule keeps.
	Kept int `json:"kept"`

	now time.Time
}

// Prune selects by the rule. What something needs now is refused.
func Prune(t Tree, rule Rule) Plan {
	plan := Plan{Volume: t.Volume, Delete: []Snapshot{}, Refused: []Snapshot{}, NotCounted: []Snapshot{}, now: t.now}
	var counted []Snapshot
	for _, s := range t.Snapshots {
		if s.NotCounted != "" {
			plan.NotCounted = append(plan.NotCounted, s)
		} else {
			counted = append(counted, s)
		}
	}
	old := max(len(counted)-rule.Keep, 0)
	for i, s := range counted {
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

// Text writes what would go, what is refused and why, and what is no restore point.
func (p Plan) Text(out *terminal.Printer) {
	total := int64(0)
	for _, s := range p.Delete {
		total += s.SizeBytes
	}
	lists := 0
	for _, list := range []struct {
		title, last string
		snapshots   []Snapshot
		reason      func(Snapshot) string
	}{
		{"DELETED", "PURPOSE", p.Delete, func(s Snapshot) string { return s.Purpose }},
		{"REFUSED", "REASON", p.Refused, func(s Snapshot) string { return s.Needed }},
		{"NOT COUNTED", "REASON", p.NotCounted, func(s Snapshot) string { return s.NotCounted }},
	} {
		if len(list.snapshots) == 0 {
			continue
		}
		if lists++; lists > 1 {
			out.Line("")
		}
		var rows [][]terminal.Cell
		for _, s := range list.snapshots {
			rows = append(rows, terminal.Row(s.Name, terminal.Size(s.SizeBytes), terminal.Age(p.now, s.Taken), list.reason(s)))
		}
		out.Table("", []string{list.title, "SIZE", "TAKEN", list.last}, rows)
	}
	if lists > 0 {
		out.Line("")
	}
	out.Line("volume %s: %d to delete (%s), %d refused, %d not counted, %d kept", p.Volume, len(p.Delete), terminal.Size(total),
		len(p.Refused),
		len(p.NotCounted), p.Kept)
}
