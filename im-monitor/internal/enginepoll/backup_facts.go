package enginepoll

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
)

// observeBackups reads the volume's Backups, and asks the engine about those that it was requested to take. One that is not
// answered in time counts as not answered.
func (c *Controller) observeBackups(ctx context.Context, f *facts, to session) error {
	var list v1beta2.BackupList
	key := client.MatchingFields{byLabel: v1beta2.LabelValue(f.engine.Spec.VolumeName)}
	if err := lookup.ListShared(ctx, c.rt.Client, c.rt.Namespace, &list, key); err != nil {
		return err
	}
	f.backups, f.answers = make(map[string]*v1beta2.Backup, len(list.Items)), map[string]answer{}
	var all []backup.Backup
	for i := range list.Items {
		f.backups[list.Items[i].Name] = &list.Items[i]
		all = append(all, backupOf(&list.Items[i]))
	}
	f.backupsAt = c.rt.Clock.Now()
	ctx, cancel := context.WithTimeout(ctx, backupAnswers)
	defer cancel()
	for _, b := range backup.Ask(f.run, all) {
		if a, ok := c.askForBackup(ctx, to.direct, b, reportedRW(f.engine)); ok {
			f.answers[b.Name] = a
		}
	}
	return nil
}

// reportedRW are the addresses of the replicas in mode RW, as the last poll reported them.
func reportedRW(e *v1beta2.Engine) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e.Status.ReplicaModeMap)) {
		if where := e.Status.CurrentReplicaAddressMap[name]; where != "" && e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeRW {
			out = append(out, where)
		}
	}
	return out
}

// askForBackup asks the engine about one backup; not ok: it did not answer. A v2 engine finds it at the replica that copies only: without
// the address of that one, each of the replicas is asked.
func (c *Controller) askForBackup(ctx context.Context, to way, b backup.Backup, replicas []string) (out answer, ok bool) {
	if to.DataEngine != v1beta2.DataEngineV2 || b.Replica != "" {
		return c.askReplica(ctx, to, b)
	}
	for _, where := range replicas {
		b.Replica = imclient.WithScheme(where)
		out, ok = c.askReplica(ctx, to, b)
		if out.Known || !ok {
			return out, ok
		}
	}
	return answer{silent: true}, true
}

// askReplica asks the engine about one backup at one replica; not ok: it did not answer.
func (c *Controller) askReplica(ctx context.Context, to way, b backup.Backup) (answer, bool) {
	is, err := to.proxy.Backup(ctx, to.Target, b.Name, b.Replica)
	switch {
	case err == nil && is.Reports(b.Snapshot):
		return answer{Answer: backup.Answer{Known: true, State: is.State, Error: is.Error, URL: is.URL, Replica: cmp.Or(b.Replica, is.Replica),
			Percent: is.Percent}}, true
	case errors.Is(err, imclient.ErrNotFound):
		return answer{}, true
	case errors.Is(err, imclient.ErrUnreachable):
		return answer{}, false
	}
	why := is.Error
	if err != nil {
		why = err.Error()
	}
	c.backupLog().Info("the engine does not report the backup", "backup", b.Name, "engine", to.Engine, "replica", b.Replica, "error", why)
	return answer{silent: true}, true
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
