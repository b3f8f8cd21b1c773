package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/change"
	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

type volumeAction = func(request, *v1beta2.Volume) (any, error)

// pageActions returns the actions of a volume that only the pages of the web interface use.
func (s *server) pageActions() map[string]volumeAction {
	return map[string]volumeAction{
		"snapshotCreate": s.takeSnapshot, "snapshotList": s.listEngineSnapshots, "snapshotGet": s.getEngineSnapshot,
		"snapshotDelete": s.deleteSnapshot, "snapshotRevert": s.revert, "snapshotPurge": s.purge, "salvage": s.salvage,
		"replicaRemove": s.removeReplica, "cancelExpansion": s.cancelExpansion, "activate": s.activate, "engineUpgrade": s.upgradeEngine,
		"recurringJobAdd": s.addJob, "recurringJobDelete": s.deleteJob,
		"recurringJobList": func(r request, v *v1beta2.Volume) (any, error) { return listJobs(r, v), nil },
	}
}

// engineOf returns the only running engine of a volume, which lists the snapshots.
func (s *server) engineOf(r request, v *v1beta2.Volume) (*v1beta2.Engine, error) {
	engines, err := s.reader.enginesOf(r.ctx, v.Name)
	if err != nil {
		return nil, err
	}
	running := slices.DeleteFunc(engines, func(e *v1beta2.Engine) bool { return e.Status.CurrentState != v1beta2.InstanceStateRunning })
	switch len(running) {
	case 0:
		return nil, fmt.Errorf("volume %s is not attached: its snapshots are listed by a running engine; attach it, or use snapshotCRList",
			v.Name)
	case 1:
		return running[0], nil
	}
	return nil, fmt.Errorf("volume %s moves from one node to another: its snapshots are listed once it has moved", v.Name)
}

func (s *server) engineSnapshots(r request, v *v1beta2.Volume) ([]present.Snapshot, error) {
	engine, err := s.engineOf(r, v)
	if err != nil {
		return nil, err
	}
	var list v1beta2.SnapshotList
	of := client.MatchingFields{kube.FieldVolume: v.Name}
	if err := lookup.ListShared(r.ctx, s.reader.cache, s.reader.namespace, &list, of); err != nil {
		return nil, err
	}
	checksums := map[string]string{}
	for i := range list.Items {
		checksums[list.Items[i].Name] = list.Items[i].Status.Checksum
	}
	return present.NewSnapshots(r.base, engine, checksums), nil
}

func (s *server) listEngineSnapshots(r request, v *v1beta2.Volume) (any, error) {
	snapshots, err := s.engineSnapshots(r, v)
	if err != nil {
		return nil, err
	}
	return newCollection(r, wire.TypeSnapshot, snapshots), nil
}

func (s *server) getEngineSnapshot(r request, v *v1beta2.Volume) (any, error) {
	var in change.SnapshotInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.engineSnapshot(r, v, in.ObjectName())
}

func (s *server) engineSnapshot(r request, v *v1beta2.Volume, name string) (any, error) {
	snapshots, err := s.engineSnapshots(r, v)
	if err != nil {
		return nil, err
	}
	for _, one := range snapshots {
		if one.Name == name {
			return one, nil
		}
	}
	return nil, notFound("snapshot", name)
}

// takeSnapshot creates a Snapshot object, and waits until the engine lists the snapshot.
func (s *server) takeSnapshot(r request, v *v1beta2.Volume) (any, error) {
	var in change.SnapshotInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if _, err := s.engineOf(r, v); err != nil {
		return nil, err
	}
	snapshot := change.NewSnapshot(v, in, generatedName())
	if err := s.client.Create(r.ctx, snapshot); err != nil {
		return nil, fmt.Errorf("taking a snapshot of volume %s: %w", v.Name, plainly(err))
	}
	var taken any
	if err := s.await(r.ctx, func(context.Context) bool {
		found, err := s.engineSnapshot(r, v, snapshot.Name)
		taken = found
		return err == nil
	}); err != nil {
		return nil, fmt.Errorf("snapshot %s of volume %s is not taken yet: it is taken as soon as the engine can; its Snapshot object shows why "+
			"it waits", snapshot.Name, v.Name)
	}
	return taken, nil
}

// deleteSnapshot deletes the Snapshot object; snapshot-controller has its data merged.
func (s *server) deleteSnapshot(r request, v *v1beta2.Volume) (any, error) {
	snapshot, err := s.snapshotNamed(r)
	if err != nil {
		return nil, err
	}
	if err := s.removeSnapshot(r, v, snapshot); err != nil {
		return nil, err
	}
	return s.volumeNow(r, v)
}

// purge does nothing: the deletion of a Snapshot object merges its data.
func (s *server) purge(r request, v *v1beta2.Volume) (any, error) {
	disabled, err := s.reader.settingValue(r.ctx, "disable-snapshot-purge", v.Spec.DataEngine)
	if err != nil {
		return nil, err
	}
	if disabled == "true" {
		return nil, errors.New("the setting disable-snapshot-purge is true: deleted snapshots keep their data")
	}
	return s.volumeNow(r, v)
}

// revert asks for the state of a snapshot; attach-controller has the engine revert, and answers in the volume's condition Reverted.
func (s *server) revert(r request, v *v1beta2.Volume) (any, error) {
	snapshot, err := s.snapshotNamed(r)
	if err != nil {
		return nil, err
	}
	_, err = s.changeVolume(r, v, func(now *v1beta2.Volume) (map[string]any, error) {
		if err := change.RefuseRevert(now, snapshot); err != nil {
			return nil, err
		}
		return map[string]any{"revertToSnapshot": snapshot.Name, "revertRequestedAt": s.clock.Now().UTC().Format(time.RFC3339)}, nil
	})
	return nil, err
}

// salvage takes failed replicas back, so that the volume continues with their data.
func (s *server) salvage(r request, v *v1beta2.Volume) (any, error) {
	var in struct {
		Names []string `json:"names"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if len(in.Names) == 0 {
		return nil, errors.New("name the replicas to continue from: {\"names\": [\"<replica>\"]}")
	}
	var written client.Object
	if err := retried(r.ctx, func() error {
		replicas, err := s.salvageable(r.ctx, v.Name, in.Names)
		if err != nil {
			return err
		}
		for _, replica := range replicas {
			err := status.MergeSpec(r.ctx, s.client, replica, map[string]any{"failedAt": ""}, status.AtVersion(), status.Written(&written))
			if err != nil {
				return fmt.Errorf("salvaging replica %s: %w", replica.Name, plainly(err))
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	s.shown(r.ctx, written)
	return s.volumeNow(r, v)
}

// salvageable reads the replicas that a client names, and checks all of them before the first write: a replica that is taken back by
// mistake has old data.
func (s *server) salvageable(ctx context.Context, volume string, names []string) ([]*v1beta2.Replica, error) {
	v, err := fresh(ctx, s.reader, volume, &v1beta2.Volume{})
	if err != nil {
		return nil, err
	}
	if v.Status.State != v1beta2.VolumeStateDetached || v.Status.Robustness != v1beta2.VolumeRobustnessFaulted {
		return nil, fmt.Errorf("volume %s is %s and %s: only a volume that is detached and faulted is salvaged", v.Name, v.Status.State,
			v.Status.Robustness)
	}
	replicas := make([]*v1beta2.Replica, 0, len(names))
	for _, name := range names {
		replica, err := fresh(ctx, s.reader, name, &v1beta2.Replica{})
		if err != nil {
			return nil, err
		}
		if replica.Spec.VolumeName != volume {
			return nil, fmt.Errorf("replica %s is of volume %s, not of volume %s", name, replica.Spec.VolumeName, volume)
		}
		replicas = append(replicas, replica)
	}
	return replicas, nil
}

// removeReplica deletes a Replica; attach-controller lets it go once its data is not needed.
func (s *server) removeReplica(r request, v *v1beta2.Volume) (any, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	replica, err := find(r.ctx, s.reader, in.Name, &v1beta2.Replica{})
	if err != nil {
		return nil, err
	}
	if replica.Spec.VolumeName != v.Name {
		return nil, fmt.Errorf("replica %s is of volume %s, not of volume %s", in.Name, replica.Spec.VolumeName, v.Name)
	}
	if err := s.remove(r.ctx, replica); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("removing replica %s: %w", in.Name, plainly(err))
	}
	return s.volumeNow(r, v)
}

// cancelExpansion sets the size back to the engine's.
func (s *server) cancelExpansion(r request, v *v1beta2.Volume) (any, error) {
	engines, err := s.reader.enginesOf(r.ctx, v.Name)
	if err != nil {
		return nil, err
	}
	if len(engines) != 1 {
		return nil, fmt.Errorf("volume %s has %d engines: its expansion is cancelled once it has one", v.Name, len(engines))
	}
	has := engines[0].Status.CurrentSize
	switch {
	case has == v.Spec.Size || has == 0:
		return nil, fmt.Errorf("volume %s is not being expanded", v.Name)
	case engines[0].Status.IsExpanding:
		return nil, fmt.Errorf("the engine of volume %s expands it now, which cannot be stopped", v.Name)
	}
	return s.changeVolume(r, v, func(now *v1beta2.Volume) (map[string]any, error) {
		if now.Spec.Size != v.Spec.Size {
			return nil, fmt.Errorf("its size was changed to %d meanwhile: look again", now.Spec.Size)
		}
		return map[string]any{"size": strconv.FormatInt(has, 10)}, nil
	})
}

// activate makes a standby volume stop following its backups.
func (s *server) activate(r request, v *v1beta2.Volume) (any, error) {
	var in struct {
		Frontend string `json:"frontend"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if !v.Spec.Standby {
		return nil, fmt.Errorf("volume %s is no standby volume", v.Name)
	}
	return s.changeVolume(r, v, always(map[string]any{"frontend": cmp.Or(in.Frontend, "blockdev"), "Standby": false}))
}

// upgradeEngine names another engine image; a v1 volume takes it while it is detached.
func (s *server) upgradeEngine(r request, v *v1beta2.Volume) (any, error) {
	var in struct {
		Image string `json:"image"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if v.Spec.DataEngine == v1beta2.DataEngineV2 {
		return nil, errNotDone("engineUpgrade of a v2 volume",
			"its engine is replaced with the instance manager of its node; see kubectl drover upgrade")
	}
	return s.changeVolume(r, v, always(map[string]any{"image": in.Image}))
}

// always returns a decision that depends on nothing.
func always(fields map[string]any) func(*v1beta2.Volume) (map[string]any, error) {
	return func(*v1beta2.Volume) (map[string]any, error) { return fields, nil }
}

func (s *server) addJob(r request, v *v1beta2.Volume) (any, error) {
	return s.labelJob(r, v, v1beta2.RecurringEnabled)
}

func (s *server) deleteJob(r request, v *v1beta2.Volume) (any, error) { return s.labelJob(r, v, nil) }

// labelJob writes or removes a volume's label of a recurring job.
func (s *server) labelJob(r request, v *v1beta2.Volume, value any) (any, error) {
	var in change.JobSelector
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.Name == "" {
		return nil, errors.New("name the recurring job, or the group: {\"name\": \"<job>\", \"isGroup\": false}")
	}
	labels := map[string]any{"labels": map[string]any{change.JobLabel(in): value}}
	var written client.Object
	if err := status.Merge(r.ctx, s.client, v, "metadata", labels, status.Written(&written)); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, notFound("volume", v.Name)
		}
		return nil, fmt.Errorf("labelling volume %s: %w", v.Name, plainly(err))
	}
	s.shown(r.ctx, written)
	return listJobs(r, written), nil
}

func listJobs(r request, v client.Object) any {
	var out []present.VolumeJob
	for _, j := range change.JobsOf(v.GetLabels()) {
		out = append(out, present.NewVolumeJob(r.base, j.Name, j.IsGroup))
	}
	return newCollection(r, wire.TypeVolumeJob, out)
}
