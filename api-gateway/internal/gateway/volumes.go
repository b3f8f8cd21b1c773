package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/change"
	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/volumeusers"
)

// createVolume creates a volume and answers at once; attach-controller places its replicas.
func (s *server) createVolume(r request) (any, error) {
	var in change.VolumeInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	facts, err := s.creationFacts(r, in)
	if err != nil {
		return nil, err
	}
	v, err := change.NewVolume(s.reader.namespace, in, facts)
	if err != nil {
		return nil, fmt.Errorf("creating volume %q: %w", in.Name, err)
	}
	if err := s.client.Create(r.ctx, v); err != nil {
		return nil, fmt.Errorf("creating volume %q: %w", v.Name, plainly(err))
	}
	s.shown(r.ctx, v)
	return s.volumeNow(r, v)
}

// creationFacts reads the settings, tags and sources that a new volume depends on.
func (s *server) creationFacts(r request, in change.VolumeInput) (change.VolumeFacts, error) {
	var failed error
	f := change.VolumeFacts{Setting: func(name, dataEngine string) string {
		value, err := s.reader.settingValue(r.ctx, name, dataEngine)
		failed = errors.Join(failed, err)
		return value
	}}
	nodes, err := s.nodes(r)
	if err != nil {
		return f, err
	}
	f.DiskTags, f.NodeTags = present.TagsOf("disk", nodes), present.TagsOf("node", nodes)
	if volume, snapshot := change.SourceOf(in.DataSource); volume != "" {
		if f.Source, err = look(r.ctx, s.reader, volume, &v1beta2.Volume{}); err != nil {
			return f, err
		}
		if f.Snapshot, err = look(r.ctx, s.reader, snapshot, &v1beta2.Snapshot{}); err != nil {
			return f, err
		}
	}
	f.RestoreSize, err = s.restoreSize(r.ctx, in.FromBackup)
	return f, errors.Join(err, failed)
}

// restoreSize returns the size of the volume in the backup at an address; 0 if it is unknown.
func (s *server) restoreSize(ctx context.Context, address string) (int64, error) {
	if address == "" {
		return 0, nil
	}
	var backups v1beta2.BackupList
	if err := lookup.ListShared(ctx, s.reader.cache, s.reader.namespace, &backups, client.MatchingFields{fieldURL: address}); err != nil {
		return 0, err
	}
	for i := range backups.Items {
		if size, err := change.Quantity(backups.Items[i].Status.VolumeSize).Bytes(); err == nil && size > 0 {
			return size, nil
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return 0, fmt.Errorf("fromBackup %q is no address of a backup: %w", address, err)
	}
	var volumes v1beta2.BackupVolumeList
	if err := lookup.ListShared(ctx, s.reader.cache, s.reader.namespace, &volumes); err != nil {
		return 0, err
	}
	for _, b := range pointers(volumes.Items) {
		if size, err := change.Quantity(b.Status.Size).Bytes(); b.Spec.VolumeName == u.Query().Get("volume") && err == nil {
			return size, nil
		}
	}
	return 0, nil
}

// deleteVolume deletes a volume; attach-controller detaches it, and lets it go with its replicas.
func (s *server) deleteVolume(r request) (any, error) {
	v, err := find(r.ctx, s.reader, r.name, &v1beta2.Volume{})
	if err != nil {
		return nil, err
	}
	err = s.remove(r.ctx, v)
	if apierrors.IsNotFound(err) {
		return nil, notFound("volume", r.name)
	}
	return nil, err
}

// attach writes the client's ticket and answers at once. The ticket's status shows why the volume waits.
func (s *server) attach(r request, v *v1beta2.Volume) (any, error) {
	var in change.AttachInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	n, err := find(r.ctx, s.reader, in.HostID, &v1beta2.Node{})
	if err != nil {
		return nil, err
	}
	if !conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady) {
		return nil, fmt.Errorf("attaching volume %s: node %s is not ready: %s", v.Name, n.Name, messageOf(n.Status.Conditions, v1beta2.NodeReady))
	}
	if v.Status.RestoreRequired {
		return nil, fmt.Errorf("attaching volume %s: it is being restored from its backup; wait until that has ended", v.Name)
	}
	if err := awaitObject(r.ctx, s, v.Name, &v1beta2.VolumeAttachment{}); err != nil {
		return nil, err
	}
	err = retried(r.ctx, func() error { return s.writeTicket(r.ctx, v.Name, in) })
	if err != nil {
		return nil, fmt.Errorf("attaching volume %s: %w", v.Name, plainly(err))
	}
	return s.volumeNow(r, v)
}

// writeTicket writes a ticket after an uncached read: its generation depends on the answer to the earlier ticket.
func (s *server) writeTicket(ctx context.Context, volume string, in change.AttachInput) error {
	va := &v1beta2.VolumeAttachment{}
	if err := s.reader.uncached.Get(ctx, client.ObjectKey{Namespace: s.reader.namespace, Name: volume}, va); err != nil {
		return err
	}
	ticket, needed := change.NewTicket(in, va)
	if !needed {
		return nil
	}
	tickets := map[string]*v1beta2.AttachmentTicket{ticket.ID: ticket}
	var written client.Object
	if err := status.MergeTickets(ctx, s.client, va, tickets, status.AtVersion(), status.Written(&written)); err != nil {
		return err
	}
	s.shown(ctx, written)
	return nil
}

// detach removes the client's ticket, or all tickets. It reads them from the API server: another process may have written the ticket a
// moment ago, and nobody would remove it later.
func (s *server) detach(r request, v *v1beta2.Volume) (any, error) {
	var in change.DetachInput
	if r.ContentLength != 0 {
		if err := r.decode(&in); err != nil {
			return nil, err
		}
	}
	if v.Spec.Standby {
		return nil, fmt.Errorf("detaching volume %s: it is a standby volume, which follows its backups; activate it first", v.Name)
	}
	va, err := fresh(r.ctx, s.reader, v.Name, &v1beta2.VolumeAttachment{})
	if err != nil {
		if statusOf(err) == http.StatusNotFound {
			return s.volumeNow(r, v)
		}
		return nil, err
	}
	removed := change.RemovedTickets(in, va)
	if len(removed) == 0 {
		return s.volumeNow(r, v)
	}
	var written client.Object
	if err := status.MergeTickets(r.ctx, s.client, va, removed, status.Written(&written)); err != nil {
		return nil, fmt.Errorf("detaching volume %s: %w", v.Name, plainly(err))
	}
	s.shown(r.ctx, written)
	return s.volumeNow(r, v)
}

// expand raises the size of a volume. A claim that wants less is raised instead: its resizer then asks for the volume.
func (s *server) expand(r request, v *v1beta2.Volume) (any, error) {
	var in struct {
		Size change.Quantity `json:"size"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.changeVolume(r, v, func(now *v1beta2.Volume) (map[string]any, error) {
		size, err := change.ExpandedSize(now, in.Size)
		if err != nil || size <= now.Spec.Size {
			return nil, err
		}
		raised, err := s.raiseClaim(r.ctx, now.Name, size)
		if err != nil || raised {
			return nil, err
		}
		return map[string]any{"size": fmt.Sprint(size)}, nil
	})
}

// raiseClaim raises the request of the claim that a volume is bound to, and reports whether it did: a claim that wants as much already
// needs no change.
func (s *server) raiseClaim(ctx context.Context, volume string, size int64) (bool, error) {
	users, err := kube.UsersOf(ctx, s.reader.cache, volume)
	pv := volumeusers.Bound(users.PersistentVolumes)
	if err != nil || pv == nil || kube.ClaimOf(pv) == "" {
		return false, err
	}
	ref := pv.Spec.ClaimRef
	claim := &corev1.PersistentVolumeClaim{}
	err = s.reader.uncached.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, claim)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	requested := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if change.IsWanted(size, requested.Value()) || claim.Spec.VolumeName != pv.Name {
		return false, nil // another volume's claim has taken the name
	}
	text := resource.NewQuantity(size, resource.BinarySI).String()
	requests := map[string]any{"requests": map[string]any{"storage": text}}
	// At this version: another client may have asked for more meanwhile, and a claim must not shrink.
	return true, status.MergeSpec(ctx, s.client, claim, map[string]any{"resources": requests}, status.AtVersion())
}

// changeVolume writes the fields that decide returns for the newest version of a volume, and answers with the volume. If decide returns no
// fields, it writes nothing.
func (s *server) changeVolume(r request, v *v1beta2.Volume, decide func(now *v1beta2.Volume) (map[string]any, error)) (any, error) {
	var written client.Object
	err := retried(r.ctx, func() error {
		now, err := fresh(r.ctx, s.reader, v.Name, &v1beta2.Volume{})
		if err != nil {
			return err
		}
		fields, err := decide(now)
		if err != nil || len(fields) == 0 {
			return err
		}
		return status.MergeSpec(r.ctx, s.client, now, fields, status.AtVersion(), status.Written(&written))
	})
	if err != nil {
		return nil, fmt.Errorf("changing volume %s: %w", v.Name, plainly(err))
	}
	if written != nil {
		s.shown(r.ctx, written)
	}
	now, err := find(r.ctx, s.reader, v.Name, &v1beta2.Volume{})
	if err != nil {
		return nil, err
	}
	return s.volumeNow(r, now)
}

func messageOf(list []v1beta2.Condition, kind string) string {
	if c := conditions.Get(list, kind); c != nil {
		return c.Message
	}
	return "nothing is known of it yet"
}

// volumeActions returns the handlers of a volume's actions by name.
func (s *server) volumeActions() map[string]handler {
	actions := map[string]volumeAction{
		"attach": s.attach, "detach": s.detach, "expand": s.expand,
		"snapshotCRCreate": s.createSnapshotCR, "snapshotCRGet": s.getSnapshotCR, "snapshotCRList": s.listSnapshotCRs,
		"snapshotCRDelete": s.deleteSnapshotCR, "snapshotBackup": s.backUp,
	}
	for _, name := range append(wire.UpdateActions(), "offlineReplicaRebuilding") {
		actions[name] = func(r request, v *v1beta2.Volume) (any, error) { return s.update(r, v, name) }
	}
	maps.Copy(actions, s.pageActions())
	for name, why := range notDone {
		actions[name] = func(request, *v1beta2.Volume) (any, error) { return nil, errNotDone(name, why) }
	}
	handlers := map[string]handler{}
	for name, act := range actions {
		handlers[name] = s.onVolume(act)
		if !reads[name] {
			handlers[name] = s.changing(name, handlers[name])
		}
	}
	return handlers
}

// notDone are the actions that no controller can do from custom resources.
var notDone = map[string]string{
	"trimFilesystem": "a trim is a call to the file system where it is mounted; mount with the option discard, or run fstrim on the node",
	"pvCreate":       "write the PersistentVolume yourself, with the driver driver.longhorn.io and the volume's name as handle",
	"pvcCreate":      "write the claim yourself, with the PersistentVolume as its volumeName",
}

// reads are the actions that change nothing.
var reads = map[string]bool{"snapshotCRGet": true, "snapshotCRList": true, "snapshotGet": true, "snapshotList": true,
	"recurringJobList": true}

// onVolume returns a handler that takes an action on the volume that the path names.
func (s *server) onVolume(act volumeAction) handler {
	return func(r request) (any, error) {
		v, err := find(r.ctx, s.reader, r.name, &v1beta2.Volume{})
		if err != nil {
			return nil, err
		}
		return act(r, v)
	}
}

// update writes the one field of a volume that an action names.
func (s *server) update(r request, v *v1beta2.Volume, action string) (any, error) {
	var in map[string]any
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.changeVolume(r, v, func(now *v1beta2.Volume) (map[string]any, error) {
		field, value, err := change.Update(now, action, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", action, err)
		}
		return map[string]any{field: value}, nil
	})
}
