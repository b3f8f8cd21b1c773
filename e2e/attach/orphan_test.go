//go:build !fast

package attach

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// staleOn are the engine and the replica of an attached volume that run on the node: orphans once the volume is elsewhere.
func staleOn(t *testing.T, ctx context.Context, w *world.World, name, engine, node string) []world.Stale {
	t.Helper()
	v := &world.Volume{Name: name, DataEngine: engine, Engine: name + "-e-0"}
	replicas, err := w.ReplicasOf(ctx, name)
	require.NoError(t, err)
	for _, r := range replicas {
		v.Replicas = append(v.Replicas, r.Name)
	}
	stale, err := w.Stale(ctx, v, node)
	require.NoError(t, err)
	return stale
}

// deletedOnce checks each orphan that a person deletes: one call that had an effect, to exactly the evaluated instance.
// Data is deleted with it only where the person asked for it.
func deletedOnce(t *testing.T, ctx context.Context, w *world.World, stale []world.Stale, dataGoes func(world.Stale) bool) {
	t.Helper()
	for _, s := range stale {
		require.NoError(t, w.DeleteOrphan(ctx, s.Orphan()))
		require.NoError(t, w.WaitOrphanGone(ctx, s.Orphan(), patience))
	}
	deletions, err := w.Deletions(ctx)
	require.NoError(t, err)
	counts := map[string]int{}
	for _, d := range deletions {
		for _, s := range stale {
			if d.Executed && d.UUIDFound == s.UUID {
				counts[s.Name]++
				require.Equal(t, dataGoes(s), d.Cleanup, s.Name)
			}
		}
	}
	for _, s := range stale {
		require.Equal(t, 1, counts[s.Name], "%s must be deleted once", s.Name)
	}
}

// O6 and O9 on volumes that attach-controller attached: a node dies under one, the pod moves, the node returns with its old instances.
func TestO9WhatANodeBringsBackIsAnOrphanThatAPersonDeletes(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		set(t, ctx, w, rebuilds, "0", rebuildsDefault)
		name := inUse(t, ctx, w, engine, 3, nil)
		stale := staleOn(t, ctx, w, name, engine, near)
		require.Len(t, stale, 2)
		// A call that was on its way when the node became unreachable may still arrive when it is back. Here it must not: both must run.
		require.NoError(t, w.Inject(ctx, world.Fault{Kind: "error", Code: "Unavailable", Node: near, Method: "InstanceDelete"}))
		require.NoError(t, w.CutNode(ctx, near))
		require.NoError(t, w.WaitNode(ctx, near, v1beta2.ConditionFalse, patience))
		require.NoError(t, w.Ticket(ctx, name, "csi-new", v1beta2.AttacherCSI, far, nil))
		require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-new", true, "", patience))
		require.NoError(t, w.Write(ctx, name, 1, "second"))
		require.NoError(t, w.JoinNode(ctx, near))

		held, replica := stale[:1], stale[1]
		_, err := w.WaitOrphan(ctx, held[0], patience)
		require.NoError(t, err)
		require.NoError(t, w.Heal(ctx))
		deletedOnce(t, ctx, w, held, func(world.Stale) bool { return true })
		// The controller that could not reach the replica before stops it, or it becomes an orphan first; its data stays in both cases.
		require.NoError(t, w.Wait(ctx, "the end of "+replica.Name, patience, func(ctx context.Context) (string, error) {
			if err := w.DeleteOrphanIfThere(ctx, replica.Orphan()); err != nil {
				return "", err
			}
			running, err := w.Inventory(ctx, replica.InstanceManager)
			if r := running[replica.Name]; r.UUID == replica.UUID && r.State == v1beta2.InstanceStateRunning {
				return "it runs", err
			}
			return "", err
		}))
		deletions, err := w.Deletions(ctx)
		require.NoError(t, err)
		for _, d := range deletions {
			require.False(t, d.Name == replica.Name && (d.Cleanup || d.DataDestroyed), "%+v", d)
		}
		require.NoError(t, attachedNow(ctx, name, far))

		require.NoError(t, w.Set(ctx, rebuilds, rebuildsDefault))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		back, err := w.ReplicaOn(ctx, name, near)
		require.NoError(t, err)
		require.Equal(t, replica.Name, back.Name, "it was rebuilt and continues")
		unharmed(t, ctx, w, name, 1, "second")
	})
}

// O1 on a volume that attach-controller attached: the object of a replica is gone, its instance runs. The volume gets another
// replica; the instance stays until a person decides.
func TestO1AReplicaThatLostItsObjectIsReplacedAndAnOrphan(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 3, nil)
		stale := staleOn(t, ctx, w, name, engine, third)
		require.Len(t, stale, 1)
		require.NoError(t, w.DisownInstance(ctx, stale[0]))
		_, err := w.WaitOrphan(ctx, stale[0], patience)
		require.NoError(t, err)
		wellAgain(t, ctx, w, name)
		require.NoError(t, w.OrphansAre(ctx, stale))
		require.NoError(t, w.Runs(ctx, stale[0].InstanceManager, stale[0].Name))
		require.NoError(t, w.Write(ctx, name, 1, "second"))

		deletedOnce(t, ctx, w, stale, func(world.Stale) bool { return true })
		require.NoError(t, w.Gone(ctx, stale[0]))
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 1, "second")
	})
}
