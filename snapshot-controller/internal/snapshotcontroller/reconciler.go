package snapshotcontroller

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// reconciler decides on one snapshot and does the verdict's one write; the event of that write brings the next.
type reconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	purges   *purgeQueue
	enqueue  func(names []string)

	mutex  sync.Mutex
	seeded bool
	uids   map[string]types.UID // of those in the queue, by name
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if err := r.seed(ctx); err != nil {
		return ctrl.Result{}, err
	}
	world, verdict, again, err := r.decide(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	r.keepPlace(request.Name, world, verdict)
	result := ctrl.Result{RequeueAfter: r.sooner(again, verdict.Enqueue)}
	if world == nil || verdict.Step == snapshot.StepNone {
		return result, nil
	}
	if err := apply(ctx, r.client, world, verdict); apierrors.IsNotFound(err) {
		return result, nil // it was done before, or nothing is left of it
	} else if err != nil {
		return ctrl.Result{}, err
	}
	events.Emit(r.recorder, world.Snapshot, eventsOf(world.Snapshot, verdict)...)
	count(verdict)
	log.FromContext(ctx).Info("verdict applied", "name", world.Snapshot.Name, "volume", world.Snapshot.Spec.Volume,
		"step", verdict.Step, "reason", verdict.Reason, "message", verdict.Message)
	return result, nil
}

// sooner is how long until the earlier of the two; zero is never.
func (r *reconciler) sooner(again time.Duration, at time.Time) time.Duration {
	if at.IsZero() {
		return again
	}
	wait := kube.Until(at, r.observer.clock.Now())
	if again == 0 || wait < again {
		return wait
	}
	return again
}

// decide returns a nil world where the snapshot is gone, and when to ask for a place again. A volume's absence counts once
// it was seen uncached.
func (r *reconciler) decide(ctx context.Context, name string) (*snapshot.World, snapshot.Verdict, time.Duration, error) {
	world, verdict, again, err := r.decideOnce(ctx, name, false)
	if world == nil || err != nil || !verdict.Confirm {
		return world, verdict, again, err
	}
	return r.decideOnce(ctx, name, true)
}

func (r *reconciler) decideOnce(ctx context.Context, name string, live bool) (*snapshot.World, snapshot.Verdict, time.Duration, error) {
	world, values, err := r.observer.observe(ctx, name, live)
	if world == nil || err != nil {
		return nil, snapshot.Verdict{}, 0, err
	}
	verdict := snapshot.Decide(*world)
	if !verdict.NeedsPlace {
		return world, verdict, 0, nil
	}
	var again time.Duration
	world.Place, again = r.place(world, values)
	return world, snapshot.Decide(*world), again, nil
}

// place asks the queue of the node where the volume is, or would be, attached.
func (r *reconciler) place(w *snapshot.World, values setting.Values) (snapshot.Place, time.Duration) {
	node := w.Candidate
	if w.Engine != nil && w.Engine.Spec.NodeID != "" {
		node = w.Engine.Spec.NodeID
	}
	s := w.Snapshot
	t := entry{uid: s.UID, name: s.Name, volume: s.Spec.Volume, node: node, since: s.DeletionTimestamp.Time}
	r.mutex.Lock()
	earlier, known := r.uids[s.Name]
	r.uids[s.Name] = s.UID
	r.mutex.Unlock()
	if known && earlier != s.UID {
		r.enqueue(r.purges.leave(earlier)) // its end was not seen: it was created again under its name at once
	}
	answer := r.purges.enter(t, claim{
		now: w.Now, works: w.Attached(), limit: values.PurgesPerNode,
		approved: conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotRemovalApproved),
	})
	r.enqueue(answer.enqueue)
	if answer.granted {
		return snapshot.PlaceGranted, 0
	}
	return snapshot.PlaceRefused, answer.again
}

// keepPlace gives a place back that the verdict does not hold.
func (r *reconciler) keepPlace(name string, w *snapshot.World, v snapshot.Verdict) {
	if w != nil && v.Holds {
		return
	}
	r.mutex.Lock()
	uid, held := r.uids[name]
	delete(r.uids, name)
	r.mutex.Unlock()
	if held {
		r.enqueue(r.purges.leave(uid))
	}
}

// seed gives those their places that were approved before this process began, so that no others get them first, and adds those that waited
// to the queue, so that none goes before one that was deleted earlier and is decided on later.
func (r *reconciler) seed(ctx context.Context) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.seeded {
		return nil
	}
	for _, group := range []struct {
		index, key string
		enter      func(entry)
	}{
		{byApproved, kube.Yes, func(t entry) { r.purges.enter(t, claim{approved: true, works: true}) }},
		{byReason, v1beta2.ReasonPurgeLimited, r.purges.expect},
		{byReason, v1beta2.ReasonWaitingForAttach, r.purges.expect},
	} {
		var list v1beta2.SnapshotList
		if err := r.observer.list(ctx, &list, group.index, group.key); err != nil {
			return err
		}
		for i := range list.Items {
			s := &list.Items[i]
			node, err := r.nodeOf(ctx, s.Spec.Volume)
			if err != nil {
				return err
			}
			if node != "" && s.DeletionTimestamp != nil {
				r.uids[s.Name] = s.UID
				group.enter(entry{uid: s.UID, name: s.Name, volume: s.Spec.Volume, node: node, since: s.DeletionTimestamp.Time})
			}
		}
	}
	r.seeded = true
	return nil
}

// nodeOf is the node of a volume's active engine; empty: none is to run.
func (r *reconciler) nodeOf(ctx context.Context, volume string) (string, error) {
	var engines v1beta2.EngineList
	if err := r.observer.list(ctx, &engines, kube.FieldVolume, volume); err != nil {
		return "", fmt.Errorf("finding the node of volume %s: %w", volume, err)
	}
	for i := range engines.Items {
		if e := &engines.Items[i]; e.Spec.Active && e.Spec.NodeID != "" {
			return e.Spec.NodeID, nil
		}
	}
	return "", nil
}
