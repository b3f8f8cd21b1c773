package replicacontroller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

// Volumes that are placed at the same time share the disks, and none is promised twice.
func TestManyVolumesAtOnceNeverOverCommitADisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const volumes = 20 // of 30 GiB, on three disks of 100 GiB: nine fit
	for n := range volumes {
		w.volume(fmt.Sprintf("v-%d", n), 1, func(s *v1beta2.VolumeSpec) { s.Size = 30 * gib })
	}
	w.start()
	placed := func() (total int, perDisk map[string]int64) {
		perDisk = map[string]int64{}
		for n := range volumes {
			for _, r := range w.replicas(fmt.Sprintf("v-%d", n)) {
				perDisk[r.Spec.DiskID] += r.Spec.VolumeSize
				total++
			}
		}
		return total, perDisk
	}
	w.eventually(func() bool { total, _ := placed(); return total == 9 }, "all that fit are placed")
	for n := range volumes {
		name := fmt.Sprintf("v-%d", n)
		if len(w.replicas(name)) == 0 {
			w.scheduled(name, v1beta2.ReasonInsufficientSpace)
		}
	}
	total, perDisk := placed()
	require.Equal(t, 9, total)
	for disk, promised := range perDisk {
		require.LessOrEqual(t, promised, 100*gib, disk)
	}
}

// rebuilding are the volumes with a replica on the node that is to be rebuilt.
func (w *world) rebuilding(node string, volumes ...string) (out []string) {
	for _, name := range volumes {
		for _, r := range w.replicas(name) {
			if r.Spec.NodeID == node && r.Spec.HealthyAt == "" && r.Spec.FailedAt == "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// Volumes that lack a replica wait for a rebuild slot, and each is enqueued when the one before has ended, whatever its end.
func TestVolumesWaitForARebuildSlot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setting(setting.RebuildsPerNode, "1")
	w.only("node-1")
	p := w.start()
	names := []string{"v-1", "v-2", "v-3", "v-4"}
	for _, name := range names {
		w.volume(name, 1)
		w.shows(name, "node-1/new")
		w.attached(name, "node-1")
	}
	w.only("node-2")
	for _, name := range names {
		w.spec(&v1beta2.Volume{ObjectMeta: w.meta(name)}, map[string]any{"numberOfReplicas": 2})
	}
	ends := []func(string, *v1beta2.Replica){
		func(name string, r *v1beta2.Replica) { w.rebuilt(name, r) },
		func(_ string, r *v1beta2.Replica) { w.runs(r); w.healthy(r) },
		func(name string, _ *v1beta2.Replica) { // its volume is detached before it was started
			v := &v1beta2.Volume{ObjectMeta: w.meta(name)}
			w.status(v, map[string]any{"state": v1beta2.VolumeStateDetaching})
		},
	}
	left := names
	for _, end := range ends {
		var turn []string
		w.eventually(func() bool { turn = w.rebuilding("node-2", left...); return len(turn) > 0 }, "no volume of %v got a slot", left)
		w.quiet(p)
		turn = w.rebuilding("node-2", left...)
		require.Len(t, turn, 1, "one at a time")
		end(turn[0], w.on(turn[0], "node-2"))
		left = slices.DeleteFunc(slices.Clone(left), func(name string) bool { return name == turn[0] })
	}
	w.eventually(func() bool { return len(w.rebuilding("node-2", left...)) == 1 }, "the last one gets a slot, too")
}

// A node that comes back to many volumes rebuilds no more of them at once than the setting allows.
func TestReturningReplicasAreRebuiltOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setting(setting.RebuildsPerNode, "1")
	w.only("node-1", "node-2")
	p := w.start()
	names := []string{"v-1", "v-2", "v-3"}
	for _, name := range names {
		w.volume(name, 2)
		w.shows(name, "node-1/new node-2/new")
		w.attached(name, "node-1")
	}
	w.down("node-2")
	for _, name := range names {
		w.failed(name, w.on(name, "node-2"), time.Now())
	}
	w.quiet(p)
	w.nodeIs("node-2", isReady)
	left := names
	for range names {
		w.eventually(func() bool { return len(w.rebuilding("node-2", left...)) == 1 }, "one of %v gets a slot", left)
		w.quiet(p)
		turn := w.rebuilding("node-2", left...)
		require.Len(t, turn, 1)
		w.rebuilt(turn[0], w.on(turn[0], "node-2"))
		left = slices.DeleteFunc(slices.Clone(left), func(name string) bool { return name == turn[0] })
	}
}

// L3: the data of rebuilds that begin at the same time fits on their disk. A rebuild that waits for room begins when another has ended.
func TestRebuildsThatBeginTogetherFitOnTheirDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1")
	p := w.start()
	names := []string{"v-1", "v-2", "v-3"}
	for _, name := range names {
		w.volume(name, 1)
		w.shows(name, "node-1/new")
		w.attached(name, "node-1")
		w.status(w.engine(name), map[string]any{"snapshots": map[string]any{ // of the 75 GiB that the disk may take
			"volume-head": map[string]any{"name": "volume-head", "size": fmt.Sprint(30 * gib)}}})
	}
	w.only("node-2")
	for _, name := range names {
		w.spec(&v1beta2.Volume{ObjectMeta: w.meta(name)}, map[string]any{"numberOfReplicas": 2})
	}
	w.eventually(func() bool { return len(w.rebuilding("node-2", names...)) == 2 }, "two rebuilds fit")
	w.quiet(p)
	begun := w.rebuilding("node-2", names...)
	require.Len(t, begun, 2)
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(begun, name) })[0]
	c := w.scheduled(left, v1beta2.ReasonInsufficientSpace)
	require.Contains(t, c.Message, "Room that rebuilds take is free again only once they have ended.")
	w.rebuilt(begun[0], w.on(begun[0], "node-2"))
	w.eventually(func() bool { return len(w.rebuilding("node-2", left)) == 1 }, "the last one begins when there is room")
}

// Two volumes that grow at the same time are not promised the same room.
func TestVolumesThatGrowTogetherFitOnTheirDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1")
	p := w.start()
	names := []string{"v-1", "v-2"}
	for _, name := range names {
		w.volume(name, 1)
		w.shows(name, "node-1/new")
		w.attached(name, "node-1")
	}
	accepted := func() (out int) {
		for _, name := range names {
			v := &v1beta2.Volume{}
			require.NoError(t, w.admin.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, v))
			if v.Status.AcceptedSize == 80*gib {
				out++
			}
		}
		return out
	}
	for _, name := range names {
		w.spec(&v1beta2.Volume{ObjectMeta: w.meta(name)}, map[string]any{"size": fmt.Sprint(80 * gib)})
	}
	w.eventually(func() bool { return accepted() > 0 }, "one of them may grow")
	w.quiet(p)
	require.Equal(t, 1, accepted())
}
