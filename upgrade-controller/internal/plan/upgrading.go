package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// retry is the state of a node whose failed upgrade is to be created again.
const retry = "retry"

// upgrading upgrades one node after the other.
func (p *pass) upgrading() {
	p.verdict.DropChecks = true
	if node := p.status.UpgradingNode; node != "" {
		p.follow(node)
		return
	}
	if p.Manager.Spec.Abort {
		p.fail(v1beta2.ReasonAborted, p.summary("It was aborted. Set spec.abort to false to continue."))
		return
	}
	if !p.withoutGone() {
		return
	}
	p.status.ExcludedNodes = p.excluded()
	next, failed := p.next()
	switch {
	case next == "" && len(failed) > 0:
		p.fail(v1beta2.ReasonNodeFailed, p.summary(p.failures(failed)))
	case next == "":
		p.to(v1beta2.UpgradeStateCompleted)
		p.status.ErrorMessage = ""
		p.hold(v1beta2.ReasonCompleted, p.done())
		p.condition(v1beta2.UpgradeCompleted, v1beta2.ConditionTrue, v1beta2.ReasonCompleted, p.done())
	case len(failed) > 0 && p.Manager.Spec.OnFailure != Continue:
		p.fail(v1beta2.ReasonNodeFailed, p.summary(p.failures(failed)))
	case p.Manager.Spec.Paused:
		p.to(v1beta2.UpgradeStatePaused)
		p.hold(v1beta2.ReasonPaused, p.summary(fmt.Sprintf("Node %s is next; set spec.paused to false.", next)))
	default:
		p.to(v1beta2.UpgradeStateUpgrading)
		p.begin(next)
	}
}

// next is the next node, and the nodes that failed.
func (p *pass) next() (next string, failed []string) {
	order := p.Cluster.Order(p.Manager.Spec.Nodes)
	planned := slices.Sorted(maps.Keys(p.status.UpgradeNodes))
	slices.SortStableFunc(planned, func(a, b string) int { return cmp.Compare(place(order, a), place(order, b)) })
	for _, node := range planned {
		switch state := p.status.UpgradeNodes[node].State; {
		case state == v1beta2.UpgradeStateError:
			failed = append(failed, node)
		case state != v1beta2.UpgradeStateCompleted && next == "":
			next = node
		}
	}
	return next, failed
}

// failures lists why each node failed.
func (p *pass) failures(nodes []string) string {
	lines := make([]string, 0, len(nodes))
	for _, node := range nodes {
		lines = append(lines, fmt.Sprintf("Node %s failed: %s", node, p.status.UpgradeNodes[node].ErrorMessage))
	}
	return strings.Join(lines, " ")
}

// place is a node's place in the order; a node that is not in it any more comes last.
func place(order []string, node string) int {
	if i := slices.Index(order, node); i >= 0 {
		return i
	}
	return len(order)
}

// begin stores which node is next, once no other upgrade is under way.
func (p *pass) begin(node string) {
	for _, u := range p.Upgrades {
		if !nodeupgrade.Ended(u.Status.State) && u.Name != UpgradeName(p.Manager.Name, node) {
			p.hold(v1beta2.ReasonWaitingForUpgrade,
				fmt.Sprintf("NodeDataEngineUpgrade %s has not ended: wait until it ends, or delete it.", u.Name))
			return
		}
	}
	if !p.confirmed() {
		return
	}
	p.status.UpgradingNode = node
	n := p.status.UpgradeNodes[node]
	n.StartedAt = p.Now.UTC().Format(time.RFC3339)
	p.status.UpgradeNodes[node] = n
	p.move(v1beta2.ReasonUpgradingNode, p.summary(fmt.Sprintf("Node %s is next.", node)))
}

// follow creates the node's upgrade, and copies its state.
func (p *pass) follow(node string) {
	n, u := p.status.UpgradeNodes[node], p.own[node]
	if p.abort {
		p.to(v1beta2.UpgradeStateAborting)
	}
	switch {
	case u == nil && p.abort:
		if !p.confirmed() { // the cache may not show yet what was created
			return
		}
		p.forget(node, v1beta2.UpgradeNodeStatus{RetryCount: n.RetryCount})
	case u == nil && p.taken(node) != nil:
		p.hold(v1beta2.ReasonWaitingForUpgrade, p.summary(fmt.Sprintf("NodeDataEngineUpgrade %s blocks the name: it is for node %s and "+
			"DataEngineUpgradeManager %s. Delete it.",
			p.taken(node).Name, p.taken(node).Spec.NodeID, p.taken(node).Spec.DataEngineUpgradeManager)))
	case u == nil:
		n.State = ""
		p.status.UpgradeNodes[node] = n
		p.to(v1beta2.UpgradeStateUpgrading)
		p.verdict.Create, p.verdict.CreateName = node, UpgradeName(p.Manager.Name, node)
		p.move(v1beta2.ReasonUpgradingNode, p.summary(progressOf(node, v1beta2.UpgradeStateUndefined, p.verdict.CreateName)))
	case p.earlier(u):
		p.end(u, fmt.Sprintf("Node %s: NodeDataEngineUpgrade %s is of an earlier upgrade; it must end first.", node, u.Name))
	case n.State == retry && nodeupgrade.Ended(u.Status.State): // another one is the new try
		p.end(u, fmt.Sprintf("Node %s is tried again.", node))
	case u.Status.State == v1beta2.UpgradeStateCompleted:
		p.finish(node, u)
	case u.DeletionTimestamp != nil: // also one that has ended: the result must not depend on whether its end is read before it is gone
		p.move(v1beta2.ReasonUpgradingNode, p.summary(fmt.Sprintf("Node %s: its NodeDataEngineUpgrade was deleted; it must "+
			"end, then a new one is created.", node)))
	case u.Status.State == v1beta2.UpgradeStateError:
		p.retried(node, u)
	default:
		n.State, n.ErrorMessage = u.Status.State, u.Status.ErrorMessage
		p.status.UpgradeNodes[node] = n
		p.report(node, u)
	}
}

// report writes the state of the node's upgrade. The upgrade's own object reports what it waits for; repeating that here would
// write it twice.
func (p *pass) report(node string, u *v1beta2.NodeDataEngineUpgrade) {
	state := cmp.Or(u.Status.State, v1beta2.UpgradeStateUndefined)
	if nothing := state == v1beta2.UpgradeStateUndefined; nothing && p.Manager.Spec.Paused && !p.abort {
		p.to(v1beta2.UpgradeStatePaused)
		p.hold(v1beta2.ReasonPaused, p.summary(fmt.Sprintf("Node %s is next; set spec.paused to false.", node)))
		return
	}
	if !p.abort {
		p.to(v1beta2.UpgradeStateUpgrading)
	}
	p.move(v1beta2.ReasonUpgradingNode, p.summary(progressOf(node, state, u.Name)))
	if stalled := conditions.Get(u.Status.Conditions, v1beta2.UpgradeStalled); stalled != nil && stalled.Status == v1beta2.ConditionTrue {
		p.condition(v1beta2.UpgradeStalled, v1beta2.ConditionTrue, v1beta2.ReasonTimedOut,
			fmt.Sprintf("Node %s: %s", node, stalled.Message))
	}
}

// taken is the object that has the name of the node's upgrade but belongs to another one; names are joined, so that two may collide.
func (p *pass) taken(node string) *v1beta2.NodeDataEngineUpgrade {
	for _, u := range p.Upgrades {
		if u.Name == UpgradeName(p.Manager.Name, node) {
			return u
		}
	}
	return nil
}

// earlier reports whether an earlier manager of this name created the upgrade, or it is for another image: its result does not count for
// this one.
func (p *pass) earlier(u *v1beta2.NodeDataEngineUpgrade) bool {
	return u.Spec.InstanceManagerImage != p.status.InstanceManagerImage ||
		slices.ContainsFunc(u.OwnerReferences, func(o metav1.OwnerReference) bool {
			return o.Kind == "DataEngineUpgradeManager" && o.UID != p.Manager.UID
		})
}

// end deletes the node's upgrade, so that a later pass creates a new one.
func (p *pass) end(u *v1beta2.NodeDataEngineUpgrade, why string) {
	if u.DeletionTimestamp == nil {
		p.verdict.Delete = append(p.verdict.Delete, u)
	}
	p.move(v1beta2.ReasonUpgradingNode, p.summary(why))
}

func (p *pass) finish(node string, u *v1beta2.NodeDataEngineUpgrade) {
	n := p.status.UpgradeNodes[node]
	p.forget(node, v1beta2.UpgradeNodeStatus{
		State: v1beta2.UpgradeStateCompleted, RetryCount: n.RetryCount, StartedAt: n.StartedAt, CompletedAt: u.Status.CompletedAt,
	})
	if !slices.Contains(p.status.UpgradedNodes, node) {
		p.status.UpgradedNodes = append(p.status.UpgradedNodes, node)
	}
}

// retried tries the node's upgrade again as often as spec.maxRetries allows; then the node has failed.
func (p *pass) retried(node string, u *v1beta2.NodeDataEngineUpgrade) {
	n := p.status.UpgradeNodes[node]
	if n.RetryCount < p.Manager.Spec.MaxRetries && !p.abort {
		n.State, n.ErrorMessage = retry, u.Status.ErrorMessage
		n.RetryCount++
		p.status.UpgradeNodes[node] = n
		p.move(v1beta2.ReasonUpgradingNode, p.summary(fmt.Sprintf("Node %s failed and is tried again: %s", node, u.Status.ErrorMessage)))
		return
	}
	n.State, n.ErrorMessage = v1beta2.UpgradeStateError, u.Status.ErrorMessage
	p.forget(node, n)
}

// forget clears the current node; the next pass continues with another.
func (p *pass) forget(node string, n v1beta2.UpgradeNodeStatus) {
	p.status.UpgradeNodes[node], p.status.UpgradingNode = n, ""
	p.move(v1beta2.ReasonUpgradingNode, p.summary(fmt.Sprintf("The upgrade of node %s has ended.", node)))
}

// aborting ends once no node is under way. An abort that was taken back ends at once where the node goes forward; a node that is being
// rolled back, or was, comes to its end first, which is no try of it.
func (p *pass) aborting() {
	p.verdict.DropChecks = true
	node := p.status.UpgradingNode
	if p.abort = p.Manager.Spec.Abort || !forward(p.own[node]); node != "" {
		p.follow(node)
		if p.status.UpgradingNode != "" {
			if p.abort {
				p.to(v1beta2.UpgradeStateAborting)
			}
			return
		}
	}
	if p.Manager.Spec.Abort {
		p.fail(v1beta2.ReasonAborted, p.summary("It was aborted. Set spec.abort to false to continue."))
		return
	}
	p.resume("spec.abort is false again")
}

// forward reports whether the upgrade of a node is under way and not being rolled back.
func forward(u *v1beta2.NodeDataEngineUpgrade) bool {
	return u != nil && u.DeletionTimestamp == nil && u.Status.State != v1beta2.UpgradeStateRollingBack &&
		u.Status.State != v1beta2.UpgradeStateError
}

// done is the message that all nodes of the plan are upgraded, and which are not in it.
func (p *pass) done() string {
	if len(p.status.ExcludedNodes) == 0 {
		return p.summary("All nodes are upgraded.")
	}
	return p.summary("All nodes of the plan are upgraded. " + leftOut(p.status.ExcludedNodes))
}

// summary begins a message with the number of upgraded nodes.
func (p *pass) summary(message string) string {
	return fmt.Sprintf("%d of %d node(s) upgraded. %s", len(p.status.UpgradedNodes), len(p.status.UpgradeNodes), message)
}

func byName(a, b *v1beta2.NodeDataEngineUpgrade) int { return cmp.Compare(a.Name, b.Name) }

// progressOf is a sentence on the node's upgrade.
func progressOf(node, state, upgrade string) string {
	now := "is " + state
	if state == v1beta2.UpgradeStateUndefined {
		now = "begins"
	}
	return fmt.Sprintf("Node %s %s; NodeDataEngineUpgrade %s states what it waits for.", node, now, upgrade)
}
