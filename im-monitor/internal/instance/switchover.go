package instance

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	phasePreparing = v1beta2.SwitchoverPreparing
	phaseSwitching = v1beta2.SwitchoverSwitching
	phasePromoting = v1beta2.SwitchoverPromoting
	phaseReverting = v1beta2.SwitchoverReverting
)

// Switchover is a switch-over in progress; the zero value is none. It is written before each call and after each accepted call, since the
// server remembers no phase, and lists none before the last one is done.
type Switchover struct {
	Phase    string
	Accepted bool
	// Engine, UID, IP and Port are its target.
	Engine, UID, IP string
	Port            int
	// OldClosed reports that the target on record may be closed.
	OldClosed bool
	// Unanswered reports that a phase before reverting was not answered, so that the server may still execute it.
	Unanswered bool
	// Since is when the phase began, in RFC 3339.
	Since string
}

func (s Switchover) target() TargetSpec { return TargetSpec{Engine: s.Engine, IP: s.IP, Port: s.Port} }

// moving switches a running frontend over to the target that its spec names, from A, which its server has on record, to B:
//
//	preparing   B is connected, A is used                 aborted: nothing to undo, B may be deleted
//	switching   A is closed, B is used                    aborted: B is promoted, and then A is switched over to like any other target;
//	promoting   B is fully opened and put on record       where B does not serve, or was refused: reverting
//	reverting   B is closed, then A is opened
//
// Preparing is allowed in any state: it closes B before it does anything else. After a lost answer the same phase is repeated. Two
// targets are never open at once: two engines would write. So A is opened again only once B is closed or proven not to run, or no path
// leads to it any more.
func moving(w World, e *Entry, v Verdict) Verdict {
	target, at := w.Object.Target, record(e)
	if !w.frontend() || w.Status.Switchover.Phase == "" && (target.Address() == "" || at.Address() == "") {
		return v
	}
	p := &mover{w: w, v: v, s: w.Status.Switchover, target: target, at: at, held: e.State == v1beta2.InstanceStateSuspended}
	if p.s.Phase != "" && p.recorded(p.s.target()) { // it was promoted, also if the answer was lost
		p.s = Switchover{}
	}
	p.v.Status.Switchover = p.s
	switch {
	case p.s.Phase == "" && target.Address() == "":
		return p.v
	case p.s.Phase == "":
		return p.begin()
	case target.Address() == "" || at.Address() == "":
		return p.wait(ReasonTargetUnknown, fmt.Sprintf("A switch-over to engine %s is under way (%s), and its server has no target on "+
			"record, or the spec names none.",
			p.s.Engine, p.s.Phase))
	}
	switch p.s.Phase {
	case phasePreparing:
		return p.prepared()
	case phaseReverting:
		return p.reverted()
	}
	return p.switched()
}

// stuck reports that a switch-over waits for something that a person may have to check.
func stuck(reason string) bool {
	return reason == ReasonTargetUnknown || reason == ReasonNodeBusy || reason == ReasonEngineRebuilding ||
		reason == ReasonSwitchoverUnsupported
}

// mover is one decision about a switch-over.
type mover struct {
	w          World
	v          Verdict
	s          Switchover
	target, at TargetSpec
	held       bool
}

// begin prepares a switch-over to a target that serves.
func (p *mover) begin() Verdict {
	switch at := p.at; {
	case p.recorded(p.target):
		return p.v
	case !p.w.switchable():
		return p.wait(ReasonSwitchoverUnsupported,
			fmt.Sprintf("Frontend %q does not support a switch-over: it stays at engine %s. Detach the volume to move its target.",
				p.w.Object.Frontend, at.Engine))
	case p.loading() != "":
		return p.wait(ReasonNodeBusy, fmt.Sprintf("The switch-over to engine %s waits until disk %s is loaded: every call of its server "+
			"may wait for that.",
			p.target.Engine, p.loading()))
	case !p.serves(p.target):
		return p.wait(ReasonTargetNotServing, fmt.Sprintf("Engine %s does not serve at %s; the frontend stays at its target.",
			p.target.Engine, p.target.Address()))
	case p.declined():
		return p.wait(ReasonMoveRefused, fmt.Sprintf("The server refused the switch-over to engine %s; it is retried.", p.target.Engine))
	case p.w.Engines[p.at.Engine].Rebuilding != "": // checked before preparing: afterwards snapshots and the like wait, too
		return p.awaitRebuild()
	}
	return p.call(phasePreparing)
}

// awaitRebuild waits for the end of a rebuild: writes through another engine meanwhile would never reach that replica.
func (p *mover) awaitRebuild() Verdict {
	v := p.wait(ReasonEngineRebuilding, fmt.Sprintf("The switch-over to engine %s waits until engine %s has rebuilt replica %s.",
		p.target.Engine, p.at.Engine,
		p.w.Engines[p.at.Engine].Rebuilding))
	v.At = p.w.Now.Add(workPause)
	return v
}

// workPause is the delay before the next decision about a switch-over that waits for work through its frontend to end.
const workPause = 200 * time.Millisecond

// prepared continues from preparing.
func (p *mover) prepared() Verdict {
	switch {
	case p.wanted() && p.serves(p.target):
		return p.proceed()
	case p.s.OldClosed:
		return p.back()
	case p.gone(p.s):
		p.s = Switchover{}
		p.v.Status.Switchover = p.s
		return p.begin()
	case p.wanted():
		return p.wait(ReasonTargetNotServing, fmt.Sprintf("Engine %s does not serve at %s; the frontend stays at its target.",
			p.target.Engine, p.target.Address()))
	case p.recorded(p.target): // open: there is nothing to undo, and the status keeps the prepared target until its engine has ended
		return p.v
	}
	return p.revert() // another target is about to be prepared: two prepared targets would both be used once the old one is closed
}

// proceed continues from preparing to a target that serves.
func (p *mover) proceed() Verdict {
	old := p.w.Engines[p.at.Engine]
	switch {
	case p.declined():
		return p.wait(ReasonMoveRefused, fmt.Sprintf("The server refused the switch-over to engine %s; it is retried.", p.target.Engine))
	case !p.s.Accepted:
		return p.call(phasePreparing)
	case old.Working:
		v := p.wait(ReasonChanging, fmt.Sprintf("The switch-over to engine %s waits for the end of a call to engine %s, and for a "+
			"poll after it.", p.target.Engine, p.at.Engine))
		v.At = p.w.Now.Add(workPause)
		return v
	case old.Rebuilding != "":
		return p.awaitRebuild()
	}
	return p.call(phaseSwitching)
}

// switched continues from switching and promoting.
func (p *mover) switched() Verdict {
	serves := p.servesRecorded()
	switch {
	case serves && !p.declined(): // also where the spec no longer names it: a switch-over to the spec's target follows
		return p.forward()
	case p.reopens() && p.closable():
		return p.revert()
	case serves:
		return p.forward()
	}
	return p.back()
}

// forward takes the next phase to the target of the switch-over.
func (p *mover) forward() Verdict {
	p.target = p.s.target()
	old := p.w.Engines[p.at.Engine]
	closed := old.Gone || p.pathLost(old)
	switch {
	case p.s.Phase == phaseSwitching && !p.s.Accepted && !closed:
		return p.call(phaseSwitching)
	case p.s.Phase == phaseSwitching:
		return p.call(phasePromoting)
	case p.s.Accepted && p.w.Unsettled:
		return p.wait(ReasonChanging, fmt.Sprintf("Engine %s was promoted; the next list shows it.", p.s.Engine))
	}
	v := p.call(phasePromoting)
	v.Call.CloseFirst = !closed
	return v
}

// pathLost reports that the kernel has dropped its path to an engine on a node that is out, while all I/O was suspended: it cannot
// reconnect to it.
func (p *mover) pathLost(e EngineFacts) bool {
	at := p.pathLossAt(e)
	return !at.IsZero() && !at.After(p.w.Now)
}

// pathLossAt is when the path counts as lost; zero while nothing lets it.
func (p *mover) pathLossAt(e EngineFacts) time.Time {
	since, err := time.Parse(time.RFC3339, p.s.Since)
	if asked, bad := time.Parse(time.RFC3339, p.w.Object.Suspend); bad == nil && asked.After(since) {
		since = asked
	}
	if e.OutSince.After(since) {
		since = e.OutSince
	}
	if err != nil || !p.held || !e.NodeOut {
		return time.Time{}
	}
	return since.Add(p.w.Settings.PathLoss)
}

// back aborts a switch-over whose target does not serve, or is not that of the spec.
func (p *mover) back() Verdict {
	switch {
	case !p.recorded(p.target) && p.serves(p.target) && (p.gone(p.s) || p.target.Engine == p.s.Engine) && !p.declined():
		return p.call(phasePreparing)
	case p.reopens() && p.closable():
		return p.revert()
	}
	v := p.wait(ReasonTargetUnknown, fmt.Sprintf("The switch-over from engine %s to engine %s stopped at %s: neither is known to serve "+
		"alone. The switch-over continues once the node of one of them answers.", p.at.Engine, p.s.Engine, p.s.Phase))
	if at := p.pathLossAt(p.w.Engines[p.s.Engine]); at.After(p.w.Now) {
		v.At = at
	}
	return v
}

// reverted continues from reverting.
func (p *mover) reverted() Verdict {
	switch {
	case p.wanted() && p.serves(p.target) && !p.declined():
		return p.call(phasePreparing)
	case p.s.Accepted && !p.recorded(p.target) && p.serves(p.target) && !p.declined(): // the old target does not serve
		return p.call(phasePreparing)
	case p.s.Accepted && p.s.Unanswered && p.reopens() && p.w.Now.Before(p.answered()):
		v := p.wait(ReasonChanging, fmt.Sprintf("Engine %s is opened again. A phase before that was not answered, and its server may "+
			"still execute it: the engine is opened once more at %s.", p.at.Engine, p.answered().UTC().Format(time.RFC3339)))
		v.At = p.answered()
		return v
	case p.s.Accepted && !p.serves(p.at):
		return p.wait(ReasonTargetNotServing, fmt.Sprintf("The frontend is switched back to engine %s, which does not serve.", p.at.Engine))
	}
	return p.revert()
}

// call requests a phase of the switch-over to the target.
func (p *mover) call(phase string) Verdict {
	s := Switchover{Phase: phase, Engine: p.target.Engine, UID: p.w.Engines[p.target.Engine].UID, IP: p.target.IP, Port: p.target.Port,
		OldClosed: p.s.OldClosed || phase == phaseSwitching || phase == phasePromoting}
	return p.ahead(s, fmt.Sprintf("It switches over to engine %s at %s: %s.", p.target.Engine, p.target.Address(), phase),
		Call{Op: OpSwitchOver, InstanceManager: p.w.Here.InstanceManager, Target: p.target, Phase: phase})
}

// revert requests the switch back.
func (p *mover) revert() Verdict {
	s := p.s
	s.Unanswered = s.Unanswered || !s.Accepted && (s.Phase == phaseSwitching || s.Phase == phasePromoting)
	if s.Phase == phaseReverting && s.Accepted && !p.w.Now.Before(p.answered()) {
		s.Unanswered = false
	}
	s.Phase, s.Accepted = phaseReverting, false
	r := Revert{Close: s.Engine, CloseAt: p.w.Engines[s.Engine].InstanceManager, Harmless: p.gone(s) || p.pathLost(p.w.Engines[s.Engine])}
	if p.reopens() {
		r.Open, r.OpenAt = p.at.Engine, p.w.Engines[p.at.Engine].InstanceManager
	}
	v := p.ahead(s, fmt.Sprintf("It is switched back to engine %s: engine %s is closed first.", p.at.Engine, s.Engine),
		Call{Op: OpRevert, InstanceManager: p.w.Here.InstanceManager, Target: p.at, Phase: phaseReverting, Revert: r})
	if r.Open != "" && !s.Unanswered {
		v.Call.Accepted = Switchover{}
	}
	return v
}

// answered is when a server can no longer execute a phase that was not answered before reverting.
func (p *mover) answered() time.Time {
	since, _ := time.Parse(time.RFC3339, p.s.Since)
	return since.Add(p.w.Settings.CallPatience)
}

// ahead sets the status to write before the call, and the status to write once the call was accepted.
func (p *mover) ahead(s Switchover, message string, c Call) Verdict {
	s.Since = p.w.Now.UTC().Format(time.RFC3339)
	if same := p.w.Status.Switchover; same.Phase == s.Phase && same.UID == s.UID && !same.Accepted {
		s.Since = same.Since
	}
	c.Ahead, c.Accepted = p.v.Status, s
	c.Ahead.Switchover, c.Accepted.Accepted = s, true
	return Verdict{Status: p.v.Status, Reason: ReasonCalling, Message: message, Call: c}
}

func (p *mover) wait(reason, message string) Verdict {
	p.v.Reason, p.v.Message = reason, message
	if reason == ReasonMoveRefused {
		p.v.At = p.w.MoveAfter
	}
	return p.v
}

// recorded reports whether the server has a target on record. A target without the engine's name is compared by its address.
func (p *mover) recorded(t TargetSpec) bool {
	return t.Address() == p.at.Address() && (p.at.Engine == "" || p.at.Engine == t.Engine)
}

// wanted reports whether the spec still names the target of the switch-over: the same Engine object at the same address.
func (p *mover) wanted() bool {
	return p.target.Engine == p.s.Engine && p.target.Address() == p.s.target().Address() && p.w.Engines[p.s.Engine].UID == p.s.UID
}

// serves reports whether an engine runs where it is named.
func (p *mover) serves(t TargetSpec) bool {
	return t.Address() != "" && p.w.Engines[t.Engine].Address == t.Address()
}

// reopens reports whether the target on record can be opened again: its engine runs, on a node that is not down.
func (p *mover) reopens() bool { return p.serves(p.at) && !p.w.Engines[p.at.Engine].NodeOut }

// servesRecorded reports whether the engine of the switch-over (by UID) runs.
func (p *mover) servesRecorded() bool {
	return p.serves(p.s.target()) && p.w.Engines[p.s.Engine].UID == p.s.UID
}

// closable reports whether the target of the switch-over can be closed, or need not be. Where the state of its
// engine is unknown, I/O may go there.
func (p *mover) closable() bool {
	return p.servesRecorded() || p.gone(p.s) || p.pathLost(p.w.Engines[p.s.Engine]) || p.w.Engines[p.s.Engine].Failed
}

// gone reports whether the engine of a switch-over (by UID) positively no longer runs.
func (p *mover) gone(s Switchover) bool {
	e := p.w.Engines[s.Engine]
	return e.Gone || e.UID != "" && e.UID != s.UID
}

// loading is a disk that is being loaded where the frontend or one of the two engines is, or "".
func (p *mover) loading() string {
	old := p.w.Engines[p.at.Engine]
	if old.Gone || old.NodeOut { // no call goes there
		old.Loading = ""
	}
	return cmp.Or(p.w.Node.Loading, p.w.Engines[p.target.Engine].Loading, old.Loading)
}

// declined reports whether the server refused the last phase and the retry is not due.
func (p *mover) declined() bool { return p.w.MoveAfter.After(p.w.Now) }

// switchable reports whether servers support a switch-over of this kind of frontend, suspendable whether they support a suspension.
func (w World) switchable() bool {
	return !w.Object.DisableFrontend && (w.Object.Frontend == "blockdev" || w.Object.Frontend == "nvmf")
}

func (w World) suspendable() bool {
	return !w.Object.DisableFrontend && w.Object.Frontend == "blockdev"
}

// record is the target that the server has on record. If a server reports no active path, it is the only optimized path.
func record(e *Entry) TargetSpec {
	host, port, err := net.SplitHostPort(e.ActivePath)
	if n, bad := strconv.Atoi(port); err == nil && bad == nil {
		return TargetSpec{Engine: e.engineAt(e.ActivePath), IP: host, Port: n}
	}
	var found TargetSpec
	for _, path := range e.Paths {
		if path.ANAState != anaOptimized {
			continue
		}
		if found != (TargetSpec{}) {
			return TargetSpec{}
		}
		found = TargetSpec{Engine: path.EngineName, IP: path.TargetIP, Port: path.TargetPort}
	}
	return found
}

const anaOptimized = "optimized"

// engineAt is the engine on record: the one that the server reports, else that of the path to the address.
func (e *Entry) engineAt(where string) string {
	if e.EngineName != "" {
		return e.EngineName
	}
	for _, path := range e.Paths {
		if address(path.TargetIP, path.TargetPort) == where {
			return path.EngineName
		}
	}
	return ""
}

// Leads reports whether a frontend's server has an engine on record.
func Leads(e *Entry, engine string) bool { return record(e).Engine == engine }
