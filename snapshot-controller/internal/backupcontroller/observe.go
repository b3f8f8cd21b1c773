package backupcontroller

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/candidate"
)

// observer reads worlds. It only reads.
type observer struct {
	reader    client.Reader
	namespace string
	clock     clock.PassiveClock
}

// observe reads the world of a Backup; nil: it does not exist.
func (o observer) observe(ctx context.Context, name string) (*backup.World, error) {
	b, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.Backup{})
	if b == nil || err != nil {
		return nil, err
	}
	w := &backup.World{Now: o.clock.Now(), Backup: b}
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
	if w.Volume == nil || !isOpen(b) {
		return w, nil
	}
	return w, o.readVolume(ctx, w)
}

// readVolume reads what there is around the volume.
func (o observer) readVolume(ctx context.Context, w *backup.World) (err error) {
	w.TargetName = v1beta2.BackupTargetOf(w.Backup, w.Volume)
	if w.Target, err = lookup.Get(ctx, o.reader, o.namespace, w.TargetName, &v1beta2.BackupTarget{}); err != nil {
		return err
	}
	if w.Engine, err = o.engine(ctx, w.Volume); err != nil {
		return err
	}
	held := ""
	if w.Attachment != nil {
		held = w.Attachment.Spec.AttachmentTickets[backup.TicketID(w.Backup.Name)].NodeID
	}
	finder := candidate.Finder{Reader: o.reader, Namespace: o.namespace, Index: byVolume}
	w.Candidate, err = finder.Node(ctx, w.Volume, held)
	return err
}

// engine is the volume's active one.
func (o observer) engine(ctx context.Context, v *v1beta2.Volume) (*v1beta2.Engine, error) {
	var list v1beta2.EngineList
	err := o.reader.List(ctx, &list, client.InNamespace(o.namespace), client.MatchingFields{byVolume: v.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("listing the engines of volume %s: %w", v.Name, err)
	}
	for i := range list.Items {
		if e := &list.Items[i]; e.Spec.Active && belongs(e, v) {
			return e, nil
		}
	}
	return nil, nil
}

// belongs tells that an engine is of exactly this volume; one that names no owner is.
func belongs(e *v1beta2.Engine, v *v1beta2.Volume) bool {
	for _, owner := range e.OwnerReferences {
		if owner.Kind == "Volume" && owner.UID != v.UID {
			return false
		}
	}
	return true
}
