package machine

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
)

// What several concerns do to engines and frontends.

// stopInstances stops a frontend and then its engine; it reports whether neither delays the next step. One on a down node delays nothing:
// its end is awaited last.
func (d *draft) stopInstances(f *v1beta2.EngineFrontend, e *v1beta2.Engine) bool {
	if f != nil {
		if f.Spec.DesireState != v1beta2.InstanceStateStopped {
			d.patch(StageRun, f, "desireState", v1beta2.InstanceStateStopped)
		}
		if i := ofFrontend(f); !d.stopped(i) && !d.nodeDown(i.node) {
			return d.wait(v1beta2.ReasonWaitingForFrontend, fmt.Sprintf("Frontend %s on %s is %s and must stop.", f.Name, i.node, d.stateOf(i)))
		}
	}
	if e != nil {
		if e.Spec.DesireState != v1beta2.InstanceStateStopped {
			d.patch(StageRun, e, "desireState", v1beta2.InstanceStateStopped)
		}
		if i := ofEngine(e); !d.stopped(i) && !d.nodeDown(i.node) {
			return d.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Engine %s on %s is %s and must stop.", e.Name, i.node, d.stateOf(i)))
		}
	}
	return true
}

// stopOtherEngines stops and deletes the engines beside the two that count.
func (d *draft) stopOtherEngines() (stopped bool) {
	stopped = true
	for _, e := range d.otherEngines() {
		switch {
		case !d.stopInstances(nil, e):
			stopped = false
		case d.stopped(ofEngine(e)):
			d.remove(e)
		}
	}
	return stopped
}

func (f Facts) otherEngines() []*v1beta2.Engine {
	return slices.DeleteFunc(slices.Clone(f.Engines), func(e *v1beta2.Engine) bool { return e == f.engine || e == f.second })
}

// deleteSecond deletes what a migration that ended left behind.
func (d *draft) deleteSecond() {
	if d.secondFrontend != nil {
		d.remove(d.secondFrontend)
	}
	if d.second != nil {
		d.remove(d.second)
	}
}

// remove deletes an object, and drops its finalizer once it is being deleted. No instance of it runs any more.
func (d *draft) remove(object metav1.Object) {
	if object.GetDeletionTimestamp() == nil {
		d.add(Write{Kind: Delete, Stage: StageRemove, Object: object})
		return
	}
	if _, other := object.(*v1beta2.VolumeAttachment); other {
		return
	}
	if e, ok := object.(*v1beta2.Engine); ok {
		d.abandon(e)
	}
	d.add(Write{Kind: DropFinalizer, Stage: StageRemove, Object: object})
}

// abandon records the instances of an engine that may still run: its node is not reachable, or an earlier instance of its name was left
// behind. Without its object, such an instance looks like one whose object was lost.
func (d *draft) abandon(e *v1beta2.Engine) {
	holder := abandoned.Holder{Name: e.Name, Volume: v1beta2.VolumeUIDOf(e), Node: e.Spec.NodeID}
	if i := ofEngine(e); i.nodeDown {
		holder.Node = ""
	}
	for _, r := range abandoned.Records(holder, d.Listed[e.Name], d.Now) {
		d.writes = append(d.writes, &Write{Kind: Abandon, Stage: StageAbandon, Object: e, Record: r})
	}
}

// connectFrontend requests that a frontend runs on the node and leads to an engine; it reports whether the frontend runs.
func (d *draft) connectFrontend(f *v1beta2.EngineFrontend, e *v1beta2.Engine, node string) bool {
	i := ofFrontend(f)
	if switchPending(f) {
		return d.waitSuspended(v1beta2.ReasonWaitingForFrontend, "All I/O is suspended until its frontend leads to its target.")
	}
	if !i.wanted || i.node != node || f.Spec.TargetIP != e.Status.StorageIP || f.Spec.TargetPort != e.Status.Port ||
		f.Spec.EngineName != e.Name {
		for key, value := range map[string]any{
			"nodeID": node, "desireState": v1beta2.InstanceStateRunning, "engineName": e.Name, "targetIP": e.Status.StorageIP,
			"targetPort": e.Status.Port, "disableFrontend": d.Volume.Spec.DisableFrontend, "frontend": d.Volume.Spec.Frontend, "image": d.image(),
		} {
			d.patch(StageRun, f, key, value)
		}
		if f.Spec.SuspendRequestedAt != "" {
			d.patch(StageRun, f, "suspendRequestedAt", d.suspendRequest(i))
		}
		d.label(StageRun, f, v1beta2.LabelNode, node)
	}
	if i.node == node && i.wanted && d.running(i) {
		return true
	}
	return d.wait(v1beta2.ReasonWaitingForFrontend, fmt.Sprintf("Frontend %s is about to run on %s; it is %s.%s", f.Name, node, d.stateOf(i),
		NotStarted(f.Status.Conditions)))
}

func (d *draft) resizeFrontend(to int64) {
	d.patch(StageRun, d.frontend, "size", size(to))
	d.patch(StageRun, d.frontend, "volumeSize", size(to))
}

// pollAge is how old the request of an engine poll may be when a decision relies on its answer, such as a second engine over the same
// replicas.
const pollAge = 10 * time.Second

// requestPoll requests an engine poll if the last one is too old. Times are those of this clock: the answer repeats the request.
func (d *draft) requestPoll() bool {
	asked, errAsked := time.Parse(time.RFC3339Nano, d.engine.Spec.LookRequestedAt)
	polled, errPolled := time.Parse(time.RFC3339Nano, d.engine.Status.LookedAt)
	age := d.Now.Sub(asked)
	recent := errAsked == nil && age >= 0 && age < pollAge // a request in the future comes from another clock
	if recent && errPolled == nil && !polled.Before(asked) {
		return true
	}
	if !recent {
		d.patch(StageRun, d.engine, "lookRequestedAt", d.Now.UTC().Format(time.RFC3339Nano))
	}
	return false
}
