package backupexecutor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/backuptarget"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// order is a Backup, read uncached, with its volume and its target.
type order struct {
	backup *v1beta2.Backup
	volume *v1beta2.Volume
	target *v1beta2.BackupTarget
	// credentials are the target's, as an engine takes them.
	credentials []string
}

// begin records that this run of the engine gets a backup request, sends the request, and records the answer.
func (h *Executor) begin(ctx context.Context, l Poll, evaluated backup.Backup) (time.Duration, error) {
	name := evaluated.Name
	o, err := h.still(ctx, l, evaluated)
	if missing := (*backuptarget.MissingError)(nil); errors.As(err, &missing) {
		h.log.Info("not called", "backup", name, "engine", l.Engine.Name, "reason", missing.Error())
		return credentialPause, h.found(ctx, o.target.Name, v1beta2.ReasonRefused, missing.Error())
	}
	if err != nil {
		h.log.Info("not called", "backup", name, "engine", l.Engine.Name, "reason", err.Error())
		return l.Period, nil
	}
	if err := h.note(ctx, l, o); err != nil {
		if status.IsConflict(err) {
			return conflictPause, nil
		}
		return 0, client.IgnoreNotFound(err)
	}
	replica, err := l.Proxy.BackUp(ctx, l.Target, orderOf(o))
	switch {
	case err == nil:
		calls.WithLabelValues("ok").Inc()
		events.Emit(h.rt.Recorder, o.backup, beganEvent(l.Engine.Name))
		err = h.answered(ctx, l, o, backup.Change{State: v1beta2.BackupInProgress, Replica: replica})
	case errors.Is(err, imclient.ErrUnreachable):
		calls.WithLabelValues("unanswered").Inc()
		h.memory.unanswered(l.Engine.Name, name, h.rt.Clock.Now().Add(h.options.PostElectionDelay))
		h.log.Info("the call was not answered", "backup", name, "engine", l.Engine.Name, "error", err.Error())
		err = nil
	default:
		calls.WithLabelValues("failed").Inc()
		err = h.refused(ctx, l, o, err)
	}
	if status.IsConflict(err) {
		err = nil
	}
	return soon, client.IgnoreNotFound(err)
}

// still reads the objects of a call uncached, and reports why the call must not be sent.
func (h *Executor) still(ctx context.Context, l Poll, evaluated backup.Backup) (order, error) {
	if err := l.Still(ctx); err != nil {
		return order{}, err
	}
	v, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, l.Engine.Spec.VolumeName, &v1beta2.Volume{})
	if err != nil {
		return order{}, err
	}
	if v == nil || v.DeletionTimestamp != nil || !owns(v, l.Engine) || v.Spec.MigrationNodeID != "" ||
		v.Status.CurrentMigrationNodeID != "" {
		return order{}, fmt.Errorf("volume %s is gone, being deleted, another one, or moves", l.Engine.Spec.VolumeName)
	}
	b, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, evaluated.Name, &v1beta2.Backup{})
	if err != nil {
		return order{}, err
	}
	if b == nil || b.ResourceVersion != evaluated.Version {
		return order{}, errors.New("the Backup changed since the evaluation")
	}
	target := v1beta2.BackupTargetOf(b, v)
	t, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, target, &v1beta2.BackupTarget{})
	if err != nil {
		return order{}, err
	}
	if t == nil || t.Spec.BackupTargetURL == "" || t.DeletionTimestamp != nil {
		return order{}, fmt.Errorf("backup target %s is gone, being deleted, or has no URL", target)
	}
	credentials, err := backuptarget.Reader{Client: h.rt.Uncached, Namespace: h.rt.Namespace}.Credentials(ctx, t)
	return order{b, v, t, credentials}, err
}

// owns reports whether an engine is of exactly this volume.
func owns(v *v1beta2.Volume, e *v1beta2.Engine) bool {
	for _, o := range e.OwnerReferences {
		if o.Kind == "Volume" && o.Name == v.Name {
			return o.UID == v.UID
		}
	}
	return false
}

// note writes the request and the run of the engine before the call. A request to an earlier run begins again.
func (h *Executor) note(ctx context.Context, l Poll, o order) error {
	size := l.Engine.Status.CurrentSize
	if size == 0 {
		size = o.volume.Spec.Size
	}
	fields := map[string]any{
		"state": v1beta2.BackupPending, "error": nil, "progress": nil, "replicaAddress": nil, "url": nil, "backupCreatedAt": nil,
		"requestedTime": h.rt.Clock.Now().UTC().Format(time.RFC3339Nano), "engineRun": l.Run,
		"volumeName": o.volume.Name, "volumeSize": strconv.FormatInt(size, 10),
		"volumeCreated": o.volume.CreationTimestamp.UTC().Format(time.RFC3339),
		"snapshotName":  o.backup.Spec.SnapshotName, "snapshotCreatedAt": text(l.Snapshots[o.backup.Spec.SnapshotName].Created),
		"backupTargetName": o.target.Name, "observedGeneration": o.backup.Generation,
	}
	if len(o.backup.Spec.Labels) > 0 {
		fields["labels"] = o.backup.Spec.Labels
	}
	if method := o.volume.Spec.BackupCompressionMethod; method != "" {
		fields["compressionMethod"] = method
	}
	return status.MergeStatus(ctx, h.rt.Client, o.backup, fields, status.AtVersion())
}

func orderOf(o order) imclient.BackupOrder {
	parameters := map[string]string{}
	if mode := o.backup.Spec.BackupMode; mode != "" {
		parameters[parameterMode] = mode
	}
	size := o.backup.Spec.BackupBlockSize
	if (size == "" || size == "-1") && o.volume.Spec.BackupBlockSize > 0 {
		size = strconv.FormatInt(o.volume.Spec.BackupBlockSize, 10)
	}
	if size != "" && size != "-1" {
		parameters[parameterBlockSize] = size
	}
	return imclient.BackupOrder{
		Name: o.backup.Name, Snapshot: o.backup.Spec.SnapshotName, TargetURL: o.target.Spec.BackupTargetURL, Labels: o.backup.Spec.Labels,
		Compression: o.volume.Spec.BackupCompressionMethod, Parameters: parameters, Credentials: o.credentials,
	}
}

// answered records the answer to a call, on the version that note wrote.
func (h *Executor) answered(ctx context.Context, l Poll, o order, c backup.Change) error {
	b, err := lookup.Shared(ctx, h.rt.Uncached, h.rt.Namespace, o.backup.Name, &v1beta2.Backup{})
	if err != nil || b == nil || b.UID != o.backup.UID || b.Status.State != v1beta2.BackupPending || b.Status.EngineRun != l.Run {
		return err
	}
	c.Name = b.Name
	return h.write(ctx, l, b, c)
}

// refused reports that the engine did not begin, unless it did so nevertheless. The snapshot exists, so that the target
// is the most likely cause: other backups to it wait for a while.
func (h *Executor) refused(ctx context.Context, l Poll, o order, cause error) error {
	if _, err := l.Proxy.Backup(ctx, l.Target, o.backup.Name, ""); err == nil || errors.Is(err, imclient.ErrUnreachable) {
		return nil
	}
	err := h.answered(ctx, l, o, backup.Change{State: v1beta2.BackupError, Error: cause.Error()})
	return errors.Join(err, h.found(ctx, o.target.Name, v1beta2.ReasonRefused, cause.Error()))
}
