package backupcontroller

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// watches maps the events of other objects to the Backups that they are about and that are not ended.
type watches struct{ kube.Mapper }

func (w watches) add(b *builder.Builder) *builder.Builder {
	attachments := builder.WithPredicates(onAttachment())
	return b.
		Watches(&v1beta2.Snapshot{}, w.by(bySnapshot, client.Object.GetName), changed(snapshotFacts)).
		Watches(&v1beta2.Volume{}, w.ofVolume(client.Object.GetName), changed(volumeFacts)).
		Watches(&v1beta2.VolumeAttachment{}, w.ofVolume(client.Object.GetName), attachments).
		Watches(&v1beta2.VolumeAttachment{}, w.To(holders), attachments).
		Watches(&v1beta2.Engine{}, w.ofVolume(kube.VolumeName), changed(engineFacts)).
		Watches(&v1beta2.Replica{}, w.ofVolume(kube.VolumeName), changed(replicaFacts)).
		Watches(&v1beta2.Node{}, w.To(w.onNode), changed(nodeFacts)).
		Watches(&v1beta2.BackupTarget{}, w.by(byOpen, yes), changed(targetFacts))
}

// ofVolume enqueues the Backups of the volume that name returns for an object.
func (w watches) ofVolume(name func(client.Object) string) handler.EventHandler {
	return w.by(byVolume, func(obj client.Object) string { return v1beta2.LabelValue(name(obj)) })
}

// by enqueues the Backups that an index has under the key of an object.
func (w watches) by(index string, key func(client.Object) string) handler.EventHandler {
	return w.To(func(ctx context.Context, obj client.Object) []string {
		return w.Names(ctx, &v1beta2.BackupList{}, client.MatchingFields{index: key(obj)})
	})
}

// onNode are the Backups of the volumes that use a node, or have a replica there.
func (w watches) onNode(ctx context.Context, node client.Object) []string {
	on := client.MatchingFields{kube.FieldNode: node.GetName()}
	volumes := slices.Concat(
		w.Names(ctx, &v1beta2.VolumeList{}, client.MatchingFields{byAttached: node.GetName()}),
		w.NamesBy(ctx, kube.VolumeName, &v1beta2.EngineList{}, on),
		w.NamesBy(ctx, kube.VolumeName, &v1beta2.ReplicaList{}, on))
	slices.Sort(volumes)
	var out []string
	for _, volume := range slices.Compact(volumes) {
		out = append(out, w.Names(ctx, &v1beta2.BackupList{}, client.MatchingFields{byVolume: v1beta2.LabelValue(volume)})...)
	}
	return out
}

func yes(client.Object) string { return kube.Yes }

// holders are the Backups that a VolumeAttachment has tickets of, ended ones, too: the cache may show a ticket, or that it is
// gone, only after the end, and its Backup could not let go.
func holders(_ context.Context, obj client.Object) []string {
	var out []string
	for _, t := range obj.(*v1beta2.VolumeAttachment).Spec.AttachmentTickets {
		if t.Type == v1beta2.AttacherBackup {
			out = append(out, t.Parameters[v1beta2.TicketOwnerName])
		}
	}
	return out
}

// changed lets updates pass that change what is decided by. Each Backup is decided on when its own first event comes, so
// that what other objects are at the start of the process is no news.
func changed[O client.Object, F comparable](facts func(O) F) builder.WatchesOption {
	return builder.WithPredicates(kube.OnChange(facts), kube.OnceRunning())
}

func snapshotFacts(s *v1beta2.Snapshot) string {
	return conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) + "/" + string(snapshot.UID(s))
}

type ofVolumes struct {
	generation                   int64
	state, robust, move, filling string
}

func volumeFacts(v *v1beta2.Volume) ofVolumes {
	filling, _ := snapshot.Filling(v)
	return ofVolumes{v.Generation, v.Status.State, v.Status.Robustness, v.Status.CurrentMigrationNodeID, filling}
}

type ofEngines struct {
	state, node string
	active      bool
}

func engineFacts(e *v1beta2.Engine) ofEngines {
	return ofEngines{e.Status.CurrentState, e.Spec.NodeID, e.Spec.Active}
}

type ofReplicas struct {
	node                   string
	failed, healthy, inUse bool
	second                 bool
}

func replicaFacts(r *v1beta2.Replica) ofReplicas {
	return ofReplicas{r.Spec.NodeID, r.Spec.FailedAt != "", r.Spec.HealthyAt != "", volumecontext.InUse(r), v1beta2.IsSecondProcess(r)}
}

type ofNodes struct{ can, down, upgrading bool }

func nodeFacts(n *v1beta2.Node) ofNodes {
	return ofNodes{snapshot.CanAttach(n), v1beta2.IsNodeDown(n), n.Spec.UpgradeRequested}
}

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

// onAttachment lets pass that one came or goes, and what happened to a ticket of a backup.
func onAttachment() predicate.Predicate {
	ticket := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return backup.TicketsDiffer(e.ObjectOld.(*v1beta2.VolumeAttachment), e.ObjectNew.(*v1beta2.VolumeAttachment))
	}}
	return predicate.And(kube.OnceRunning(), predicate.Or(kube.OnLife(), ticket))
}
