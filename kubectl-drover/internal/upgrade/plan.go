// Package upgrade derives what an upgrade of the v2 data engine would meet, and how far one is, from objects that were read. It changes
// nothing, and imports no client. What upgrade-controller alone can check is named as such.
package upgrade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/shared/upgrade/preflight"
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
	// Unknown names what is not known at the moment, such as "volume vol-1": upgrade-controller waits until im-monitor reports it.
	Unknown []string `json:"unknown,omitempty"`
	// Unchecked are sentences on what only upgrade-controller can check.
	Unchecked []string `json:"unchecked"`

	world *world.World
	wish  Wish
	// next is a command about what must end before.
	next string
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
	c := clusterOf(w)
	plan := Plan{Image: defaultImage(w), Nodes: []PlanNode{}, Blockers: []Blocker{}, Unknown: c.Unseen(), Unchecked: unchecked, world: w,
		wish: wish}
	for i := range w.Upgrades.Items {
		if u := &w.Upgrades.Items[i]; !Ended(u) {
			plan.Before = fmt.Sprintf("DataEngineUpgradeManager %s is %s: another upgrade waits until it ends.", u.Name, stateOf(u))
			plan.next = watch(w, u.Name)
		}
	}
	for _, name := range c.Order(wish.Nodes) {
		one := planNode(c, name)
		one.Upgraded = c.Nodes[name].Exists() && c.Nodes[name].Upgraded(plan.Image)
		found := blockers(w, preflight.World{Node: name, Cluster: c, Target: plan.Image, Skip: wish.Skip})
		one.Blockers = len(found)
		plan.Blockers = append(plan.Blockers, found...)
		plan.Nodes = append(plan.Nodes, one)
	}
	return plan
}

// planNode counts what the node carries.
func planNode(c cluster.Cluster, name string) PlanNode {
	out := PlanNode{Node: name, Targets: c.Engines(name)}
	if m := c.Nodes[name].Running(); m != nil {
		out.Image = m.Spec.Image
	}
	for _, volume := range c.On(name) {
		out.Volumes++
		out.Replicas += len(c.Volumes[volume].ReplicasOn(name))
	}
	return out
}

func defaultImage(w *world.World) string {
	for _, s := range w.Settings.Items {
		if s.Name == imageSetting {
			return s.Value
		}
	}
	return ""
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
	p.blockersText(out)
	if len(p.Unknown) > 0 {
		out.Line("")
		out.Line("%s", out.In(terminal.Bold, "Not known at the moment, and waited for"))
		out.Line("  the instances of %s; im-monitor reports them once it reads them", preflight.Names(p.Unknown))
	}
	out.Line("")
	out.Line("%s", out.In(terminal.Bold, "Only upgrade-controller checks, once the upgrade began"))
	for _, line := range p.Unchecked {
		out.Line("  %s", line)
	}
	out.Line("")
	out.Line("%s", out.In(terminal.Bold, "Next"))
	for _, step := range p.nextSteps() {
		out.Line("  %s", step)
	}
	out.Line("      %s", out.In(terminal.Dim, "docs/upgrading.md"))
}

// blockersText writes the blockers by node and volume, each with the commands that show or end them.
func (p Plan) blockersText(out *terminal.Printer) {
	if len(p.Blockers) > 0 {
		out.Line("")
		out.Line("%s", out.In(terminal.Bold, "Stands against it"))
	}
	for rest := p.Blockers; len(rest) > 0; {
		first := rest[0]
		end := 1
		for end < len(rest) && rest[end].Node == first.Node && rest[end].Volume == first.Volume {
			end++
		}
		place := "node " + first.Node
		if first.Volume != "" {
			place += ", volume " + first.Volume
		}
		out.Line("  %s", place)
		var commands []string
		for _, b := range rest[:end] {
			out.Line("    %s: %s", out.In(terminal.Warning, string(b.Kind)), b.Message)
			if b.Command != "" && !slices.Contains(commands, b.Command) {
				commands = append(commands, b.Command)
			}
		}
		for _, command := range commands {
			out.Line("      %s", out.In(terminal.Dim, command))
		}
		rest = rest[end:]
	}
}

// done reports whether every node is upgraded.
func (p Plan) done() bool {
	return !slices.ContainsFunc(p.Nodes, func(n PlanNode) bool { return !n.Upgraded })
}

// nextSteps are commands to type.
func (p Plan) nextSteps() []string {
	switch {
	case p.Image == "":
		return []string{p.world.Suggest("kubectl -n {ns} edit settings.longhorn.io "+imageSetting, nil)}
	case p.next != "":
		return []string{p.next}
	case p.Blocked():
		return []string{p.world.Suggest("kubectl drover upgrade plan -n {ns}", nil)}
	case p.done():
		return []string{p.world.Suggest("kubectl drover status -n {ns}", nil)}
	}
	return []string{p.world.Suggest("kubectl -n {ns} create -f - <<< '{manifest}'", world.Values{"manifest": p.wish.manifest()}),
		p.world.Suggest("kubectl drover upgrade watch -n {ns}", nil)}
}

// manifest is the object that asks for the upgrade, as JSON.
func (w Wish) manifest() string {
	spec := map[string]any{"dataEngine": v1beta2.DataEngineV2}
	if len(w.Nodes) > 0 {
		spec["nodes"] = w.Nodes
	}
	if len(w.Skip) > 0 {
		spec["skipVolumes"] = w.Skip
	}
	text, _ := json.Marshal(map[string]any{ // of strings alone, which have JSON
		"apiVersion": v1beta2.GroupVersion.String(), "kind": "DataEngineUpgradeManager", "metadata": map[string]any{"generateName": "upgrade-"},
		"spec": spec})
	return string(text)
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
	if p.done() {
		return out.In(terminal.Good, fmt.Sprintf("All nodes run %s: there is nothing to upgrade.", p.Image))
	}
	return out.In(terminal.Good, fmt.Sprintf("Nothing in the objects blocks upgrading to %s.", p.Image))
}

// counts returns how many blockers there are of each kind.
func (p Plan) counts() string {
	counts := map[preflight.Kind]int{}
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
			{Text: fmt.Sprint(n.Volumes)}, state, {Text: cmp.Or(n.Image, "no instance manager runs")}})
	}
	return rows
}

func stateOf(u *v1beta2.DataEngineUpgradeManager) string {
	return cmp.Or(u.Status.State, v1beta2.UpgradeStateUndefined)
}
