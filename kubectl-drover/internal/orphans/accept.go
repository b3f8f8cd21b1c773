package orphans

import (
	"slices"
	"time"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Acceptance selects what a person gives up. With names the others narrow what the names mean.
type Acceptance struct {
	// Names are complete names of instances or of Orphans.
	Names []string
	// Node selects those of one node, OlderThan those whose Orphan was made that long ago, All each one.
	Node      string
	OlderThan time.Duration
	All       bool
	// Data selects those, too, whose deletion destroys data.
	Data bool
}

// GivenUp is what an acceptance would record.
type GivenUp struct {
	Accept []Orphan `json:"accept"`
	// Left are selected, and left alone.
	Left []Left `json:"left"`
}

// Accept selects what is recorded as given up: what policy leaves to people because no object of it exists and nobody recorded why. All
// others are left alone, with the reason.
func Accept(w *world.World, all []Orphan, s Acceptance) (GivenUp, error) {
	out := GivenUp{Accept: []Orphan{}, Left: []Left{}}
	pool := slices.DeleteFunc(slices.Clone(all), func(o Orphan) bool {
		return s.Node != "" && o.Node != s.Node || s.OlderThan > 0 && !o.isOlder(w.Now, s.OlderThan)
	})
	chosen := pool
	if len(s.Names) > 0 {
		chosen = nil
		for _, name := range s.Names {
			o, err := Complete(w, pool, name)
			if err != nil {
				return out, err
			}
			if !slices.ContainsFunc(chosen, func(c Orphan) bool { return c.Object == o.Object }) {
				chosen = append(chosen, *o)
			}
		}
	}
	for i := range chosen {
		if why := chosen[i].notAcceptable(w, s); why != "" {
			out.Left = append(out.Left, Left{chosen[i], why})
		} else {
			out.Accept = append(out.Accept, chosen[i])
		}
	}
	return out, nil
}

// isOlder reports whether the Orphan was made at least that long ago.
func (o *Orphan) isOlder(now time.Time, age time.Duration) bool {
	created, err := time.Parse(time.RFC3339, o.Created)
	return err == nil && now.Sub(created) >= age
}

// notAcceptable states why a selected orphan is not recorded as given up; empty if it is.
func (o *Orphan) notAcceptable(w *world.World, s Acceptance) string {
	isData := o.Type == v1beta2.OrphanTypeReplicaData
	switch {
	case o.Withdrawn.Reason != "":
		return "It was withdrawn."
	case o.DeletedSince != "":
		return "It is deleted already."
	case o.GivenUpBy != "":
		return "It is recorded already, by " + o.GivenUpBy + "."
	case o.recorded:
		return "attach-controller recorded already that it gave this instance up."
	case o.Orphaned.Reason == "":
		return "im-monitor has not found it orphaned: look again once it has."
	case o.Orphaned.Reason == v1beta2.ReasonForeignData:
		return "Its data may be another cluster's: no policy deletes it, only its deletion by name."
	case o.Orphaned.Reason != v1beta2.ReasonNoOwnerCR && o.Orphaned.Reason != v1beta2.ReasonDataOnly:
		return "Policy takes it without a record: its object is elsewhere, or stopped."
	case isData && volumeExists(w, o.Volume):
		return "Its volume exists: policy takes it without a record, unless it is the last copy."
	case len(s.Names) == 0 && o.DestroysData && !s.Data:
		return "Its data would be destroyed: add --include-data, or name it."
	}
	return ""
}

// Names returns the Orphans that are recorded as given up.
func (g GivenUp) Names() []string { return names(g.Accept) }

// Text writes what would be recorded, with what policy does then, and what is left alone.
func (g GivenUp) Text(out *terminal.Printer) {
	var rows [][]terminal.Cell
	for _, o := range g.Accept {
		style := terminal.Plain
		if o.DestroysData {
			style = terminal.Warning
		}
		rows = append(rows, []terminal.Cell{{Text: o.Instance}, {Text: o.Node}, {Text: o.Orphaned.Reason}, {Text: o.Effect, Style: style}})
		for _, warning := range o.cautions() {
			rows = append(rows, []terminal.Cell{{}, {}, {}, {Text: "  " + warning, Style: terminal.Warning}})
		}
	}
	out.Table("", []string{"GIVEN UP", "NODE", "WHY", "WHAT POLICY DOES"}, rows)
	rows = nil
	for _, l := range g.Left {
		rows = append(rows, terminal.Row(l.Instance, l.Node, l.Orphaned.Reason, l.Reason))
	}
	if len(rows) > 0 && len(g.Accept) > 0 {
		out.Line("")
	}
	out.Table("", []string{"LEFT ALONE", "NODE", "WHY", "REASON"}, rows)
}
