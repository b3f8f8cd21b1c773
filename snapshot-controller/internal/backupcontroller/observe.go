package backupcontroller

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// observer reads worlds. It only reads.
type observer struct {
	reader    client.Reader
	uncached  client.Reader
	namespace string
	clock     clock.PassiveClock
	settings  *settingcontroller.Source[setting.Values]
	removals  *backupstores.Removals
}

// observe reads the world of a Backup; nil: it does not exist.
func (o observer) observe(ctx context.Context, name string) (*backup.World, error) {
	b, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.Backup{})
	if b == nil || err != nil {
		return nil, err
	}
	w := &backup.World{Now: o.clock.Now(), Backup: b}
	if b.Status.State == v1beta2.BackupError {
		values, err := o.settings.Current(ctx, v1beta2.DataEngineV1)
		if err != nil {
			return nil, err
		}
		w.FailedTTL = values.FailedBackupTTL
	}
	if w.Snapshot, err = lookup.Get(ctx, o.reader, o.namespace, b.Spec.SnapshotName, &v1beta2.Snapshot{}); err != nil {
		return nil, err
	}
	volume := backup.VolumeName(b, w.Snapshot)
	if w.Volume, err = lookup.Get(ctx, o.reader, o.namespace, volume, &v1beta2.Volume{}); err != nil {
		return nil, err
	}
	if w.Attachment, err = lookup.Get(ctx, o.reader, o.namespace, volume, &v1beta2.VolumeAttachment{}); err != nil {
		return nil, err
	}
	if w.Volume != nil && isOpen(b) {
		if err := o.readVolume(ctx, w); err != nil {
			return nil, err
		}
	}
	if b.DeletionTimestamp == nil {
		return w, nil
	}
	if err := o.readRemoval(ctx, w, o.reader); err != nil {
		return nil, err
	}
	w.Removal.Progress = o.removals.Of(b.UID)
	return w, nil
}

// readVolume reads what there is around the volume.
func (o observer) readVolume(ctx context.Context, w *backup.World) (err error) {
	w.TargetName = v1beta2.BackupTargetOf(w.Backup, w.Volume)
	if w.Target, err = lookup.Get(ctx, o.reader, o.namespace, w.TargetName, &v1beta2.BackupTarget{}); err != nil {
		return err
	}
	surroundings := volumecontext.Reader{Client: o.reader, Namespace: o.namespace}
	if w.Engine, err = surroundings.Engine(ctx, w.Volume); err != nil {
		return err
	}
	if w.Nodes, err = surroundings.Nodes(ctx, w.Volume, w.Engine); err != nil {
		return err
	}
	held := ""
	if w.Attachment != nil {
		held = w.Attachment.Spec.AttachmentTickets[backup.TicketID(w.Backup.Name)].NodeID
	}
	w.Candidate, err = surroundings.Candidate(ctx, w.Volume, held)
	return err
}
