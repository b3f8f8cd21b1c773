//go:build !fast

package attach

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// copying is how long a copy takes once it is no longer paused.
const copying = 100 * time.Millisecond

// inUse orders a volume, lets a pod hold it near, and writes to it.
func inUse(t *testing.T, ctx context.Context, w *world.World, engine string, replicas int, change func(*v1beta2.VolumeSpec)) string {
	t.Helper()
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, engine, replicas, change))
	require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Write(ctx, name, 1, "first"))
	return name
}

// unharmed ends every test with data: the block has this content, and no call asked the data plane to mix or lose data.
func unharmed(t *testing.T, ctx context.Context, w *world.World, name string, block int, text string) {
	t.Helper()
	require.NoError(t, w.Keeps(ctx, name, block, text))
	require.NoError(t, w.NoHarm(ctx))
}

// Settings that tests change, and their defaults.
const (
	rebuilds, rebuildsDefault       = "concurrent-replica-rebuild-per-node-limit", "5"
	autoSalvage, autoSalvageDefault = "auto-salvage", "true"
)

// set changes a setting for the rest of the test.
func set(t *testing.T, ctx context.Context, w *world.World, name, value, otherwise string) {
	t.Helper()
	require.NoError(t, w.Set(ctx, name, value))
	t.Cleanup(func() { require.NoError(t, w.Set(context.WithoutCancel(ctx), name, otherwise)) })
}

// wellAgain waits until the pod has its volume back.
func wellAgain(t *testing.T, ctx context.Context, w *world.World, name string) {
	t.Helper()
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
}

// faultedBecause returns a text while the volume is not held detached for that reason.
func faultedBecause(reason string) func(*v1beta2.Volume) string {
	return func(v *v1beta2.Volume) string {
		switch is := conditions.Reason(v.Status.Conditions, v1beta2.VolumeAttached); {
		case v.Status.Robustness != v1beta2.VolumeRobustnessFaulted:
			return "it is " + v.Status.Robustness
		case v.Status.State != v1beta2.VolumeStateDetached || v.Spec.NodeID != "":
			return "it is " + v.Status.State + ", wanted on " + v.Spec.NodeID
		case is != reason:
			return "its reason is " + is
		}
		return ""
	}
}

// A8: every replica's process dies at once. Their data is complete: the volume continues from it.
func TestA8EveryReplicaCrashes(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		for _, r := range replicas {
			require.NoError(t, w.KillInstance(ctx, r.Spec.NodeID, r.Name))
		}
		require.NoError(t, w.WaitVolumeEvent(ctx, name, "Faulted", patience))
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 1, "first")
	})
}

// A8: all replicas are marked as failed, the second later than the first and with newer data: the volume continues from it.
func TestA8AllReplicasFailedAndTheLastIsSalvaged(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		set(t, ctx, w, rebuilds, "0", rebuildsDefault)
		name := inUse(t, ctx, w, engine, 2, nil)
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.NoError(t, w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience))
		require.NoError(t, w.Write(ctx, name, 1, "second"))
		require.NoError(t, w.Never(ctx, "a detachment", watching, attachedTo(name, near)))

		require.NoError(t, w.MarkFailed(ctx, replicas[1]))
		// A poll between the mark and the end of the engine finds that the engine serves from this replica, and removes the mark.
		require.NoError(t, w.WaitVolumeEvent(ctx, name, "AutoSalvaged", patience, "ReplicaStillGood"))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience))
		unharmed(t, ctx, w, name, 1, "second")
		require.NoError(t, w.Set(ctx, rebuilds, rebuildsDefault))
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 1, "second")
	})
}

// A8: without a usable replica the volume reports it and stays detached. It continues when a person selects a replica.
func TestA8AVolumeWithoutAUsableReplicaReportsItAndStaysDetached(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		set(t, ctx, w, autoSalvage, "false", autoSalvageDefault)
		name := inUse(t, ctx, w, engine, 2, nil)
		require.NoError(t, w.Wait(ctx, name+" to report that no replica can be used", patience, allMarkedFailed(w, name)))
		require.NoError(t, w.Never(ctx, "another try", watching, func(ctx context.Context) (string, error) {
			volume := &v1beta2.Volume{}
			if err := w.Get(ctx, name, volume); err != nil {
				return "", err
			}
			return faultedBecause(v1beta2.ReasonNoUsableReplica)(volume), nil
		}))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", false, "", patience))
		require.NoError(t, w.Set(ctx, autoSalvage, autoSalvageDefault))
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 1, "first")
	})
}

// allMarkedFailed marks every replica as failed until the volume reports that none can be used: a poll between the mark and the end of
// the engine finds that the engine serves from them, and removes the marks.
func allMarkedFailed(w *world.World, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		volume := &v1beta2.Volume{}
		if err := w.Get(ctx, name, volume); err != nil {
			return "", err
		}
		replicas, err := w.ReplicasOf(ctx, name)
		if err != nil {
			return "", err
		}
		replicas = slices.DeleteFunc(replicas, func(r v1beta2.Replica) bool { return r.Spec.FailedAt != "" })
		if len(replicas) > 0 && volume.Status.State == v1beta2.VolumeStateAttached {
			return "replicas are marked", w.MarkFailed(ctx, replicas...)
		}
		return faultedBecause(v1beta2.ReasonNoUsableReplica)(volume), nil
	}
}

// A8: the only complete replica is on a node that is down. An older one elsewhere is not used instead.
func TestA8AHealthyReplicaOnALostNodeIsWaitedFor(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		set(t, ctx, w, rebuilds, "0", rebuildsDefault)
		name := inUse(t, ctx, w, engine, 3, nil)
		for _, node := range []string{near, third} {
			old, err := w.ReplicaOn(ctx, name, node)
			require.NoError(t, err)
			require.NoError(t, w.KillInstance(ctx, node, old.Name))
		}
		whole, err := w.ReplicaOn(ctx, name, far)
		require.NoError(t, err)
		require.NoError(t, w.WaitFailed(ctx, name, 2, patience))
		require.NoError(t, w.Write(ctx, name, 1, "second"))
		require.NoError(t, w.CutNode(ctx, far))
		require.Error(t, w.Write(ctx, name, 2, "lost"), "a v1 engine notices a broken connection with its next I/O")
		require.NoError(t, w.WaitVolume(ctx, name, "to wait for "+whole.Name, patience, faultedBecause(v1beta2.ReasonNoUsableReplica)))
		require.NoError(t, w.JoinNode(ctx, far))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
		unharmed(t, ctx, w, name, 1, "second")
	})
}

// A9: two volumes lose their replica on one node; rebuilding one at a time is allowed there.
func TestA9ANodeRebuildsOneReplicaAtATime(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		set(t, ctx, w, rebuilds, "1", rebuildsDefault)
		names := []string{inUse(t, ctx, w, engine, 3, nil), inUse(t, ctx, w, engine, 3, nil)}
		for _, name := range names {
			require.NoError(t, w.HoldCopies(ctx, name))
			lost, err := w.ReplicaOn(ctx, name, third)
			require.NoError(t, err)
			require.NoError(t, w.KillInstance(ctx, third, lost.Name))
		}
		for _, name := range names {
			require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience))
		}
		require.NoError(t, w.Wait(ctx, "a rebuild", patience,
			func(ctx context.Context) (string, error) { return w.Rebuilding(ctx, third, 1) }))
		require.NoError(t, w.Never(ctx, "a second rebuild", watching,
			func(ctx context.Context) (string, error) { return w.Rebuilding(ctx, third, 1) }))
		for _, name := range names {
			require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		}
		for _, name := range names {
			wellAgain(t, ctx, w, name)
			unharmed(t, ctx, w, name, 1, "first")
		}
	})
}

// A9: a node is down for a while; its replica returns with it, and is not replaced by another.
func TestA9AReturningReplicaIsReused(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 3, nil)
		before, err := w.ReplicaOn(ctx, name, third)
		require.NoError(t, err)
		require.NoError(t, w.CutNode(ctx, third))
		require.NoError(t, w.WaitNode(ctx, third, v1beta2.ConditionFalse, patience))
		require.NoError(t, w.Write(ctx, name, 1, "second"))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience))
		require.NoError(t, w.JoinNode(ctx, third))
		wellAgain(t, ctx, w, name)
		after, err := w.ReplicaOn(ctx, name, third)
		require.NoError(t, err)
		require.Equal(t, before.Name, after.Name)
		require.Equal(t, before.UID, after.UID)
		unharmed(t, ctx, w, name, 1, "second")
	})
}

// A9: the last replica stays after its deletion is requested, and reports why. It ends once another one was rebuilt from it.
func TestA9TheLastHealthyReplicaIsNeverRemoved(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 1, nil)
		require.NoError(t, w.HoldCopies(ctx, name))
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.Len(t, replicas, 1)
		last := replicas[0]
		require.NoError(t, w.Admin.Delete(ctx, &last))
		held := func(ctx context.Context) (string, error) {
			return w.HeldReplica(ctx, last.Name, v1beta2.ReasonNoHealthyCopy)
		}
		require.NoError(t, w.Wait(ctx, "the refusal", patience, held))
		require.NoError(t, w.Never(ctx, "its end", watching, held))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
		require.NoError(t, w.Write(ctx, name, 2, "second"))
		require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		require.NoError(t, w.Wait(ctx, "the end of "+last.Name, patience, gone(w, &last)))
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 2, "second")
	})
}

// A8: a person deletes the only replica of a volume that is detached. Its data is the last copy: it is kept, the volume runs from it, and
// it goes once another replica has the data.
func TestA8TheLastReplicaServesThoughItIsBeingDeleted(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 1, nil)
		require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.Len(t, replicas, 1)
		require.NoError(t, w.Admin.Delete(ctx, &replicas[0]))
		require.NoError(t, w.Never(ctx, "a fault", watching, func(ctx context.Context) (string, error) {
			v := &v1beta2.Volume{}
			err := w.Get(ctx, name, v)
			return map[bool]string{true: "it is faulted"}[v.Status.Robustness == v1beta2.VolumeRobustnessFaulted], err
		}))
		require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, far, nil))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
		unharmed(t, ctx, w, name, 1, "first")
		require.NoError(t, w.Wait(ctx, "another replica in its place", patience, func(ctx context.Context) (string, error) {
			now, err := w.ReplicasOf(ctx, name)
			if err != nil || len(now) == 1 && now[0].Name != replicas[0].Name {
				return "", err
			}
			return fmt.Sprintf("there are %d replicas", len(now)), nil
		}))
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 1, "first")
	})
}
