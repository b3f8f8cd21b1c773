package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/preflight"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// gone is why a node is left out that was removed from the cluster.
const gone = "its Node is gone"

// withoutGone leaves out of the plan what was removed from the cluster since: nodes that are not upgraded, and whose upgrade is not under
// way. A person cannot do that, because spec.nodes is immutable. It reports false where uncached reads are required first.
func (p *pass) withoutGone() bool {
	for _, node := range slices.Sorted(maps.Keys(p.status.UpgradeNodes)) {
		u := p.own[node]
		underWay := u != nil && !nodeupgrade.Ended(u.Status.State) || p.status.UpgradingNode == node
		if p.Cluster.Nodes[node].Object != nil || underWay || p.status.UpgradeNodes[node].State == v1beta2.UpgradeStateCompleted {
			continue
		}
		if !p.confirmed() {
			return false
		}
		delete(p.status.UpgradeNodes, node)
		p.status.ExcludedNodes = addReason(p.status.ExcludedNodes, node, gone)
	}
	return true
}

// stillGone reports whether a node was left out because it is gone, and is not back.
func (p *pass) stillGone(node string) bool {
	return p.status.ExcludedNodes[node] == gone && p.Cluster.Nodes[node].Object == nil
}

// excluded maps each node that has a v2 instance manager without the new image, and is not in the plan, to the reason why it is left out.
// One that is gone stays there, also without its instance managers. Nil: none.
func (p *pass) excluded() map[string]string {
	var out map[string]string
	for name := range p.status.ExcludedNodes {
		if p.stillGone(name) {
			out = addReason(out, name, gone)
		}
	}
	for name, node := range p.Cluster.Nodes {
		if _, planned := p.status.UpgradeNodes[name]; planned || len(node.Managers) == 0 || node.Upgraded(p.status.InstanceManagerImage) {
			continue
		}
		why := "it joined after the plan was created"
		switch {
		case node.Object == nil:
			why = gone
		case !node.Exists():
			why = "its Node is being deleted"
		case len(p.Manager.Spec.Nodes) > 0:
			why = "spec.nodes does not name it"
		}
		out = addReason(out, name, why)
	}
	return out
}

// addReason adds an entry to a map that is nil while it is empty.
func addReason(to map[string]string, name, why string) map[string]string {
	if to == nil {
		to = map[string]string{}
	}
	to[name] = why
	return to
}

// leftOut names the nodes that are left out, and why.
func leftOut(nodes map[string]string) string {
	lines := make([]string, 0, len(nodes))
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		lines = append(lines, fmt.Sprintf("%s (%s)", name, nodes[name]))
	}
	return "Left out, and without the new image: " + preflight.Names(lines) + "."
}

// finished reports whether a manager has ended: it has no node under way and will begin none.
func finished(m *v1beta2.DataEngineUpgradeManager) bool {
	switch m.Status.State {
	case v1beta2.UpgradeStateCompleted:
		return true
	case v1beta2.UpgradeStateError:
		return !resumes(m)
	}
	return false
}

// resumes reports whether an upgrade that ended in error is to continue, because its spec was changed.
func resumes(m *v1beta2.DataEngineUpgradeManager) bool {
	return m.Status.State == v1beta2.UpgradeStateError && m.DeletionTimestamp == nil && !m.Spec.Abort &&
		m.Generation > m.Status.ObservedGeneration
}

// begun reports whether a manager has left the queue: it has frozen its image.
func begun(m *v1beta2.DataEngineUpgradeManager) bool {
	return !finished(m) && !resumes(m) && m.Status.State != "" && m.Status.State != v1beta2.UpgradeStateUndefined
}

// before returns the manager that is queued before this one, nil if this one is first.
func before(m *v1beta2.DataEngineUpgradeManager, others []*v1beta2.DataEngineUpgradeManager) *v1beta2.DataEngineUpgradeManager {
	first := m
	for _, o := range others {
		if !finished(o) && sooner(o, first) {
			first = o
		}
	}
	if first == m {
		return nil
	}
	return first
}

// sooner orders the queue: a manager that has begun, then the oldest, then by name.
func sooner(a, b *v1beta2.DataEngineUpgradeManager) bool {
	rank := func(m *v1beta2.DataEngineUpgradeManager) int {
		if begun(m) {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(a)-rank(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

// UpgradeName is the name of the NodeDataEngineUpgrade of a node.
func UpgradeName(manager, node string) string {
	const limit = 253
	name := manager + "-" + node
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(manager + "/" + node))
	return name[:limit-17] + "-" + hex.EncodeToString(sum[:8])
}
