package backupcontroller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// watches maps the events of other objects to the Backups that they are about and that are not ended.
type watches struct {
	reader    client.Reader
	namespace string
}

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Snapshot{}, w.to(func(o client.Object) (string, string) { return bySnapshot, o.GetName() }),
			changed(snapshotFacts)).
		Watches(&v1beta2.Volume{}, w.to(volumeNamed(client.Object.GetName)), changed(volumeFacts)).
		Watches(&v1beta2.VolumeAttachment{}, w.to(volumeNamed(client.Object.GetName)), builder.WithPredicates(attachments())).
		Watches(&v1beta2.VolumeAttachment{}, handler.EnqueueRequestsFromMapFunc(w.holders), builder.WithPredicates(attachments())).
		Watches(&v1beta2.Engine{}, w.to(volumeNamed(func(o client.Object) string { return o.(*v1beta2.Engine).Spec.VolumeName })),
			changed(engineFacts)).
		Watches(&v1beta2.Replica{}, w.to(volumeNamed(func(o client.Object) string { return o.(*v1beta2.Replica).Spec.VolumeName })),
			changed(replicaFacts)).
		Watches(&v1beta2.Node{}, w.to(everyOpen), changed(nodeFacts)).
		Watches(&v1beta2.BackupTarget{}, w.to(everyOpen), changed(targetFacts))
}

func volumeNamed(name func(client.Object) string) func(client.Object) (string, string) {
	return func(o client.Object) (string, string) { return byVolume, v1beta2.LabelValue(name(o)) }
}

func everyOpen(client.Object) (string, string) { return byOpen, yes }

// to enqueues the Backups that an index has under the key of an object.
func (w watches) to(key func(client.Object) (index, key string)) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		index, value := key(o)
		var list v1beta2.BackupList
		err := w.reader.List(ctx, &list, client.InNamespace(w.namespace), client.MatchingFields{index: value}, client.UnsafeDisableDeepCopy)
		if err != nil {
			// A list from a running cache fails only while the process stops.
			log.FromContext(ctx).Error(err, "listing from the cache")
		}
		out := make([]reconcile.Request, 0, len(list.Items))
		for i := range list.Items {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: list.Items[i].Name}})
		}
		return out
	})
}

// holders enqueues the Backups that a VolumeAttachment has tickets of, ended ones, too: the cache may show a ticket, or that it is
// gone, only after the end, and its Backup could not let go.
func (w watches) holders(_ context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, t := range o.(*v1beta2.VolumeAttachment).Spec.AttachmentTickets {
		if t.Type == v1beta2.AttacherBackup {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace,
				Name: t.Parameters[v1beta2.TicketOwnerName]}})
		}
	}
	return out
}

// changed lets updates pass that change what is decided by. Each Backup is decided on when its own first event comes, so
// that what other objects are at the start of the process is no news.
func changed[O client.Object, F comparable](facts func(O) F) builder.WatchesOption {
	return builder.WithPredicates(predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(O), e.ObjectNew.(O)
			return was.GetUID() != is.GetUID() || (was.GetDeletionTimestamp() == nil) != (is.GetDeletionTimestamp() == nil) ||
				facts(was) != facts(is)
		},
	})
}

func snapshotFacts(s *v1beta2.Snapshot) string {
	return conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) + "/" + string(snapshot.UID(s))
}

type ofVolumes struct {
	generation          int64
	state, robust, move string
}

func volumeFacts(v *v1beta2.Volume) ofVolumes {
	return ofVolumes{v.Generation, v.Status.State, v.Status.Robustness, v.Status.CurrentMigrationNodeID}
}

type ofEngines struct {
	state  string
	active bool
}

func engineFacts(e *v1beta2.Engine) ofEngines { return ofEngines{e.Status.CurrentState, e.Spec.Active} }

type ofReplicas struct {
	node            string
	failed, healthy bool
}

func replicaFacts(r *v1beta2.Replica) ofReplicas {
	return ofReplicas{r.Spec.NodeID, r.Spec.FailedAt != "", r.Spec.HealthyAt != ""}
}

type ofNodes struct{ can, down bool }

func nodeFacts(n *v1beta2.Node) ofNodes { return ofNodes{snapshot.CanAttach(n), v1beta2.IsNodeDown(n)} }

type ofTargets struct {
	generation int64
	available  bool
	synced     bool
	reason, at string
}

func targetFacts(t *v1beta2.BackupTarget) ofTargets {
	facts := ofTargets{generation: t.Generation, available: t.Status.Available, synced: t.Status.LastSyncedAt != ""}
	if c := conditions.Get(t.Status.Conditions, v1beta2.BackupTargetAvailable); c != nil && c.Status == v1beta2.ConditionFalse {
		facts.reason, facts.at = c.Reason, c.LastProbeTime
	}
	return facts
}

// attachments lets pass that one came or goes, and what happened to a ticket of a backup.
func attachments() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1beta2.VolumeAttachment), e.ObjectNew.(*v1beta2.VolumeAttachment)
			return (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) || backup.TicketsDiffer(was, is)
		},
	}
}
