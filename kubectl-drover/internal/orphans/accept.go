package orphans

import (
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Acceptance selects the orphans that a person gives up. If names are given, the other fields narrow the orphans among which the names are
// looked for.
type Acceptance struct {
	// Names are complete names of instances or of Orphans.
	Names []string
	// Node selects the orphans of one node, OlderThan the orphans whose object was created at least that long ago, All every orphan.
	Node      string
	OlderThan time.Duration
	All       bool
	// Data also selects orphans whose deletion destroys data.
	Data bool
}

// GivenUp is the preview of an acceptance.
type GivenUp struct {
	Accept []Orphan `json:"accept"`
	// Left has the orphans that are selected and left alone.
	Left []Left `json:"left"`
	// Warning is a sentence about all of them; empty if there is no reason for one.
	Warning string `json:"warning,omitempty"`
}

// Accept selects the orphans to record as given up: policy leaves them to people, because they have no object and nobody recorded why. It
// leaves every other orphan alone, with the reason. It is an error if a name fits no orphan, or several.
func Accept(w *world.World, all []Orphan, s Acceptance) (GivenUp, error) {
	pool := slices.DeleteFunc(slices.Clone(all), func(o Orphan) bool {
		return s.Node != "" && o.Node != s.Node || s.OlderThan > 0 && !o.isOlder(w.Now, s.OlderThan)
	})
	accepted, left, err := chooseNamed(w, pool, s.Names, func(o *Orphan) string { return o.notAcceptable(w, s) })
	return GivenUp{Accept: accepted, Left: left, Warning: warnOfRestore(accepted)}, err
}

// warnOfRestore states what instances without an object that run may be; empty if none runs.
func warnOfRestore(accepted []Orphan) string {
	running := 0
	for i := range accepted {
		if o := &accepted[i]; o.Orphaned.Reason == v1beta2.ReasonNoOwnerCR && o.State == v1beta2.InstanceStateRunning {
			running++
		}
	}
	if running == 0 {
		return ""
	}
	return fmt.Sprintf("%d of these run without an object. If etcd was restored to an earlier state, their objects are missing, and they "+
		"serve volumes: do not give them up then, but restore the objects (docs/orphans.md).", running)
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

// Text writes the orphans that would be recorded, with the effect of policy on them, and the orphans that are left alone.
func (g GivenUp) Text(out *terminal.Printer) {
	writeChoice(out, []string{"GIVEN UP", "NODE", "WHY", "WHAT POLICY DOES"}, g.Accept, g.Left)
	if g.Warning != "" {
		out.Line("")
		out.Line("%s", g.Warning)
	}
}
