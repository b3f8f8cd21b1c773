package backupexecutor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
)

// ByVolume finds Backups that are not ended by the label of their volume.
const ByVolume = "drover.backup.volume"

// Executor handles the backups of polled engines.
type Executor struct {
	rt      *runkit.Runtime
	log     logr.Logger
	options Options
	memory  memory
	guard   execute.Guard
	still   Still
}

// Still reads an engine uncached; an error reports why nothing may be called on it now.
type Still func(ctx context.Context, e *v1beta2.Engine) error

// New creates an Executor, and the index that it needs.
func New(ctx context.Context, rt *runkit.Runtime, options Options, still Still) (*Executor, error) {
	err := rt.Manager.GetFieldIndexer().IndexField(ctx, &v1beta2.Backup{}, ByVolume, func(o client.Object) []string {
		b := o.(*v1beta2.Backup)
		if volume := b.Labels[v1beta2.LabelBackupVolume]; volume != "" && !v1beta2.IsBackupEnded(b) {
			return []string{volume}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("indexing backups: %w", err)
	}
	return &Executor{rt: rt, log: rt.Log.WithName("backups"), options: options,
		guard: execute.Guard{Clock: rt.Clock, Observe: rt.Observe}, still: still}, nil
}

// Poll is one complete poll of a running engine.
type Poll struct {
	Engine *v1beta2.Engine
	// Run identifies the run of the engine.
	Run string
	// Snapshots are what the engine listed.
	Snapshots map[string]v1beta2.SnapshotInfo
	// Proxy and Target are the addresses for calls to the engine.
	Proxy  *imclient.Proxy
	Target imclient.Target
	// Usable reports whether it is the volume's only engine and has a replica that is RW.
	Usable bool
	// Busy reports whether another operation is in progress.
	Busy bool
	// Period is the time between polls during an operation.
	Period time.Duration
}

// Pass decides on a poll and sends the calls that are due. It returns how long until the next poll is due because of backups; zero is
// whenever.
func (h *Executor) Pass(ctx context.Context, l Poll) (requeueAt time.Duration, err error) {
	w, evaluated, err := h.observe(ctx, l)
	if err != nil || len(w.Backups) == 0 {
		return 0, err
	}
	v := backup.Decide(w)
	for _, c := range v.Changes {
		err = errors.Join(err, h.write(ctx, l, evaluated[c.Name], c))
	}
	switch {
	case status.IsConflict(err):
		return conflictPause, nil
	case err != nil:
		return 0, err
	case v.Begin != "" && !h.rt.Observe:
		i := slices.IndexFunc(w.Backups, func(b backup.Backup) bool { return b.Name == v.Begin })
		return h.begin(ctx, l, w.Backups[i])
	case v.RequeueAt.IsZero():
		return 0, nil
	}
	return max(v.RequeueAt.Sub(h.rt.Clock.Now()), soon), nil
}
