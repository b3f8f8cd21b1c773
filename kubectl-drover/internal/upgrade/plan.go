package upgrade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// imageSetting names the image that an upgrade takes.
const imageSetting = "default-instance-manager-image"

// unchecked is what the objects do not show.
var unchecked = []string{
	"whether each node can run the image: pods try it on the nodes",
	"whether the volumes' engines still are as they were polled last: each is polled again before anything is changed",
	"whether a snapshot of each volume can be taken, and its target switched over",
}

// Plan is what an upgrade would meet if it began now.
type Plan struct {
	// Image is that of the setting default-instance-manager-image.
	Image string `json:"image"`
	// Nodes are in the order in which they would be upgraded.
	Nodes    []PlanNode `json:"nodes"`
	Blockers []Blocker  `json:"blockers"`
	// Before is what must end before another upgrade begins; empty where nothing does.
	Before string `json:"before,omitempty"`
	// Unchecked are sentences on what only upgrade-controller can check.
	Unchecked []string `json:"unchecked"`

	namespace string
}

// PlanNode is one node of a plan.
type PlanNode struct {
	Node string `json:"node"`
	// Image is that of the instance manager that runs; empty where none does.
	Image string `json:"image,omitempty"`
	// Targets and Replicas count the engines to move and the replicas to rebuild; Volumes those in use that the node carries.
	Targets  int `json:"targets"`
	Replicas int `json:"replicas"`
	Volumes  int `json:"volumes"`
	// Upgraded nodes are left alone.
	Upgraded bool `json:"upgraded"`
	Blockers int  `json:"blockers"`
}

// Wish is what an upgrade would be asked for: the nodes in order, all without any; and the volumes that it must not move.
type Wish struct{ Nodes, Skip []string }

// PlanOf returns the plan as of the objects.
func PlanOf(w *world.World, wish Wish) Plan {
	f := factsOf(w)
	plan := Plan{Image: defaultImage(w), Nodes: []PlanNode{}, Blockers: []Blocker{}, Unchecked: unchecked, namespace: w.Namespace}
	for i := range w.Upgrades.Items {
		if u := &w.Upgrades.Items[i]; !Ended(u) {
			plan.Before = fmt.Sprintf("DataEngineUpgradeManager %s is %s: another upgrade waits until it ends.", u.Name, stateOf(u))
		}
	}
	for _, name := range f.order(wish.Nodes) {
		n := f.nodes[name]
		one := PlanNode{Node: name, Upgraded: n.exists() && n.upgraded(plan.Image)}
		if m := n.running(); m != nil {
			one.Image = m.Spec.Image
		}
		one.Targets, one.Replicas, one.Volumes = f.carried(name)
		if !one.Upgraded {
			found := f.blockers(name, wish.Skip)
			one.Blockers = len(found)
			plan.Blockers = append(plan.Blockers, found...)
		}
		plan.Nodes = append(plan.Nodes, one)
	}
	return plan
}

func defaultImage(w *world.World) string {
	for _, s := range w.Settings.Items {
		if s.Name == imageSetting {
			return s.Value
		}
	}
	return ""
}

// order returns the nodes in the order of an upgrade: as named, or those without volumes first, then those with fewer targets, then by name.
func (f facts) order(named []string) []string {
	if len(named) > 0 {
		return named
	}
	var out []string
	for name, n := range f.nodes {
		if n.exists() && len(n.managers) > 0 {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		targetsA, _, volumesA := f.carried(a)
		targetsB, _, volumesB := f.carried(b)
		return cmp.Or(cmp.Compare(min(volumesA, 1), min(volumesB, 1)), cmp.Compare(targetsA, targetsB), cmp.Compare(a, b))
	})
	return out
}

func (f facts) carried(node string) (targets, replicas, volumes int) {
	for _, v := range f.volumes {
		if !v.on(node) {
			continue
		}
		volumes++
		replicas += len(v.replicasOn(node))
		if e := v.active(); e != nil && e.Spec.NodeID == node {
			targets++
		}
	}
	return targets, replicas, volumes
}

// Blocked reports whether an upgrade would not begin now.
func (p Plan) Blocked() bool { return len(p.Blockers) > 0 || p.Image == "" || p.Before != "" }

// Names returns the nodes.
func (p Plan) Names() []string {
	out := make([]string, 0, len(p.Nodes))
	for _, n := range p.Nodes {
		out = append(out, finding.Ref{Kind: "Node", Name: n.Node}.Resource())
	}
	return out
}

// Text writes the plan for people.
func (p Plan) Text(out *terminal.Printer) {
	out.Line("%s", p.summary(out))
	if len(p.Nodes) > 0 {
		out.Line("")
		out.Table("", []string{"NODE", "TARGETS", "REPLICAS", "VOLUMES", "UPGRADE", "IMAGE"}, p.rows())
	}
	if len(p.Blockers) > 0 {
		out.Line("")
		out.Line("%s", out.In(terminal.Bold, "Stands against it"))
		for _, b := range p.Blockers {
			place := "node " + b.Node
			if b.Volume != "" {
				place += ", volume " + b.Volume
			}
			out.Line("  %s: %s: %s", place, out.In(terminal.Warning, b.Kind), b.Message)
		}
	}
	out.Line("")
	out.Line("%s", out.In(terminal.Bold, "Only upgrade-controller checks, once the upgrade began"))
	for _, line := range p.Unchecked {
		out.Line("  %s", line)
	}
	out.Line("")
	out.Line("%s", out.In(terminal.Bold, "Next"))
	switch {
	case p.Image == "":
		out.Line("  kubectl -n %s edit settings.longhorn.io %s", p.namespace, imageSetting)
	case p.Blocked():
		out.Line("  kubectl drover upgrade plan -n %s", p.namespace)
	default:
		out.Line("  create a DataEngineUpgradeManager, then: kubectl drover upgrade watch -n %s", p.namespace)
	}
	out.Line("      %s", out.In(terminal.Dim, "docs/upgrading.md"))
}

func (p Plan) summary(out *terminal.Printer) string {
	switch {
	case p.Image == "":
		return out.In(terminal.Warning, "The setting "+imageSetting+" names no image: an upgrade would wait for it.")
	case p.Before != "":
		return out.In(terminal.Warning, p.Before)
	case len(p.Blockers) > 0:
		return out.In(terminal.Warning, fmt.Sprintf("Upgrading to %s is blocked: %s.", p.Image, p.counts()))
	}
	return out.In(terminal.Good, fmt.Sprintf("Nothing in the objects blocks upgrading to %s.", p.Image))
}

// counts returns how many blockers there are of each kind.
func (p Plan) counts() string {
	counts := map[string]int{}
	for _, b := range p.Blockers {
		counts[b.Kind]++
	}
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return strings.Join(out, ", ")
}

func (p Plan) rows() [][]terminal.Cell {
	var rows [][]terminal.Cell
	for _, n := range p.Nodes {
		state := terminal.Cell{Text: "can begin", Style: terminal.Good}
		switch {
		case n.Upgraded:
			state = terminal.Cell{Text: "done", Style: terminal.Dim}
		case n.Blockers > 0:
			state = terminal.Cell{Text: fmt.Sprintf("blocked (%d)", n.Blockers), Style: terminal.Warning}
		}
		rows = append(rows, []terminal.Cell{{Text: n.Node}, {Text: fmt.Sprint(n.Targets)}, {Text: fmt.Sprint(n.Replicas)},
			{Text: fmt.Sprint(n.Volumes)}, state, {Text: orElse(n.Image, "no instance manager runs")}})
	}
	return rows
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func stateOf(u *v1beta2.DataEngineUpgradeManager) string {
	return orElse(u.Status.State, v1beta2.UpgradeStateUndefined)
}
