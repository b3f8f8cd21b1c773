package enginepoll

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// byLabel finds Engines, and Backups that are not ended, by the label that Backups have of their volume.
const byLabel = "backup-volume"

// selectVolume selects Snapshots by their volume at the API server.
const selectVolume = "spec.volume"

var indexes = []kube.Index{
	kube.ByVolume(&v1beta2.Engine{}), kube.ByVolume(&v1beta2.EngineFrontend{}), kube.ByVolume(&v1beta2.Snapshot{}),
	kube.IndexBy(&v1beta2.Engine{}, byLabel, func(e *v1beta2.Engine) string { return v1beta2.LabelValue(e.Spec.VolumeName) }),
	kube.IndexBy(&v1beta2.Backup{}, byLabel, func(b *v1beta2.Backup) string {
		if v1beta2.IsBackupEnded(b) {
			return ""
		}
		return b.Labels[v1beta2.LabelBackupVolume]
	}),
}

// engineChanged passes what a poll has to follow.
func engineChanged() predicate.Predicate {
	return predicate.Or(kube.OnChange(where), kube.OnDeepChange(func(e *v1beta2.Engine) v1beta2.EngineSpec { return e.Spec }))
}

// replicaEnded passes only that a replica's instance is no longer running.
func replicaEnded() predicate.Predicate {
	return predicate.And(kube.NotCreated(), kube.OnRequest(func(r *v1beta2.Replica) bool {
		return r.Status.CurrentState != v1beta2.InstanceStateRunning
	}))
}

// snapshotRequested passes what makes a poll of the volume's engine due at once: a snapshot that is to be taken, or removed, or that was
// deleted while it was asked for.
func snapshotRequested() predicate.Predicate {
	return kube.OnRequest(func(s *v1beta2.Snapshot) enginesnapshot.Wish { return enginesnapshot.WishOf(snapshotOf(s)) })
}

// backupRequested passes a Backup that was approved.
func backupRequested() predicate.Predicate {
	return kube.OnRequest(func(b *v1beta2.Backup) bool { return backup.Wants(backupOf(b)) })
}

// enginesOf are the engines of a volume, which the cache shares.
func (c *Controller) enginesOf(ctx context.Context, volume string) ([]v1beta2.Engine, error) {
	var engines v1beta2.EngineList
	err := lookup.ListShared(ctx, c.rt.Client, c.rt.Namespace, &engines, client.MatchingFields{kube.FieldVolume: volume})
	return engines.Items, err
}

// mapped are the engines that an event may concern, which the cache shares.
func (c *Controller) mapped(ctx context.Context, index, value string) []v1beta2.Engine {
	var engines v1beta2.EngineList
	c.mapper.List(ctx, &engines, client.MatchingFields{index: value})
	return engines.Items
}

// ofReplica are the engines that may use a replica whose instance is no longer running: they will notice in a moment.
func (c *Controller) ofReplica(ctx context.Context, obj client.Object) (out []string) {
	engines := c.mapped(ctx, kube.FieldVolume, kube.VolumeName(obj))
	for i := range engines {
		e := &engines[i]
		if _, mapped := e.Spec.ReplicaAddressMap[obj.GetName()]; mapped {
			c.memory.unsettle(e.Name, c.rt.Clock.Now().Add(unsettled))
			out = append(out, e.Name)
		}
	}
	return out
}

// ofSnapshot is the active engine of a snapshot's volume, if it runs.
func (c *Controller) ofSnapshot(ctx context.Context, obj client.Object) []string {
	return active(c.mapped(ctx, kube.FieldVolume, kube.VolumeName(obj)))
}

// ofBackup are the active engines that run of the volume whose label the Backup has.
func (c *Controller) ofBackup(ctx context.Context, obj client.Object) []string {
	label := obj.GetLabels()[v1beta2.LabelBackupVolume]
	if label == "" {
		return nil
	}
	return active(c.mapped(ctx, byLabel, label))
}

func active(engines []v1beta2.Engine) (out []string) {
	for i := range engines {
		if e := &engines[i]; e.Spec.Active && runs(e) {
			out = append(out, e.Name)
		}
	}
	return out
}
