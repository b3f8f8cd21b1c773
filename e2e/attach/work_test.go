//go:build !fast

package attach

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// used returns a detached volume that was written to; more may have been done to it before it was detached.
func used(t *testing.T, ctx context.Context, w *world.World, engine string, attached func(name string) error) string {
	t.Helper()
	name := inUse(t, ctx, w, engine, 2, nil)
	if attached != nil {
		require.NoError(t, attached(name))
	}
	require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
	require.NoError(t, w.WaitDetached(ctx, name, patience))
	return name
}

// reads attaches a volume and compares its first block with what was written to it.
func reads(t *testing.T, ctx context.Context, w *world.World, name, text string) {
	t.Helper()
	require.NoError(t, w.Attach(ctx, name, far, patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	unharmed(t, ctx, w, name, 1, text)
}

// done waits until the work's ticket is gone and the volume is detached again.
func done(t *testing.T, ctx context.Context, w *world.World, name, ticket string) {
	t.Helper()
	require.NoError(t, w.Wait(ctx, "the end of ticket "+ticket, patience, noTicket(name, ticket)))
	require.NoError(t, w.WaitDetached(ctx, name, patience))
}

// A12: a detached volume grows.
func TestA12ADetachedVolumeGrows(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := used(t, ctx, w, engine, nil)
		require.NoError(t, w.HoldCopies(ctx, name))
		require.NoError(t, w.Grow(ctx, name, 2*world.VolumeSize))
		ticket := v1beta2.TicketID(v1beta2.AttacherExpansion, name)
		require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
		require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		require.NoError(t, w.WaitGrown(ctx, name, 2*world.VolumeSize, patience))
		done(t, ctx, w, name, ticket)
		reads(t, ctx, w, name, "first")
	})
}

// A12: a volume grows while it is attached for maintenance.
func TestA12AVolumeGrowsWithoutItsFrontend(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := used(t, ctx, w, engine, nil)
		require.NoError(t, w.Ticket(ctx, name, "maintenance", v1beta2.AttacherLonghornAPI, near, disableFrontend))
		require.NoError(t, w.WaitTicket(ctx, name, "maintenance", true, "", patience))
		require.NoError(t, w.Grow(ctx, name, 2*world.VolumeSize))
		require.NoError(t, w.WaitGrown(ctx, name, 2*world.VolumeSize, patience))
		require.NoError(t, w.DropTicket(ctx, name, "maintenance"))
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		reads(t, ctx, w, name, "first")
	})
}

// A12: a volume grows while a pod uses it.
func TestA12AVolumeInUseGrows(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		require.NoError(t, w.Grow(ctx, name, 2*world.VolumeSize))
		require.NoError(t, w.WaitGrown(ctx, name, 2*world.VolumeSize, patience))
		require.NoError(t, attachedNow(ctx, name, near))
		unharmed(t, ctx, w, name, 1, "first")
	})
}

// A12: the disk under a detached volume's replica is to be evicted: the volume is attached until the replica has moved.
func TestA12AReplicaOfADetachedVolumeLeavesADisk(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := used(t, ctx, w, engine, nil)
		nodes, err := w.ReplicaNodes(ctx, name)
		require.NoError(t, err)
		from := nodes[0]
		t.Cleanup(func() { require.NoError(t, w.EvictDisk(context.WithoutCancel(ctx), from, engine, false)) })
		require.NoError(t, w.HoldCopies(ctx, name))
		require.NoError(t, w.EvictDisk(ctx, from, engine, true))
		ticket := v1beta2.TicketID(v1beta2.AttacherEviction, name)
		require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
		require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		done(t, ctx, w, name, ticket)
		nodes, err = w.ReplicaNodes(ctx, name)
		require.NoError(t, err)
		require.Len(t, nodes, 2)
		require.False(t, slices.Contains(nodes, from), "replicas are on %v", nodes)
		reads(t, ctx, w, name, "first")
	})
}

// A12: a volume is restored from a backup. No pod can use it before the restore is complete.
func TestA12AVolumeIsRestoredFromABackup(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		var url string
		used(t, ctx, w, engine, func(name string) (err error) {
			if url, err = w.SaveBackup(ctx, name, "backup-1", t.TempDir()); err != nil {
				return err
			}
			return w.Write(ctx, name, 1, "later")
		})
		name := world.Unique("restored")
		require.NoError(t, w.HoldCopies(ctx, name))
		require.NoError(t, w.Order(ctx, name, engine, 2, func(spec *v1beta2.VolumeSpec) { spec.FromBackup = url }))
		ticket := v1beta2.TicketID(v1beta2.AttacherRestore, name)
		require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
		require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, far, nil))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", false, "", patience))
		require.NoError(t, withoutFrontend(ctx, w, name))
		require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		require.NoError(t, w.Wait(ctx, "the end of the restore's ticket", patience, noTicket(name, ticket)))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience), "and then the pod gets it")
		unharmed(t, ctx, w, name, 1, "first")
	})
}

// A12: a standby volume, which is restored again and again until it is activated, leaves a disk as any other. The replica that comes is
// filled from the backup, and has its content.
func TestA12AStandbyVolumeLeavesADisk(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		var url string
		used(t, ctx, w, engine, func(name string) (err error) {
			url, err = w.SaveBackup(ctx, name, "backup-1", t.TempDir())
			return err
		})
		name := world.Unique("standby")
		require.NoError(t, w.Order(ctx, name, engine, 2, func(spec *v1beta2.VolumeSpec) {
			spec.FromBackup, spec.Standby, spec.Frontend = url, true, ""
		}))
		require.NoError(t, w.Wait(ctx, "the restore", patience, restoredTo(w, name, "backup-1")))
		before, err := w.ReplicaNodes(ctx, name)
		require.NoError(t, err)
		from := before[0]
		t.Cleanup(func() { require.NoError(t, w.EvictDisk(context.WithoutCancel(ctx), from, engine, false)) })
		require.NoError(t, w.EvictDisk(ctx, from, engine, true))
		require.NoError(t, w.Wait(ctx, "no replica on "+from, patience, func(ctx context.Context) (string, error) {
			nodes, err := w.ReplicaNodes(ctx, name)
			if err == nil && (len(nodes) != 2 || slices.Contains(nodes, from)) {
				return fmt.Sprintf("replicas are on %v", nodes), nil
			}
			return "", err
		}))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		volume := &v1beta2.Volume{}
		require.NoError(t, w.Get(ctx, name, volume))
		require.NoError(t, w.Patch(ctx, volume, map[string]any{"spec": map[string]any{"Standby": false, "frontend": "blockdev"}}))
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		reads(t, ctx, w, name, "first")
	})
}

// restoredTo waits for a volume whose engine has a backup.
func restoredTo(w *world.World, name, backup string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		engine := &v1beta2.Engine{}
		if err := w.Get(ctx, name+"-e-0", engine); err != nil {
			return err.Error(), client.IgnoreNotFound(err)
		}
		if has := engine.Status.LastRestoredBackup; has != backup {
			return "its engine has backup " + has, nil
		}
		return "", nil
	}
}

// withoutFrontend is an error when the volume can be read from.
func withoutFrontend(ctx context.Context, w *world.World, name string) error {
	volume := &v1beta2.Volume{}
	if err := w.Get(ctx, name, volume); err != nil {
		return err
	}
	if text, err := w.Read(ctx, name, 1); err == nil || !volume.Spec.DisableFrontend {
		return fmt.Errorf("volume %s has a frontend and reads %q", name, text)
	}
	return nil
}

// A12: a volume is cloned from a snapshot of another; both stay attached until the clone is complete.
func TestA12AVolumeIsClonedFromASnapshot(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		from := used(t, ctx, w, engine, func(name string) error {
			if err := w.SaveSnapshot(ctx, name, "snapshot-1"); err != nil {
				return err
			}
			return w.Write(ctx, name, 1, "later")
		})
		name := world.Unique("clone")
		require.NoError(t, w.HoldCopies(ctx, name))
		require.NoError(t, w.Order(ctx, name, engine, 2,
			func(spec *v1beta2.VolumeSpec) { spec.DataSource = "snap://" + from + "/snapshot-1" }))
		ticket := v1beta2.TicketID(v1beta2.AttacherClone, name)
		require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
		require.NoError(t, w.WaitTicket(ctx, from, ticket, true, "", patience), "the source is held by a ticket of the same name")
		require.NoError(t, withoutFrontend(ctx, w, name))
		require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		done(t, ctx, w, name, ticket)
		done(t, ctx, w, from, ticket)
		reads(t, ctx, w, name, "first")
		reads(t, ctx, w, from, "later")
	})
}

// A12: the one replica of a strict-local volume is placed to take the data; pods are served where it is, and nowhere else.
func TestA12AStrictLocalVolumeIsFilledBeforeItIsUsed(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		var url string
		from := used(t, ctx, w, engine, func(name string) (err error) {
			url, err = w.SaveBackup(ctx, name, "backup-1", t.TempDir())
			return err
		})
		for attacher, fill := range map[string]func(*v1beta2.VolumeSpec){
			v1beta2.AttacherClone:   func(spec *v1beta2.VolumeSpec) { spec.DataSource = "snap://" + from + "/backup-1" },
			v1beta2.AttacherRestore: func(spec *v1beta2.VolumeSpec) { spec.FromBackup = url },
		} {
			name := world.Unique("local")
			require.NoError(t, w.Order(ctx, name, engine, 1, func(spec *v1beta2.VolumeSpec) {
				fill(spec)
				spec.DataLocality = v1beta2.DataLocalityStrictLocal
			}))
			require.NoError(t, w.WaitVolume(ctx, name, "to have its data", patience, func(v *v1beta2.Volume) string {
				if s := v.Status; s.CloneStatus.State == v1beta2.CloneCompleted || s.RestoreInitiated && !s.RestoreRequired {
					return ""
				}
				return fmt.Sprint(v.Status.Conditions)
			}))
			done(t, ctx, w, name, v1beta2.TicketID(attacher, name))
			nodes, err := w.ReplicaNodes(ctx, name)
			require.NoError(t, err)
			require.Len(t, nodes, 1)
			elsewhere := near
			if nodes[0] == near {
				elsewhere = far
			}
			require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, elsewhere, nil))
			require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", false, v1beta2.ReasonDataLocality, patience))
			require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
			require.NoError(t, w.Attach(ctx, name, nodes[0], patience))
			unharmed(t, ctx, w, name, 1, "first")
		}
	})
}

// A12: a detached volume that lacks a replica is attached to rebuild one.
func TestA12ADetachedVolumeIsMadeWholeAgain(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		set(t, ctx, w, rebuilds, "0", rebuildsDefault)
		name := used(t, ctx, w, engine, func(name string) error {
			replicas, err := w.ReplicasOf(ctx, name)
			if err != nil {
				return err
			}
			if err := w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name); err != nil {
				return err
			}
			if err := w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience); err != nil {
				return err
			}
			return w.Write(ctx, name, 1, "second")
		})
		set(t, ctx, w, "offline-replica-rebuilding", "true", "false")
		require.NoError(t, w.HoldCopies(ctx, name))
		require.NoError(t, w.Set(ctx, rebuilds, rebuildsDefault))
		ticket := v1beta2.TicketID(v1beta2.AttacherRebuilding, name)
		require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
		require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		done(t, ctx, w, name, ticket)
		require.NoError(t, w.WaitFailed(ctx, name, 0, patience))
		reads(t, ctx, w, name, "second")
	})
}

// A12: another component exports a backing image from a detached volume; the volume is attached until the export ends.
func TestA12AVolumeIsHeldWhileAnImageIsMadeOfIt(t *testing.T) {
	ctx, w := fixture(t)
	name, image := used(t, ctx, w, v1beta2.DataEngineV1, nil), world.Unique("image")
	require.NoError(t, w.Export(ctx, image, name))
	ticket := v1beta2.TicketID(v1beta2.AttacherBackingImageData, image)
	require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
	require.NoError(t, w.Exported(ctx, image))
	done(t, ctx, w, name, ticket)
}

// A11: pods on two nodes use a shared volume: it is attached once, where its share is, and follows it.
func TestA11ASharedVolumeFollowsItsShare(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := world.Unique("shared")
		require.NoError(t, w.Order(ctx, name, engine, 2,
			func(spec *v1beta2.VolumeSpec) { spec.AccessMode = v1beta2.AccessModeReadWriteMany }))
		require.NoError(t, w.Ticket(ctx, name, "csi-a", v1beta2.AttacherCSI, near, nil))
		require.NoError(t, w.Ticket(ctx, name, "csi-b", v1beta2.AttacherCSI, far, nil))
		ticket := v1beta2.TicketID(v1beta2.AttacherShareManager, name)
		require.NoError(t, w.WaitTicket(ctx, name, ticket, false, v1beta2.ReasonNoNode, patience), "there is no share manager yet")
		require.NoError(t, w.Share(ctx, name, third))
		require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
		require.NoError(t, w.WaitAttached(ctx, name, third, patience))
		require.NoError(t, w.Write(ctx, name, 1, "first"))
		require.NoError(t, w.DropTicket(ctx, name, "csi-a"))
		require.NoError(t, w.Share(ctx, name, far))
		require.NoError(t, w.WaitAttached(ctx, name, far, patience))
		require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
		require.NoError(t, w.Wait(ctx, "one engine", patience, enginesOn(w, name, far)))
		unharmed(t, ctx, w, name, 1, "first")
		require.NoError(t, w.DropTicket(ctx, name, "csi-b"))
		done(t, ctx, w, name, ticket)
	})
}
