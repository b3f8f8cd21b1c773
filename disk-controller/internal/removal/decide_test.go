package removal

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/replicadata"
)

const uuid = "aaaa1111-0000-4000-8000-000000000001"

func on(kind, status, reason string) v1beta2.Condition {
	return v1beta2.Condition{Type: kind, Status: v1beta2.ConditionStatus(status), Reason: reason, ObservedGeneration: 3}
}

// approved is a world in which a directory is to be removed, since its volume is being deleted.
func approved(changes ...func(*World)) World {
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "vol-r-1", UID: "uid-1", Generation: 3, Finalizers: []string{v1beta2.Finalizer},
		DeletionTimestamp: &metav1.Time{}, OwnerReferences: []metav1.OwnerReference{{Kind: "Volume", Name: "vol", UID: "uid-v"}}}}
	r.Spec = v1beta2.ReplicaSpec{VolumeName: "vol", NodeID: "node-1", DiskID: uuid, DiskPath: "/data/", DataDirectoryName: "vol-0a1b2c3d",
		DataEngine: "v1", DesireState: "stopped"}
	r.Status.CurrentState = "stopped"
	r.Status.Conditions = []v1beta2.Condition{on(v1beta2.ReplicaDataRemovalApproved, "True", v1beta2.ReasonVolumeDeleting),
		on(v1beta2.ReplicaInstanceGone, "True", v1beta2.ReasonInstanceGone)}
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	n.Spec.Disks = map[string]v1beta2.DiskSpec{"data": {Path: "/data"}}
	n.Status.DiskStatus = map[string]v1beta2.DiskStatus{"data": {DiskUUID: uuid, DiskPath: "/data",
		Conditions: []v1beta2.Condition{on(v1beta2.DiskReady, "True", "")}}}
	w := World{Replica: r, Node: n, Claims: replicadata.Claims{Replicas: []v1beta2.Replica{*r}}}
	for _, change := range changes {
		change(&w)
	}
	return w
}

// surplus is a world in which another copy of the volume is in use.
func surplus(changes ...func(*World)) World {
	return approved(append([]func(*World){func(w *World) {
		w.Replica.Status.Conditions[0].Reason = v1beta2.ReasonHealthyCopyElsewhere
		other := v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "vol-r-2", UID: "uid-2"}}
		other.Spec = v1beta2.ReplicaSpec{VolumeName: "vol", NodeID: "node-2", DataDirectoryName: "vol-99999999", Active: true,
			HealthyAt: "2026-01-01T00:00:00Z"}
		w.Volume, w.Copies = &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{UID: "uid-v"}}, []v1beta2.Replica{other, *w.Replica}
		ready := []v1beta2.Condition{on(v1beta2.NodeReady, "True", "")}
		w.Nodes = map[string]*v1beta2.Node{"node-2": {Status: v1beta2.NodeStatus{Conditions: ready}}}
		modes := map[string]string{"vol-r-2": "RW"}
		w.Engines = []v1beta2.Engine{{Status: v1beta2.EngineStatus{CurrentState: "running", ReplicaModeMap: modes}}}
	}}, changes...)...)
}

func began(w *World) {
	w.Replica.Status.Conditions = append(w.Replica.Status.Conditions, on(v1beta2.ReplicaDataRemoved, "False", v1beta2.ReasonRemoving))
}

// Each row is a rule of the package.
func TestEachRuleOfARemoval(t *testing.T) {
	r := func(f func(*v1beta2.Replica)) func(*World) { return func(w *World) { f(w.Replica) } }
	disk := func(f func(*v1beta2.DiskStatus)) func(*World) {
		return func(w *World) {
			d := w.Node.Status.DiskStatus["data"]
			f(&d)
			w.Node.Status.DiskStatus["data"] = d
		}
	}
	claimed := func(w *World) {
		other := *w.Replica.DeepCopy()
		other.UID, other.Name = "uid-9", "vol-r-9"
		w.Claims.Replicas = append(w.Claims.Replicas, other)
	}
	notReady := disk(func(d *v1beta2.DiskStatus) { d.Conditions[0].Status = "False" })
	exists := func(w *World) { w.Volume = &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{UID: "uid-v"}} }
	for name, c := range map[string]struct {
		w      World
		reason string
		remove bool
		held   bool
	}{
		"the volume is gone": {w: approved(), reason: v1beta2.ReasonRemoving, remove: true},
		"the volume goes": {w: approved(exists, func(w *World) { w.Volume.DeletionTimestamp = &metav1.Time{} }),
			reason: v1beta2.ReasonRemoving, remove: true},
		"the volume is another of that name": {w: approved(exists, func(w *World) { w.Volume.UID = "uid-w" }),
			reason: v1beta2.ReasonRemoving, remove: true},
		"the volume stays":               {w: approved(exists), held: true},
		"a removal that began continues": {w: approved(began, exists), remove: true},
		"another copy is in use":         {w: surplus(), reason: v1beta2.ReasonRemoving, remove: true},
		"the other copy failed": {w: surplus(func(w *World) { w.Copies[0].Spec.FailedAt = "2026-01-01T00:00:00Z" }),
			held: true},
		"the other copy is being deleted": {w: surplus(func(w *World) { w.Copies[0].DeletionTimestamp = &metav1.Time{} }),
			held: true},
		"the other copy is not in use": {w: surplus(func(w *World) { w.Engines[0].Status.ReplicaModeMap["vol-r-2"] = "WO" }),
			held: true},
		"no engine runs": {w: surplus(func(w *World) { w.Engines = nil }), held: true},
		"the other copy's node is not ready": {w: surplus(func(w *World) { w.Nodes["node-2"].Status.Conditions[0].Status = "False" }),
			held: true},
		"the other copy's node is gone": {w: surplus(func(w *World) { w.Nodes = nil }), held: true},
		"the other copy is in the same directory": {w: surplus(func(w *World) {
			w.Copies[0].Spec = w.Replica.Spec
			w.Copies[0].Spec.HealthyAt, w.Copies[0].Spec.Active = "2026-01-01T00:00:00Z", true
			w.Nodes["node-1"] = w.Nodes["node-2"]
		}), held: true},
		"it is not being deleted":           {w: approved(r(func(r *v1beta2.Replica) { r.DeletionTimestamp = nil }))},
		"it is v2":                          {w: approved(r(func(r *v1beta2.Replica) { r.Spec.DataEngine = "v2" }))},
		"it is of another node":             {w: approved(r(func(r *v1beta2.Replica) { r.Spec.NodeID = "node-2" }))},
		"it has no finalizer":               {w: approved(r(func(r *v1beta2.Replica) { r.Finalizers = nil }))},
		"it has no directory":               {w: approved(r(func(r *v1beta2.Replica) { r.Spec.DataDirectoryName = "" }))},
		"it is not approved":                {w: approved(r(func(r *v1beta2.Replica) { r.Status.Conditions[0].Status = "False" }))},
		"it is approved for a newer reason": {w: approved(r(func(r *v1beta2.Replica) { r.Status.Conditions[0].Reason = "Newer" }))},
		"its instance is not proven gone":   {w: approved(r(func(r *v1beta2.Replica) { r.Status.Conditions[1].Status = "False" }))},
		"its instance was gone before":      {w: approved(r(func(r *v1beta2.Replica) { r.Generation = 4 }))},
		"it is to run":                      {w: approved(r(func(r *v1beta2.Replica) { r.Spec.DesireState = "running" }))},
		"it runs":                           {w: approved(r(func(r *v1beta2.Replica) { r.Status.CurrentState = "running" }))},
		"its state is not known":            {w: approved(r(func(r *v1beta2.Replica) { r.Status.CurrentState = "unknown" }))},
		"a start may be under way":          {w: approved(r(func(r *v1beta2.Replica) { r.Status.Starting = true }))},
		"it never started": {w: approved(r(func(r *v1beta2.Replica) { r.Status.CurrentState = "" })),
			reason: v1beta2.ReasonRemoving, remove: true},
		"its directory was removed": {w: approved(began, r(func(r *v1beta2.Replica) { r.Status.Conditions[2].Status = "True" }))},
		"the Replica is gone":       {w: approved(func(w *World) { w.Replica = nil })},
		"the Node is gone":          {w: approved(func(w *World) { w.Node = nil })},
		"the disk left the node":    {w: approved(func(w *World) { w.Node.Spec.Disks = nil }), reason: v1beta2.ReasonDiskGone},
		"the disk became a v2 disk": {w: approved(func(w *World) { w.Node.Spec.Disks["data"] = v1beta2.DiskSpec{DiskType: "block"} }),
			reason: v1beta2.ReasonDiskGone},
		"another disk is at its place": {w: approved(disk(func(d *v1beta2.DiskStatus) { d.DiskUUID = "b" })),
			reason: v1beta2.ReasonDiskGone},
		"the disk's UUID is not known yet": {w: approved(disk(func(d *v1beta2.DiskStatus) { d.DiskUUID = "" })),
			reason: v1beta2.ReasonDiskNotReady},
		"the disk is not ready": {w: approved(notReady), reason: v1beta2.ReasonDiskNotReady},
		"nothing is known of the disk": {w: approved(disk(func(d *v1beta2.DiskStatus) { d.Conditions = nil })),
			reason: v1beta2.ReasonDiskNotReady},
		"the disk is at another path": {w: approved(disk(func(d *v1beta2.DiskStatus) { d.DiskPath = "/mnt" })),
			reason: v1beta2.ReasonDiskNotReady},
		"the name has more than one part": {w: approved(r(func(r *v1beta2.Replica) { r.Spec.DataDirectoryName = "../x-y" })),
			reason: v1beta2.ReasonNothingToRemove},
		"another Replica has the directory":  {w: approved(claimed), reason: v1beta2.ReasonDirectoryClaimed},
		"it is claimed after the beginning":  {w: approved(began, claimed), reason: v1beta2.ReasonRemoving},
		"its disk goes after the beginning":  {w: approved(began, notReady), reason: v1beta2.ReasonRemoving},
		"the copy fails after the beginning": {w: surplus(began, func(w *World) { w.Engines = nil }), remove: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.w)
			require.Equal(t, c.remove, v.Remove)
			require.Equal(t, c.held, v.Held != "")
			if c.reason == "" {
				require.Nil(t, v.Condition)
				return
			}
			require.NotNil(t, v.Condition)
			require.Equal(t, c.reason, v.Condition.Reason)
			ends := c.reason == v1beta2.ReasonDiskGone || c.reason == v1beta2.ReasonNothingToRemove
			require.Equal(t, ends, v.Condition.Status == v1beta2.ConditionTrue)
		})
	}
}

func TestTheOutcomeOfARemovalIsReported(t *testing.T) {
	fresh, begun := approved().Replica, approved(began).Replica
	require.Equal(t, v1beta2.ReasonRemoved, Outcome(fresh, true, nil).Reason)
	require.Equal(t, v1beta2.ReasonNothingToRemove, Outcome(fresh, false, nil).Reason)
	require.Equal(t, v1beta2.ReasonRemoved, Outcome(begun, false, nil).Reason, "an earlier attempt removed it")
	failed := Outcome(begun, true, errors.New("its file system is read-only"))
	require.Equal(t, v1beta2.ReasonDirectoryFailed, failed.Reason)
	require.Equal(t, "Removing the directory /data/replicas/vol-0a1b2c3d on node node-1 failed: its file system is read-only. It is tried "+
		"again automatically; correct the disk if this persists.", failed.Message)
	begun.Status.Conditions[2] = failed
	require.True(t, v1beta2.RemovalBegan(begun), "its data stays lost")
}

// Whatever is broken in a world: nothing is removed without every proof, and the same world has the same verdict.
func TestNothingIsRemovedWithoutEveryProof(t *testing.T) {
	removed := 0
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]func(...func(*World)) World{approved, surplus}).Draw(t, "approval")()
		broken := 0
		spoilt := map[string]func(*World){
			"approval": func(w *World) { w.Replica.Status.Conditions[0].Status = "False" },
			"instance": func(w *World) { w.Replica.Status.Conditions[1].ObservedGeneration = 2 },
			"run":      func(w *World) { w.Replica.Status.Started = true },
			"volume": func(w *World) {
				w.Volume, w.Engines = &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{UID: "uid-v"}}, nil
			},
			"disk":       func(w *World) { w.Node.Status.DiskStatus["data"].Conditions[0].Status = "Unknown" },
			"disk UUID":  func(w *World) { w.Node.Status.DiskStatus["data"] = v1beta2.DiskStatus{DiskUUID: "b"} },
			"claim":      func(w *World) { w.Claims.Replicas[0].UID = "uid-9" },
			"instance 2": func(w *World) { w.Claims.Managers = []v1beta2.InstanceManager{listing("vol-r-1")} },
		}
		for _, name := range slices.Sorted(maps.Keys(spoilt)) {
			if rapid.IntRange(0, 9).Draw(t, name) == 0 {
				spoilt[name](&w)
				broken++
			}
		}
		v := Decide(w)
		require.Equal(t, v, Decide(w))
		require.Equal(t, broken == 0, v.Remove)
		if v.Remove {
			removed++
		}
	})
	require.Positive(t, removed)
}

func listing(name string) v1beta2.InstanceManager {
	im := v1beta2.InstanceManager{Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"}}
	im.Status.InstanceReplicas = map[string]v1beta2.InstanceProcess{name: {}}
	return im
}
