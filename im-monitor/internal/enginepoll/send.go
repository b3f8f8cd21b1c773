package enginepoll

import (
	"context"
	"errors"
	"fmt"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/backuptarget"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// send sends a call, or begins one that lasts as long as a rebuild.
func (p *poll) send(ctx context.Context, to way, call engine.Call) error {
	p.memory.unsettle(p.engine.Name, p.rt.Clock.Now().Add(unsettled))
	switch call.Op {
	case engine.OpAdd:
		p.add(ctx, p.engine, to, call)
		return nil
	case engine.OpRemove:
		return to.proxy.RemoveReplica(ctx, to.Target, call.Name, call.Address)
	case engine.OpVerify:
		return to.proxy.VerifyReplica(ctx, to.Target, call.Name, call.Address)
	case engine.OpExpand:
		return to.proxy.Expand(ctx, to.Target, call.Size)
	case engine.OpClone:
		return p.clone(ctx, to, call)
	case engine.OpRestore:
		return p.restore(ctx, to)
	case engine.OpRevert:
		return p.revert(ctx, to, call.Snapshot)
	case engine.OpPurge:
		return to.proxy.PurgeSnapshots(ctx, to.Target)
	}
	return to.setLimit(ctx, call)
}

// setLimit sets one limit of a running engine.
func (w way) setLimit(ctx context.Context, call engine.Call) error {
	switch call.Op {
	case engine.OpMaxCount:
		return w.proxy.SetSnapshotMaxCount(ctx, w.Target, int(call.Limit))
	case engine.OpMaxSize:
		return w.proxy.SetSnapshotMaxSize(ctx, w.Target, call.Limit)
	case engine.OpUnmapMark:
		return w.proxy.SetUnmapMark(ctx, w.Target, call.On)
	case engine.OpRebuildLimit:
		return w.proxy.SetRebuildLimit(ctx, w.Target, int(call.Limit))
	}
	return fmt.Errorf("call %s is not known", call.Op)
}

// clone copies from the active engine of another volume.
func (p *poll) clone(ctx context.Context, to way, call engine.Call) error {
	engines, err := p.enginesOf(ctx, call.Volume)
	if err != nil {
		return err
	}
	for i := range engines {
		if from := &engines[i]; from.Spec.Active && runs(from) {
			return to.proxy.CloneFrom(ctx, to.Target, targetOf(from), call.Snapshot)
		}
	}
	return fmt.Errorf("no engine of volume %s runs", call.Volume)
}

func (p *poll) restore(ctx context.Context, to way) error {
	wanted := p.engine.Spec
	v, err := lookup.Shared(ctx, p.rt.Uncached, p.rt.Namespace, wanted.VolumeName, &v1beta2.Volume{})
	if err == nil && v == nil {
		err = fmt.Errorf("volume %s is gone", wanted.VolumeName)
	}
	if err != nil {
		return err
	}
	from, err := engine.RestoreURL(v.Spec.FromBackup, wanted.RequestedBackupRestore)
	if err != nil {
		return err
	}
	credentials, err := backuptarget.Reader{Client: p.rt.Uncached, Namespace: p.rt.Namespace}.OfRestore(ctx, v)
	if err != nil {
		return fmt.Errorf("reading the credentials for %s: %w", wanted.RequestedBackupRestore, err)
	}
	copying, err := p.options.copying(ctx, to.DataEngine)
	if err != nil {
		return fmt.Errorf("reading how much is copied at once: %w", err)
	}
	return to.proxy.Restore(ctx, to.Target, imclient.RestoreOrder{URL: from, Concurrency: copying.Restore, Credentials: credentials})
}

// revert asks the engine, and notes its answer. Where there is none, it is asked again.
func (p *poll) revert(ctx context.Context, to way, snapshot string) error {
	err := to.proxy.Revert(ctx, to.Target, snapshot)
	if execute.OutcomeOf(err) == execute.Unanswered {
		return err
	}
	fields := map[string]any{"lastRevert": p.engine.Spec.RequestedRevert, "lastRevertError": nil}
	if err != nil {
		fields["lastRevertError"] = err.Error()
	}
	return errors.Join(err, status.MergeStatus(ctx, p.rt.Client, p.engine, fields))
}
