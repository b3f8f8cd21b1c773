package orphancontroller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/status"
)

func (s *base) logFor(key orphan.Key) logr.Logger {
	return s.log.WithValues("instanceManager", key.InstanceManager, "instance", key.Name)
}

// create creates the missing Orphans, once a re-verification confirms them, and writes their first status. A crash between the
// two is repaired by the next pass, which finds the Orphan without status. It returns when to evaluate again although no
// event will report it; zero is never.
func (r *evaluator) create(ctx context.Context, first scene, v orphan.Verdict) (time.Duration, error) {
	again, second, err := r.reverify(ctx, first)
	if err != nil {
		return 0, err
	}
	if again.world.Inventory == nil {
		if _, known := r.store.Latest(first.world.Key.InstanceManager); known {
			// The server is only slow, and its next list may report nothing new.
			return execute.AfterFailure.First, nil
		}
		// The inventory enqueues us when it knows again.
		return 0, nil
	}
	var pollAgain time.Duration
	for _, wanted := range v.Creations() {
		if !second.Confirms(wanted) {
			nonDecisions.WithLabelValues(v1beta2.ReasonSecondLookDisagrees).Inc()
			events.Emit(r.recorder, first.manager, reverificationEvent(first.world.Key, v.Evaluation, second.Evaluation))
			continue
		}
		if wanted.OrphanType == v1beta2.OrphanTypeReplicaData && !r.onDisk(ctx, first.world.Key, wanted.Parameters) {
			pollAgain = execute.ListTimeout
			continue
		}
		if err := r.createOne(ctx, again, *wanted); err != nil {
			return 0, err
		}
	}
	return pollAgain, nil
}

func (r *evaluator) createOne(ctx context.Context, again scene, wanted orphan.Creation) error {
	o := orphanObject(r.namespace, wanted)
	if err := r.client.Create(ctx, o, client.FieldOwner(fieldOwner)); err != nil {
		if apierrors.IsAlreadyExists(err) {
			// The cache does not show it yet; its event enqueues the key.
			return nil
		}
		return fmt.Errorf("creating orphan %s: %w", o.Name, err)
	}
	again.orphans = []*v1beta2.Orphan{o}
	again.world.Orphans = []orphan.Orphan{r.orphanOf(o, again.world.Key.InstanceManager)}
	verdict := orphan.Evaluate(again.world)
	current := conditions.Get(verdict.Orphans[0].Conditions, v1beta2.OrphanOrphaned)
	if current != nil {
		created.WithLabelValues(current.Reason, o.Spec.DataEngine).Inc()
		r.logFor(again.world.Key).Info("orphan created", "name", o.Name, "node", o.Spec.NodeID, "orphanType", o.Spec.OrphanType, "reason",
			current.Reason)
		events.Emit(r.recorder, o, createdEvent(current.Message))
	}
	return r.writeStatuses(ctx, again, verdict)
}

func orphanObject(namespace string, c orphan.Creation) *v1beta2.Orphan {
	return &v1beta2.Orphan{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.Name, Labels: c.Labels, Finalizers: []string{v1beta2.Finalizer}},
		Spec:       v1beta2.OrphanSpec{DataEngine: c.DataEngine, NodeID: c.Node, OrphanType: c.OrphanType, Parameters: c.Parameters},
	}
}

// writeStatuses applies what each Orphan must report, where that differs from what it reports. An end, withdrawal or
// evidence, is written under the lock that the executor holds during a call: else the Orphan could be gone while its call may
// still be executed, and a new leader could start the name. The executor enqueues the evaluation afterwards.
func (r *evaluator) writeStatuses(ctx context.Context, seen scene, v orphan.Verdict) error {
	for i, wanted := range v.Orphans {
		if wanted.Withdrawn != "" || wanted.Terminated {
			unlock, ok := r.guard.Locks.TryLock(execute.Key(seen.world.Key))
			if !ok {
				r.evaluationQueue.AddAfter(seen.world.Key, execute.BusyDelay)
				continue
			}
			defer unlock()
		}
		if err := r.writeStatus(ctx, seen.world.Key, seen.orphans[i], wanted); err != nil {
			return err
		}
	}
	return nil
}

func (r *evaluator) writeStatus(ctx context.Context, key orphan.Key, o *v1beta2.Orphan, wanted orphan.OrphanVerdict) error {
	current := conditions.Owned(o.Status.Conditions, orphan.OwnedConditions()...)
	if conditions.Equal(current, wanted.Conditions) && o.Status.OwnerID == wanted.OwnerID {
		return nil
	}
	if r.written.Stale(o) {
		r.evaluationQueue.AddAfter(key, kube.ConflictPause)
		return nil
	}
	fields := map[string]any{
		"ownerID":    wanted.OwnerID,
		"conditions": status.ConditionsField(dated(wanted.Conditions, r.clock.Now())),
	}
	err := status.Apply(ctx, r.client, o, fieldOwner, fields, status.AtVersion())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status of orphan %s: %w", o.Name, err)
	}
	r.written.Record(o)
	r.emit(key, o, current, wanted)
	return nil
}

// dated fills the transition times that are new.
func dated(list []v1beta2.Condition, now time.Time) []v1beta2.Condition {
	out := make([]v1beta2.Condition, len(list))
	for i, c := range list {
		if c.LastTransitionTime == "" {
			c.LastTransitionTime = now.UTC().Format(time.RFC3339)
		}
		out[i] = c
	}
	return out
}

// emit logs, counts and reports what a status that was just written means.
func (r *evaluator) emit(key orphan.Key, o *v1beta2.Orphan, current []v1beta2.Condition, wanted orphan.OrphanVerdict) {
	log := r.logFor(key).WithValues("name", o.Name, "uuid", o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID])
	switch {
	case wanted.Withdrawn != "":
		withdrawn.WithLabelValues(wanted.Withdrawn).Inc()
		message := conditions.Get(wanted.Conditions, v1beta2.OrphanWithdrawn).Message
		log.Info("orphan withdrawn", "reason", wanted.Withdrawn)
		events.Emit(r.recorder, o, withdrawnEvent(wanted.Withdrawn, message))
	case wanted.Terminated:
		terminatedTotal.Inc()
		log.Info("orphan's instance ended")
		events.Emit(r.recorder, o, terminatedEvent(conditions.Get(wanted.Conditions, v1beta2.OrphanInstanceState).Message))
	}
	failure := conditions.Get(wanted.Conditions, v1beta2.OrphanCleanupFailed)
	if failure != nil && failure.Reason != conditions.Reason(current, v1beta2.OrphanCleanupFailed) {
		log.Info("cleanup failed", "reason", failure.Reason, "message", failure.Message)
		events.Emit(r.recorder, o, failedEvent(orphan.Failure{Reason: failure.Reason, Message: failure.Message}))
	}
}
