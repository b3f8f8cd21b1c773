package enginepoll

import (
	"context"
	"errors"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/backuptarget"
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
	// concurrency is how many blocks are copied at once.
	concurrency int
	origin      origin
}

// request is one try to request a Backup from an engine.
type request struct {
	*poll
	evaluated backup.Backup
	order     order
	// noted is what this try wrote ahead; nil where it did not yet.
	noted *backup.Note
	// missing are the credentials that stop the request.
	missing *backuptarget.MissingError
	// replica is the address that copies, as the engine answered.
	replica string
}

// beginBackup records that this run of the engine gets a backup request, sends the request, and records the answer.
func (p *poll) beginBackup(ctx context.Context, evaluated backup.Backup) (time.Duration, error) {
	r := &request{poll: p, evaluated: evaluated}
	out, err := p.guarded(ctx, &p.direct, execute.Call{Check: r.check, Ahead: r.ahead, Send: r.send})
	p.keepOpen(p.engine, out.Outcome)
	switch {
	case status.IsConflict(err):
		return conflictPause, nil
	case err != nil || out.Interrupted && !out.Sent():
		return 0, client.IgnoreNotFound(err)
	case !out.Sent():
		p.backupLog().Info("not called", "backup", evaluated.Name, "engine", p.engine.Name, "reason", out.Stop.Message)
		if r.missing != nil {
			return credentialPause, p.foundTarget(ctx, r.order.target.Name, v1beta2.ReasonRefused, r.missing.Error())
		}
		if p.memory.heldBackup(p.engine.Name, evaluated.Name, out.Stop.Message) {
			events.Emit(p.rt.Recorder, p.backups[evaluated.Name], backupHeldEvent(p.engine.Name, out.Stop.Message))
		}
		return p.options.Busy, nil
	}
	p.memory.requestedBackup(p.engine.Name)
	err = r.finish(ctx, out)
	if out.Interrupted { // the answer cannot be written; the write ahead is on record
		p.backupLog().Info("the leadership ended during the call", "backup", evaluated.Name, "engine", p.engine.Name, "outcome", out.Outcome)
		return 0, nil
	}
	if status.IsConflict(err) {
		err = nil
	}
	return conflictPause, client.IgnoreNotFound(err) // the cache shows by then what was written
}

// check allows the request unless what is read uncached does not.
func (r *request) check(ctx context.Context, _ execute.Reading) (execute.Checked, error) {
	err := r.read(ctx)
	errors.As(err, &r.missing)
	return allowed(err), nil
}

// read reads the objects of the request uncached, and returns why it must not be sent.
func (r *request) read(ctx context.Context) error {
	v, err := r.stays(ctx, r.direct)
	if err != nil {
		return err
	}
	b, err := lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, r.evaluated.Name, &v1beta2.Backup{})
	if err != nil {
		return err
	}
	w := backup.CallWorld{Evaluated: r.evaluated, Noted: r.noted}
	var t *v1beta2.BackupTarget
	if b != nil {
		now := backupOf(b)
		w.Now, w.TargetName = &now, v1beta2.BackupTargetOf(b, v)
		if t, err = lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, w.TargetName, &v1beta2.BackupTarget{}); err != nil {
			return err
		}
	}
	if t != nil {
		w.Target = &backup.Target{URL: t.Spec.BackupTargetURL, Deleting: t.DeletionTimestamp != nil}
	}
	if err := backup.Allowed(w); err != nil {
		return err
	}
	credentials, err := backuptarget.Reader{Client: r.rt.Uncached, Namespace: r.rt.Namespace}.Credentials(ctx, t)
	r.order = order{backup: b, volume: v, target: t, credentials: credentials}
	if err != nil {
		return err
	}
	copying, err := r.options.copying(ctx, r.engine.Spec.DataEngine)
	if r.order.concurrency = copying.Backup; err != nil {
		return err
	}
	r.order.origin, err = r.originOf(ctx, v)
	return err
}

// ahead records the request once: a check that was too slow is repeated on what was written.
func (r *request) ahead(ctx context.Context) (execute.Stop, error) {
	if r.noted != nil {
		return execute.Stop{}, nil
	}
	now := r.rt.Clock.Now().UTC()
	err := r.note(ctx, now)
	if err == nil {
		r.noted = &backup.Note{UID: string(r.order.backup.UID), Run: r.run, Requested: now}
	}
	return execute.Stop{}, err
}

func (r *request) send(ctx context.Context, _ imclient.Client) (err error) {
	r.replica, err = r.direct.proxy.BackUp(ctx, r.direct.Target, orderOf(r.order))
	return err
}

// finish records what the engine answered.
func (r *request) finish(ctx context.Context, out execute.Result) error {
	switch out.Outcome {
	case execute.Accepted:
		backupCalls.WithLabelValues("ok").Inc()
		events.Emit(r.rt.Recorder, r.order.backup, backupBeganEvent(r.engine.Name))
		return r.answered(ctx, backup.Change{State: v1beta2.BackupInProgress, Replica: r.replica})
	case execute.Unanswered:
		backupCalls.WithLabelValues("unanswered").Inc()
		r.memory.unansweredBackup(r.engine.Name, r.evaluated.Name, r.rt.Clock.Now().Add(r.options.PostElectionDelay))
		r.backupLog().Info("the call was not answered", "backup", r.evaluated.Name, "engine", r.engine.Name, "error", out.Err.Error())
		return nil
	}
	backupCalls.WithLabelValues("failed").Inc()
	return r.refused(ctx, out.Err)
}

// note writes the request and the run of the engine before the call. A request to an earlier run begins again.
func (r *request) note(ctx context.Context, now time.Time) error {
	o := r.order
	size := r.engine.Status.CurrentSize
	if size == 0 {
		size = o.volume.Spec.Size
	}
	fields := map[string]any{
		"state": v1beta2.BackupPending, "error": nil, "progress": nil, "replicaAddress": nil, "url": nil, "backupCreatedAt": nil,
		"progressedAt":  nil,
		"requestedTime": now.Format(time.RFC3339Nano), "engineRun": r.run,
		"volumeName": o.volume.Name, "volumeSize": strconv.FormatInt(size, 10),
		"volumeCreated": o.volume.CreationTimestamp.UTC().Format(time.RFC3339),
		"snapshotName":  o.backup.Spec.SnapshotName, "snapshotCreatedAt": text(r.seen.Snapshots[o.backup.Spec.SnapshotName].Created),
		"backupTargetName": o.target.Name, "observedGeneration": o.backup.Generation,
	}
	if labels := o.labels(); len(labels) > 0 {
		fields["labels"] = labels
	}
	if o.origin.backingImage != "" {
		fields["volumeBackingImageName"] = o.origin.backingImage
	}
	if method := o.volume.Spec.BackupCompressionMethod; method != "" {
		fields["compressionMethod"] = method
	}
	return status.MergeStatus(ctx, r.rt.Client, o.backup, fields, status.AtVersion())
}

// labels are those that the backup gets in its target.
func (o order) labels() map[string]string {
	return backup.Labels(o.backup.Spec.Labels, o.origin.Origin)
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
		Name: o.backup.Name, Snapshot: o.backup.Spec.SnapshotName, TargetURL: o.target.Spec.BackupTargetURL, Labels: o.labels(),
		Compression: o.volume.Spec.BackupCompressionMethod, Parameters: parameters, Credentials: o.credentials,
		Concurrency: o.concurrency, StorageClass: o.origin.storageClass, BackingImage: o.origin.backingImage,
		BackingImageChecksum: o.origin.checksum,
	}
}

// answered records the answer to a call, on the version that note wrote.
func (r *request) answered(ctx context.Context, c backup.Change) error {
	b, err := lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, r.order.backup.Name, &v1beta2.Backup{})
	if err != nil || b == nil || b.UID != r.order.backup.UID || b.Status.State != v1beta2.BackupPending || b.Status.EngineRun != r.run {
		return err
	}
	c.Name = b.Name
	return r.writeBackup(ctx, b, c)
}

// refused reports that the engine did not begin, unless it reports the backup nevertheless. The snapshot exists, so that the target
// is the most likely cause: other backups to it wait for a while. A v1 engine that cannot reach the target refuses, and reports the backup
// as failed: polls record that.
func (r *request) refused(ctx context.Context, cause error) error {
	asked := backup.Backup{Name: r.order.backup.Name, Snapshot: r.order.backup.Spec.SnapshotName}
	switch a, ok := r.askForBackup(ctx, r.direct, asked, r.listedRW()); {
	case !ok || a.Known && a.Error == "":
		return nil
	case a.Known:
		return r.foundTarget(ctx, r.order.target.Name, v1beta2.ReasonRefused, cause.Error())
	}
	err := r.answered(ctx, backup.Change{State: v1beta2.BackupError, Error: cause.Error()})
	return errors.Join(err, r.foundTarget(ctx, r.order.target.Name, v1beta2.ReasonRefused, cause.Error()))
}

// listedRW are the addresses of the replicas that this poll listed in mode RW.
func (f facts) listedRW() []string {
	var out []string
	for _, r := range f.seen.Replicas {
		if r.Mode == v1beta2.ReplicaModeRW {
			out = append(out, r.Address)
		}
	}
	return out
}
