package plan

import (
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// The values of spec.onFailure.
const (
	Halt     = "Halt"
	Continue = "Continue"
)

// pass is one decision: it builds the wanted status.
type pass struct {
	World
	observed string
	// abort is whether the node that is under way must come to its end, and no other begins.
	abort   bool
	verdict Verdict
	status  *v1beta2.DataEngineUpgradeManagerStatus
	// own are this manager's upgrades of nodes, by node.
	own map[string]*v1beta2.NodeDataEngineUpgrade
	// set are the conditions that this pass sets, by type.
	set map[string]v1beta2.Condition
}

// Decide returns what to do next. A state that this version does not know is left alone.
func Decide(w World) Verdict {
	p := &pass{World: w, observed: w.Manager.Status.State, abort: w.Manager.Spec.Abort, set: map[string]v1beta2.Condition{}}
	p.verdict.Status = *w.Manager.Status.DeepCopy()
	p.status = &p.verdict.Status
	if p.observed == "" {
		p.observed = v1beta2.UpgradeStateUndefined
	}
	step, known := steps[p.observed]
	if !known {
		return p.verdict
	}
	p.own = map[string]*v1beta2.NodeDataEngineUpgrade{}
	for _, u := range w.Upgrades {
		if u.Spec.DataEngineUpgradeManager == w.Manager.Name {
			p.own[u.Spec.NodeID] = u
		}
	}
	switch {
	case w.Manager.DeletionTimestamp != nil:
		p.deleted()
	case !slices.Contains(w.Manager.Finalizers, v1beta2.Finalizer):
		p.verdict.AddFinalizer = true
		return p.verdict
	default:
		step(p)
	}
	if p.verdict.Confirm {
		return Verdict{Confirm: true}
	}
	p.conclude()
	return p.verdict
}

var steps = map[string]func(*pass){
	v1beta2.UpgradeStateUndefined:    (*pass).undefined,
	v1beta2.UpgradeStateInitializing: (*pass).initializing,
	v1beta2.UpgradeStateUpgrading:    (*pass).upgrading,
	v1beta2.UpgradeStatePaused:       (*pass).upgrading,
	v1beta2.UpgradeStateAborting:     (*pass).aborting,
	v1beta2.UpgradeStateCompleted:    (*pass).completed,
	v1beta2.UpgradeStateError:        (*pass).failed,
}

// ReadsCluster reports whether a decision about the manager reads nodes and volumes: for the blockers, and to choose the next
// node. While a node is under way, it does not.
func ReadsCluster(m *v1beta2.DataEngineUpgradeManager) bool {
	switch m.Status.State {
	case v1beta2.UpgradeStateInitializing:
		return true
	case v1beta2.UpgradeStateUpgrading, v1beta2.UpgradeStatePaused:
		return m.Status.UpgradingNode == ""
	}
	return false
}

func (p *pass) to(state string) { p.status.State = state }

func (p *pass) fail(reason, why string) {
	p.to(v1beta2.UpgradeStateError)
	p.status.ErrorMessage, p.status.UpgradingNode = why, ""
	p.condition(v1beta2.UpgradeProgressing, v1beta2.ConditionFalse, reason, why)
	p.condition(v1beta2.UpgradeCompleted, v1beta2.ConditionFalse, reason, why)
}

// confirmed requires uncached reads before a step that cannot be undone.
func (p *pass) confirmed() bool {
	if !p.Fresh {
		p.verdict.Confirm = true
	}
	return p.Fresh
}

// hold records what the upgrade waits for while a person must act; move records it while the upgrade continues by itself.
func (p *pass) hold(reason, message string) {
	p.condition(v1beta2.UpgradeProgressing, v1beta2.ConditionFalse, reason, message)
}

func (p *pass) move(reason, message string) {
	p.condition(v1beta2.UpgradeProgressing, v1beta2.ConditionTrue, reason, message)
}

// undefined waits until earlier upgrades have ended and freezes the image.
func (p *pass) undefined() {
	spec := p.Manager.Spec
	switch {
	case spec.Abort:
		p.fail(v1beta2.ReasonAborted, "It was aborted before it began.")
		return
	case spec.DataEngine != v1beta2.DataEngineV2, spec.OnFailure != "" && spec.OnFailure != Halt && spec.OnFailure != Continue:
		p.hold(v1beta2.ReasonNotUnderstood, fmt.Sprintf("Data engine %q with onFailure %q is not known to this version of "+
			"upgrade-controller. Update upgrade-controller, or correct the spec.", spec.DataEngine, spec.OnFailure))
		return
	}
	if first := before(p.Manager, p.Others); first != nil {
		p.hold(v1beta2.ReasonWaitingForUpgrade,
			fmt.Sprintf("DataEngineUpgradeManager %s is earlier; it is %s. Wait until it ends, or delete it.",
				first.Name, stateOf(first)))
		return
	}
	switch {
	case spec.Paused:
		p.hold(v1beta2.ReasonPaused, "Nothing has begun; set spec.paused to false.")
	case p.DefaultImage == "":
		p.hold(v1beta2.ReasonWaitingForImage, "The setting default-instance-manager-image names no image. Set it.")
	case p.confirmed():
		p.status.OwnerID, p.status.InstanceManagerImage, p.status.RehearsalRequestedAt = nodeupgrade.Owner, p.DefaultImage, ""
		p.to(v1beta2.UpgradeStateInitializing)
		p.move(v1beta2.ReasonCheckingImages, fmt.Sprintf("The image is %s; the nodes are being checked.", p.DefaultImage))
	}
}

func stateOf(m *v1beta2.DataEngineUpgradeManager) string {
	if m.Status.State == "" {
		return v1beta2.UpgradeStateUndefined
	}
	return m.Status.State
}

// completed leaves no check behind. It never begins again; if it is applied again for another image, the message names what to do instead.
func (p *pass) completed() {
	p.verdict.DropChecks = true
	if p.DefaultImage == "" || p.DefaultImage == p.status.InstanceManagerImage {
		p.hold(v1beta2.ReasonCompleted, p.done())
		return
	}
	p.hold(v1beta2.ReasonAnotherImage, p.summary(fmt.Sprintf("This upgrade has ended, with the image %s, and does not begin again. For "+
		"%s, which the setting "+
		"default-instance-manager-image names now, create a DataEngineUpgradeManager of another name.", p.status.InstanceManagerImage,
		p.DefaultImage)))
}

// failed continues when the spec was changed.
func (p *pass) failed() {
	p.verdict.DropChecks = true
	if !resumes(p.Manager) {
		return
	}
	if first := before(p.Manager, p.Others); first != nil {
		p.hold(v1beta2.ReasonWaitingForUpgrade,
			fmt.Sprintf("It is to continue, but DataEngineUpgradeManager %s is earlier; it is %s. Wait until "+
				"that one ends, or delete it.", first.Name, stateOf(first)))
		return
	}
	p.resume("its spec was changed")
}

// resume begins again with the checks: upgraded nodes stay upgraded, failed ones are tried again.
func (p *pass) resume(why string) {
	if p.status.InstanceManagerImage == "" {
		p.to(v1beta2.UpgradeStateUndefined)
		p.status.ErrorMessage = ""
		p.move(v1beta2.ReasonCheckingImages, "It begins again, because "+why+".")
		return
	}
	if !p.confirmed() {
		return
	}
	for node, n := range p.status.UpgradeNodes {
		if n.State == v1beta2.UpgradeStateError {
			p.status.UpgradeNodes[node] = v1beta2.UpgradeNodeStatus{State: retry, RetryCount: n.RetryCount}
		}
	}
	p.to(v1beta2.UpgradeStateInitializing)
	p.status.ErrorMessage, p.status.RehearsalRequestedAt = "", ""
	p.status.Conditions = conditions.Remove(p.status.Conditions, v1beta2.UpgradePreflight) // its time counts from now
	p.move(v1beta2.ReasonCheckingImages, "It continues, because "+why+"; the nodes are being checked.")
}

// deleted ends the upgrade as abort does, and drops the finalizer when no node is under way.
func (p *pass) deleted() {
	p.verdict.DropChecks = true
	p.to(v1beta2.UpgradeStateAborting)
	p.condition(v1beta2.UpgradeProgressing, v1beta2.ConditionFalse, v1beta2.ReasonAborted,
		"It was deleted; the node that is under way is brought to an end.")
	left := false
	for _, u := range p.own {
		left = true
		if u.DeletionTimestamp == nil {
			p.verdict.Delete = append(p.verdict.Delete, u)
		}
	}
	slices.SortFunc(p.verdict.Delete, byName)
	p.verdict.DropFinalizer = !left
}

func (p *pass) requeueAt(at time.Time) {
	if p.verdict.RequeueAt.IsZero() || at.Before(p.verdict.RequeueAt) {
		p.verdict.RequeueAt = at
	}
}
