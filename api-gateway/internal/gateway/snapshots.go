package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/change"
	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// createSnapshotCR creates a Snapshot object; snapshot-controller has the snapshot taken.
func (s *server) createSnapshotCR(r request, v *v1beta2.Volume) (any, error) {
	var in change.SnapshotInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if v.Spec.MigrationNodeID != "" {
		return nil, fmt.Errorf("volume %s moves to node %s: no snapshot is taken meanwhile; try again once it has moved", v.Name,
			v.Spec.MigrationNodeID)
	}
	snapshot := change.NewSnapshot(v, in, generatedName())
	err := s.client.Create(r.ctx, snapshot)
	if apierrors.IsAlreadyExists(err) && in.Name != in.ObjectName() {
		return s.sameSnapshot(r, v, snapshot.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("creating snapshot %q of volume %s: %w", snapshot.Name, v.Name, plainly(err))
	}
	s.shown(r.ctx, snapshot)
	return present.NewSnapshotCR(r.base, snapshot), nil
}

// sameSnapshot answers a client that creates a snapshot again: it searches the list for its own name, which has capital letters, in vain.
func (s *server) sameSnapshot(r request, v *v1beta2.Volume, name string) (any, error) {
	existing, err := find(r.ctx, s.reader, name, &v1beta2.Snapshot{})
	if err != nil {
		return nil, err
	}
	if existing.Spec.Volume != v.Name {
		return nil, fmt.Errorf("creating snapshot %q of volume %s: it already exists, of volume %s", name, v.Name, existing.Spec.Volume)
	}
	return present.NewSnapshotCR(r.base, existing), nil
}

// snapshotNamed reads the Snapshot object that the body names; 404 if it does not exist.
func (s *server) snapshotNamed(r request) (*v1beta2.Snapshot, error) {
	var in change.SnapshotInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return find(r.ctx, s.reader, in.ObjectName(), &v1beta2.Snapshot{})
}

func (s *server) getSnapshotCR(r request, _ *v1beta2.Volume) (any, error) {
	snapshot, err := s.snapshotNamed(r)
	if err != nil {
		return nil, err
	}
	return present.NewSnapshotCR(r.base, snapshot), nil
}

func (s *server) listSnapshotCRs(r request, v *v1beta2.Volume) (any, error) {
	var list v1beta2.SnapshotList
	return collect(r, s.reader, wire.TypeSnapshotCR, &list, &list.Items, present.NewSnapshotCR,
		client.MatchingFields{kube.FieldVolume: v.Name})
}

// deleteSnapshotCR deletes a Snapshot object; snapshot-controller has its data merged. A missing object counts as deleted.
func (s *server) deleteSnapshotCR(r request, v *v1beta2.Volume) (any, error) {
	snapshot, err := s.snapshotNamed(r)
	if err != nil {
		if statusOf(err) == http.StatusNotFound {
			return wire.NewEmpty(), nil
		}
		return nil, err
	}
	return wire.NewEmpty(), s.removeSnapshot(r, v, snapshot)
}

// removeSnapshot deletes a Snapshot object of a volume, and no other object of its name.
func (s *server) removeSnapshot(r request, v *v1beta2.Volume, snapshot *v1beta2.Snapshot) error {
	if snapshot.Spec.Volume != v.Name {
		return fmt.Errorf("snapshot %s is of volume %s, not of volume %s", snapshot.Name, snapshot.Spec.Volume, v.Name)
	}
	if err := s.remove(r.ctx, snapshot); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting snapshot %s: %w", snapshot.Name, err)
	}
	return nil
}

// backUp creates a Backup object; snapshot-controller approves it, and im-monitor has it taken. A client whose request took too long sends
// it again: while a backup of the snapshot is under way, no other one is created.
func (s *server) backUp(r request, v *v1beta2.Volume) (any, error) {
	var in change.SnapshotInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	users, err := kube.UsersOf(r.ctx, s.reader.cache, v.Name)
	if err != nil {
		return nil, err
	}
	var kubernetes any
	if len(users.PersistentVolumes) > 0 {
		kubernetes = present.NewKubernetesStatus(users, v.Status.KubernetesStatus)
	}
	existing, err := s.backupsOf(r.ctx, v, in.ObjectName())
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(existing, isUnderWay) {
		return s.volumeNow(r, v)
	}
	backup, err := change.NewBackup(v, in, nameAfter(v, in.ObjectName(), existing), kubernetes)
	if err != nil {
		return nil, fmt.Errorf("backing up volume %s: %w", v.Name, err)
	}
	if err := s.client.Create(r.ctx, backup); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("backing up volume %s: %w", v.Name, plainly(err))
	}
	s.shown(r.ctx, backup)
	return s.volumeNow(r, v)
}

// backupsOf reads the Backups of a snapshot from the API server.
func (s *server) backupsOf(ctx context.Context, v *v1beta2.Volume, snapshot string) ([]v1beta2.Backup, error) {
	var list v1beta2.BackupList
	of := client.MatchingLabels{v1beta2.LabelBackupVolume: v1beta2.LabelValue(v.Name)}
	if err := lookup.List(ctx, s.reader.uncached, s.reader.namespace, &list, of); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(b v1beta2.Backup) bool { return b.Spec.SnapshotName != snapshot }), nil
}

// isUnderWay reports whether a backup has not ended, and is not being deleted.
func isUnderWay(b v1beta2.Backup) bool {
	return b.DeletionTimestamp == nil && b.Status.State != v1beta2.BackupCompleted && b.Status.State != v1beta2.BackupError
}

// nameAfter returns the part of a Backup's name that follows from the Backups of its snapshot so far: two requests at once have the same
// name, of which the API server creates one.
func nameAfter(v *v1beta2.Volume, snapshot string, existing []v1beta2.Backup) string {
	uids := []string{string(v.UID), snapshot}
	for i := range existing {
		uids = append(uids, string(existing[i].UID))
	}
	slices.Sort(uids)
	sum := sha256.Sum256([]byte(strings.Join(uids, " ")))
	return hex.EncodeToString(sum[:8])
}

// backupActions returns the handlers of a backup volume's actions by name.
func (s *server) backupActions() map[string]handler {
	return map[string]handler{"backupList": s.listBackups, "backupListByVolume": s.listBackups, "backupGet": s.getBackup,
		"backupDelete": s.changing("backupDelete", s.deleteBackup),
		"backupVolumeSync": func(request) (any, error) {
			return nil, errNotDone("backupVolumeSync", "no controller of Drover reads backup targets; what the cluster knows is listed")
		}}
}

// listBackups lists the backups of the volume that the body names, else of the volume of the path.
func (s *server) listBackups(r request) (any, error) {
	volume, err := s.backedUpVolume(r)
	if err != nil {
		return nil, err
	}
	var list v1beta2.BackupList
	return collect(r, s.reader, wire.TypeBackup, &list, &list.Items, present.NewBackup, client.MatchingFields{kube.FieldVolume: volume})
}

// backedUpVolume returns the volume whose backups a client asks for: the body names it, or the path, which has the name of a
// BackupVolume or of the volume itself.
func (s *server) backedUpVolume(r request) (string, error) {
	var in struct {
		Name string `json:"name"`
	}
	if r.ContentLength != 0 {
		if err := r.decode(&in); err != nil {
			return "", err
		}
	}
	if r.URL.Query().Get("action") == "backupListByVolume" && in.Name != "" {
		return in.Name, nil
	}
	b, err := look(r.ctx, s.reader, r.name, &v1beta2.BackupVolume{})
	if err != nil || b == nil || b.Spec.VolumeName == "" {
		return r.name, err
	}
	return b.Spec.VolumeName, nil
}

// backupNamed reads the backup that the body names; 404 if it does not exist.
func (s *server) backupNamed(r request) (*v1beta2.Backup, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return find(r.ctx, s.reader, in.Name, &v1beta2.Backup{})
}

func (s *server) getBackup(r request) (any, error) {
	b, err := s.backupNamed(r)
	if err != nil {
		return nil, err
	}
	return present.NewBackup(r.base, b), nil
}

// deleteBackup deletes a Backup object. Its data stays in the target: the object's conditions say where.
func (s *server) deleteBackup(r request) (any, error) {
	b, err := s.backupNamed(r)
	if err != nil {
		return nil, err
	}
	if err := s.remove(r.ctx, b); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("deleting backup %s: %w", b.Name, err)
	}
	return s.getBackupVolume(r)
}
