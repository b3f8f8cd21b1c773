package upgrade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Progress is how far one upgrade is.
type Progress struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Image string `json:"image,omitempty"`
	// Progress is nodes that are finished, of all, as 1/3.
	Progress string `json:"progress,omitempty"`
	// Reason and Message are those of the condition Progressing, Stalled the message of the condition while it is True.
	Reason  string         `json:"reason,omitempty"`
	Message string         `json:"message,omitempty"`
	Stalled string         `json:"stalled,omitempty"`
	Paused  bool           `json:"paused,omitempty"`
	Abort   bool           `json:"abort,omitempty"`
	Nodes   []NodeProgress `json:"nodes"`
	// Ended: the state does not change any more by itself. Completed: all nodes are upgraded.
	Ended     bool `json:"ended"`
	Completed bool `json:"completed"`

	now time.Time
}

// NodeProgress is how far one node is.
type NodeProgress struct {
	Node     string           `json:"node"`
	State    string           `json:"state"`
	Since    string           `json:"since,omitempty"`
	Progress string           `json:"progress,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Message  string           `json:"message,omitempty"`
	Stalled  string           `json:"stalled,omitempty"`
	Retries  int              `json:"retries,omitempty"`
	Volumes  []VolumeProgress `json:"volumes,omitempty"`
}

// VolumeProgress is how far one volume of a node is.
type VolumeProgress struct {
	Volume string `json:"volume"`
	State  string `json:"state"`
	// From and To are the nodes of its target while that moves.
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Percent int    `json:"percent,omitempty"`
	Message string `json:"message,omitempty"`
}

// Ended reports whether an upgrade does nothing more unless its spec is changed.
func Ended(u *v1beta2.DataEngineUpgradeManager) bool {
	state := u.Status.State
	return (state == v1beta2.UpgradeStateCompleted || state == v1beta2.UpgradeStateError) && u.Status.ObservedGeneration >= u.Generation
}

// Select returns the upgrade of that name; without one that which has not ended, or else the newest.
func Select(w *world.World, name string) (*v1beta2.DataEngineUpgradeManager, error) {
	var found, newest *v1beta2.DataEngineUpgradeManager
	for i := range w.Upgrades.Items {
		u := &w.Upgrades.Items[i]
		if u.Name == name {
			return u, nil
		}
		if newest == nil || newest.CreationTimestamp.Before(&u.CreationTimestamp) {
			newest = u
		}
		if !Ended(u) && (found == nil || stateOf(found) == v1beta2.UpgradeStateUndefined) {
			found = u
		}
	}
	found = cmp.Or(found, newest)
	switch {
	case name != "":
		return nil, fmt.Errorf("DataEngineUpgradeManager %s does not exist in namespace %s; list all with: %s", name, w.Namespace,
			w.Suggest("kubectl -n {ns} get lhum", nil))
	case found == nil:
		return nil, fmt.Errorf("namespace %s has no DataEngineUpgradeManager: nothing is being upgraded; see: %s", w.Namespace,
			w.Suggest("kubectl drover upgrade plan -n {ns}", nil))
	}
	return found, nil
}

// watch is the command that follows the upgrade of that name.
func watch(w *world.World, name string) string {
	return w.Suggest("kubectl drover upgrade watch {name} -n {ns}", world.Values{"name": name})
}

// ProgressOf returns how far the upgrade is.
func ProgressOf(w *world.World, u *v1beta2.DataEngineUpgradeManager) Progress {
	list := u.Status.Conditions
	p := Progress{Name: u.Name, State: stateOf(u), Image: u.Status.InstanceManagerImage, Progress: u.Status.Progress,
		Stalled: stalled(list), Paused: u.Spec.Paused, Abort: u.Spec.Abort, Nodes: []NodeProgress{}, Ended: Ended(u), now: w.Now}
	p.Completed = p.Ended && u.Status.State == v1beta2.UpgradeStateCompleted
	p.Reason, p.Message = progressing(list)
	for _, name := range nodesOf(u) {
		p.Nodes = append(p.Nodes, nodeProgress(w, u, name))
	}
	return p
}

func progressing(list []v1beta2.Condition) (reason, message string) {
	if c := conditions.Get(list, v1beta2.UpgradeProgressing); c != nil {
		return v1beta2.PresentReason(c.Type, c.Reason), c.Message
	}
	return "", ""
}

func stalled(list []v1beta2.Condition) string {
	if c := conditions.Get(list, v1beta2.UpgradeStalled); c != nil && c.Status == v1beta2.ConditionTrue {
		return cmp.Or(c.Message, c.Reason)
	}
	return ""
}

// nodesOf returns the plan's nodes in their order as far as it is known: the finished ones, the present one, the others by name.
func nodesOf(u *v1beta2.DataEngineUpgradeManager) []string {
	out := slices.Clone(u.Status.UpgradedNodes)
	if now := u.Status.UpgradingNode; now != "" && !slices.Contains(out, now) {
		out = append(out, now)
	}
	rest := u.Spec.Nodes
	if len(rest) == 0 {
		rest = slices.Sorted(maps.Keys(u.Status.UpgradeNodes))
	}
	for _, name := range rest {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func nodeProgress(w *world.World, u *v1beta2.DataEngineUpgradeManager, name string) NodeProgress {
	recorded := u.Status.UpgradeNodes[name]
	p := NodeProgress{Node: name, State: cmp.Or(recorded.State, "waits for its turn"), Since: cmp.Or(recorded.CompletedAt, recorded.StartedAt),
		Message: recorded.ErrorMessage, Retries: recorded.RetryCount}
	for i := range w.NodeUpgrades.Items {
		n := &w.NodeUpgrades.Items[i]
		if n.Spec.NodeID != name || n.Spec.DataEngineUpgradeManager != u.Name || u.Status.UpgradingNode != name {
			continue
		}
		p.State, p.Since, p.Progress = cmp.Or(n.Status.State, v1beta2.UpgradeStateUndefined), n.Status.StateSince, n.Status.Progress
		p.Reason, p.Message = progressing(n.Status.Conditions)
		p.Stalled = stalled(n.Status.Conditions)
		for _, volume := range slices.Sorted(maps.Keys(n.Status.Volumes)) {
			v := n.Status.Volumes[volume]
			p.Volumes = append(p.Volumes, VolumeProgress{Volume: volume, State: cmp.Or(v.State, "not begun"), From: v.OriginalNodeID,
				To: v.TemporaryNodeID, Percent: v.Progress, Message: v.Message})
		}
	}
	return p
}

// Names returns the upgrade.
func (p Progress) Names() []string {
	return []string{finding.Ref{Kind: "DataEngineUpgradeManager", Name: p.Name}.Resource()}
}

// Text writes the tree.
func (p Progress) Text(out *terminal.Printer) {
	for _, line := range p.lines() {
		age := terminal.Age(p.now, line.since)
		if age != "" {
			age = out.In(terminal.Dim, " ("+age+")")
		}
		out.Line("%s%s%s", strings.Repeat("  ", line.depth), out.In(line.style, line.text), age)
	}
}

// line is one line of the tree. subject identifies what it is about.
type line struct {
	subject, text, since string
	depth                int
	style                terminal.Style
}

func (p Progress) lines() []line {
	out := []line{{subject: p.Name, text: p.headline(), style: p.style()}}
	if p.Reason != "" {
		out = append(out, line{subject: p.Name + " reason", text: sentence(p.Reason, p.Message), depth: 1})
	}
	if p.Stalled != "" {
		out = append(out, line{subject: p.Name + " stalled", text: "stalled: " + p.Stalled, depth: 1, style: terminal.Warning})
	}
	for _, n := range p.Nodes {
		out = append(out, n.lines()...)
	}
	return out
}

func (p Progress) headline() string {
	text := fmt.Sprintf("%s: %s", p.Name, inWords(p.State))
	if p.Progress != "" {
		text += ", " + p.Progress + " nodes"
	}
	if p.Image != "" {
		text += ", to " + p.Image
	}
	if p.Paused {
		text += ", spec.paused"
	}
	if p.Abort {
		text += ", spec.abort"
	}
	return text
}

func (p Progress) style() terminal.Style {
	switch {
	case p.Completed:
		return terminal.Good
	case p.Ended:
		return terminal.Bad
	}
	return terminal.Bold
}

func (n NodeProgress) lines() []line {
	text := "node " + n.Node + ": " + inWords(n.State)
	if n.Progress != "" {
		text += " " + n.Progress
	}
	if n.Retries > 0 {
		text += fmt.Sprintf(", retry %d", n.Retries)
	}
	out := []line{{subject: n.Node, text: text, since: n.Since, depth: 1, style: nodeStyle(n.State)}}
	if n.Message != "" {
		out = append(out, line{subject: n.Node + " reason", text: sentence(n.Reason, n.Message), depth: 2})
	}
	if n.Stalled != "" {
		out = append(out, line{subject: n.Node + " stalled", text: "stalled: " + n.Stalled, depth: 2, style: terminal.Warning})
	}
	for _, v := range n.Volumes {
		out = append(out, line{subject: n.Node + " " + v.Volume, text: v.text(), depth: 2})
	}
	return out
}

// inWords is a state as it is shown; of all states only the first one is no word for a reader.
func inWords(state string) string {
	if state == v1beta2.UpgradeStateUndefined {
		return "not begun"
	}
	return state
}

func nodeStyle(state string) terminal.Style {
	switch state {
	case v1beta2.UpgradeStateCompleted:
		return terminal.Good
	case v1beta2.UpgradeStateError:
		return terminal.Bad
	case v1beta2.UpgradeStateRollingBack:
		return terminal.Warning
	}
	return terminal.Plain
}

func (v VolumeProgress) text() string {
	text := "volume " + v.Volume + ": " + v.State
	if v.To != "" {
		text += fmt.Sprintf(", target %s -> %s", v.From, v.To)
	}
	if v.Percent > 0 && v.State == v1beta2.VolumeUpgradeRebuilding {
		text += fmt.Sprintf(", %d %%", v.Percent)
	}
	if v.Message != "" {
		text += ": " + v.Message
	}
	return text
}

func sentence(reason, message string) string {
	return strings.TrimPrefix(strings.TrimSuffix(reason+": "+message, ": "), ": ")
}

// Changes returns the lines that are not as they were before, each with its node's or upgrade's name.
func (p Progress) Changes(before Progress) []string {
	known := map[string]string{}
	for _, l := range before.lines() {
		known[l.subject] = l.text
	}
	var out []string
	for _, l := range p.lines() {
		if known[l.subject] != l.text {
			out = append(out, strings.Repeat("  ", l.depth)+l.text)
		}
	}
	return out
}
