package backupexecutor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// observe reads the volume's Backups, and polls the engine for those that were requested from it. It returns the Backups by name, too: what
// is written is bound to these versions.
func (h *Executor) observe(ctx context.Context, l Poll) (backup.World, map[string]*v1beta2.Backup, error) {
	w := backup.World{Run: l.Run, Busy: l.Busy, Usable: l.Usable, Listed: l.Snapshots, Answers: map[string]backup.Answer{}, Pause: l.Period}
	var list v1beta2.BackupList
	key := client.MatchingFields{ByVolume: v1beta2.LabelValue(l.Engine.Spec.VolumeName)}
	if err := h.rt.Client.List(ctx, &list, client.InNamespace(h.rt.Namespace), key, client.UnsafeDisableDeepCopy); err != nil {
		return w, nil, fmt.Errorf("listing the backups of volume %s: %w", l.Engine.Spec.VolumeName, err)
	}
	evaluated := make(map[string]*v1beta2.Backup, len(list.Items))
	for i := range list.Items {
		evaluated[list.Items[i].Name] = &list.Items[i]
		w.Backups = append(w.Backups, backupOf(&list.Items[i]))
	}
	if len(w.Backups) == 0 {
		return w, nil, nil
	}
	if h.rt.ElectedAt != nil {
		w.ElectedAt = h.rt.ElectedAt()
		w.FencingDelayEnds = w.ElectedAt.Add(h.options.PostElectionDelay)
	}
	for _, b := range backup.Ask(l.Run, w.Backups) {
		if answer, ok := h.ask(ctx, l, b); ok {
			w.Answers[b.Name] = answer
		}
	}
	w.Now = h.rt.Clock.Now()
	w.Open = h.memory.calls(l.Engine.Name, w.Now)
	return w, evaluated, nil
}

// ask polls the engine for one backup; not ok: the engine did not report it.
func (h *Executor) ask(ctx context.Context, l Poll, b backup.Backup) (backup.Answer, bool) {
	is, err := l.Proxy.Backup(ctx, l.Target, b.Name, b.Replica)
	switch {
	case err == nil:
		h.memory.heard(l.Engine.Name, b.Name)
		return backup.Answer{Known: true, State: is.State, Error: is.Error, URL: is.URL, Replica: is.Replica, Percent: is.Percent}, true
	case errors.Is(err, imclient.ErrNotFound):
		return backup.Answer{}, true
	case errors.Is(err, imclient.ErrUnreachable):
		return backup.Answer{}, false
	}
	h.log.Info("the engine does not report the backup", "backup", b.Name, "engine", l.Engine.Name, "error", err.Error())
	return backup.Answer{}, h.memory.missed(l.Engine.Name, b.Name) >= lostAfter
}

func backupOf(o *v1beta2.Backup) backup.Backup {
	current := o.Status.Conditions
	out := backup.Backup{
		Name: o.Name, UID: string(o.UID), Version: o.ResourceVersion, Snapshot: o.Spec.SnapshotName, Created: o.CreationTimestamp.Time,
		Deleting: o.DeletionTimestamp != nil,
		Approved: conditions.IsTrue(current, v1beta2.BackupApproved) &&
			conditions.Reason(current, v1beta2.BackupApproved) == v1beta2.ReasonReady,
		State: o.Status.State, Run: o.Status.EngineRun, Replica: o.Status.ReplicaAddress, Progress: o.Status.Progress,
	}
	if at, err := time.Parse(time.RFC3339Nano, o.Status.RequestedTime); err == nil {
		out.Requested = at
	}
	return out
}
