package replicacontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestANewVolumeGetsItsReplicas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.volume(vol, 3)
	w.shows(vol, "node-1/new node-2/new node-3/new")
	w.scheduled(vol, v1beta2.ReasonPlaced)
	w.event("ReplicaCreated")
	r := w.on(vol, "node-2")
	require.Regexp(t, "^vol-1-r-[0-9a-f]{8}$", r.Name)
	require.Equal(t, []string{v1beta2.Finalizer}, r.Finalizers)
	require.Equal(t, map[string]string{v1beta2.LabelVolume: vol, v1beta2.LabelNode: "node-2", v1beta2.LabelDiskUUID: "disk-of-node-2"},
		r.Labels)
	require.Equal(t, v.UID, r.OwnerReferences[0].UID)
	require.Regexp(t, "^vol-1-[0-9a-f]{8}$", r.Spec.DataDirectoryName)
	r.Spec.DataDirectoryName = ""
	require.Equal(t, v1beta2.ReplicaSpec{
		Active: true, DataEngine: v1beta2.DataEngineV2, DesireState: v1beta2.InstanceStateStopped, DiskID: "disk-of-node-2",
		DiskPath:   "/dev/sda",
		EngineName: "vol-1-e-0", Image: "image", NodeID: "node-2", VolumeName: vol, VolumeSize: 10 * gib,
	}, r.Spec)
}

func TestAReplicaWithoutAPlaceIsReportedAndPlacedOnANewNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1")
	w.start()
	w.volume(vol, 2)
	c := w.scheduled(vol, v1beta2.ReasonAntiAffinity)
	require.Equal(t, v1beta2.ConditionFalse, c.Status)
	require.Contains(t, c.Message, "2 spec.allowScheduling is false (node-2, node-3)")
	w.event(v1beta2.ReasonAntiAffinity)
	w.shows(vol, "node-1/new")
	w.node("node-4")
	w.shows(vol, "node-1/new node-4/new")
	w.scheduled(vol, v1beta2.ReasonPlaced)
}

func TestAStrictLocalVolumeWaitsForItsNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.volume(vol, 1, func(s *v1beta2.VolumeSpec) { s.DataLocality = "strict-local" })
	w.scheduled(vol, v1beta2.ReasonWaitingForNode)
	w.spec(v, map[string]any{"nodeID": "node-3"})
	w.shows(vol, "node-3/new")
	w.scheduled(vol, v1beta2.ReasonPlaced)
}

// longhorn-manager creates a replica before it has a place. It goes once it is sure that the volume was never attached, which the machine
// finds by its replicas.
func TestAReplicaWithoutANodeGoesAndAnotherOneIsPlaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.volume(vol, 1, func(s *v1beta2.VolumeSpec) { s.DataLocality = "strict-local" })
	w.scheduled(vol, v1beta2.ReasonWaitingForNode)
	w.status(v, map[string]any{"currentImage": "image"})
	r := &v1beta2.Replica{ObjectMeta: w.meta("vol-1-r-0a1b2c3d")}
	r.Finalizers = []string{v1beta2.Finalizer}
	r.Spec = v1beta2.ReplicaSpec{VolumeName: vol, DataEngine: v1beta2.DataEngineV2, VolumeSize: 10 * gib,
		DesireState: v1beta2.InstanceStateStopped}
	w.create(r)
	w.quiet(p)
	w.shows(vol, "/new")
	w.status(v, map[string]any{"currentImage": ""})
	w.shows(vol, "")
	w.spec(v, map[string]any{"nodeID": "node-3"})
	w.shows(vol, "node-3/new")
	w.scheduled(vol, v1beta2.ReasonPlaced)
}

// It is filled before it is wanted on a node: where a pod waits for it, or where there is room.
func TestAStrictLocalVolumeThatIsFilledIsPlacedBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	local := func(s *v1beta2.VolumeSpec) { s.DataLocality, s.DataSource = "strict-local", "vol://source" }
	w.only("node-1", "node-2")
	w.start()
	w.volume("free", 1, local)
	w.shows("free", "node-1/new")
	w.scheduled("free", v1beta2.ReasonPlaced)

	pod := func(node string) map[string]any {
		return map[string]any{"attachmentTickets": map[string]any{"csi-pod": map[string]any{"id": "csi-pod",
			"type": v1beta2.AttacherCSI, "nodeID": node}}}
	}
	attachment := &v1beta2.VolumeAttachment{ObjectMeta: w.meta(vol)}
	attachment.Spec.Volume = vol
	attachment.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{
		"csi-pod": {ID: "csi-pod", Type: v1beta2.AttacherCSI, NodeID: "node-3"}}
	w.create(attachment)
	w.volume(vol, 1, local)
	w.scheduled(vol, v1beta2.ReasonNoUsableNode)
	w.shows(vol, "")
	w.spec(attachment, pod("node-2"))
	w.shows(vol, "node-2/new")
	w.scheduled(vol, v1beta2.ReasonPlaced)
}

// A full disk: who waits gets what another one leaves.
func TestRoomThatIsLeftIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1")
	w.start()
	first := w.volume("first", 1, func(s *v1beta2.VolumeSpec) { s.Size = 60 * gib })
	w.shows("first", "node-1/new")
	w.volume("second", 1, func(s *v1beta2.VolumeSpec) { s.Size = 60 * gib })
	c := w.scheduled("second", v1beta2.ReasonInsufficientSpace)
	require.Contains(t, c.Message, "The best disk lacks 20Gi.")
	w.delete(first)
	r := w.on("first", "node-1")
	w.delete(r)
	w.removed(r)
	w.shows("second", "node-1/new")
	w.status(&v1beta2.Node{ObjectMeta: w.meta("node-1")},
		map[string]any{"diskStatus": map[string]any{"disk": map[string]any{"storageAvailable": 10 * gib}}})
	w.volume("third", 1)
	w.scheduled("third", v1beta2.ReasonInsufficientSpace)
	w.status(&v1beta2.Node{ObjectMeta: w.meta("node-1")},
		map[string]any{"diskStatus": map[string]any{"disk": map[string]any{"storageAvailable": 50 * gib}}})
	w.shows("third", "node-1/new")
}

// Nothing on the node belongs to the volume yet that is attached there.
func TestABestEffortVolumeGetsItsLocalReplicaOnceItsNodeCanHaveIt(t *testing.T) {
	t.Parallel()
	disk := func(available int64) map[string]any {
		return map[string]any{"diskStatus": map[string]any{"disk": map[string]any{"storageAvailable": available}}}
	}
	for name, c := range map[string]struct{ refused, allowed func(*world, *v1beta2.Node) }{
		"the node takes no replicas": {
			func(w *world, n *v1beta2.Node) { w.spec(n, map[string]any{"allowScheduling": false}) },
			func(w *world, n *v1beta2.Node) { w.spec(n, map[string]any{"allowScheduling": true}) }},
		"its disk is full": {
			func(w *world, n *v1beta2.Node) { w.status(n, disk(0)) },
			func(w *world, n *v1beta2.Node) { w.status(n, disk(100*gib)) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := &v1beta2.Node{ObjectMeta: w.meta("node-3")}
			c.refused(w, n)
			p := w.start()
			w.volume(vol, 2, func(s *v1beta2.VolumeSpec) { s.DataLocality = v1beta2.DataLocalityBestEffort })
			w.shows(vol, "node-1/new node-2/new")
			w.attached(vol, "node-3")
			w.quiet(p)
			w.shows(vol, "node-1 node-2")
			c.allowed(w, n)
			w.shows(vol, "node-1 node-2 node-3/new")
		})
	}
}

func TestAReplicaThatFailedIsTakenBackOrReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.attached(vol, "node-1")
	r := w.on(vol, "node-2")
	w.failed(vol, r, time.Now())
	w.shows(vol, "node-1 node-2/new")
	require.Equal(t, 1, w.on(vol, "node-2").Spec.RebuildRetryCount)
	w.event("ReplicaTakenBack")
	w.rebuilt(vol, r)
	w.eventually(func() bool { return w.on(vol, "node-2").Spec.RebuildRetryCount == 0 }, "a success ends the count")
	w.down("node-2")
	w.failed(vol, r, time.Now().Add(-time.Hour))
	w.shows(vol, "node-1 node-2/failed node-3/new")
	w.rebuilt(vol, w.on(vol, "node-3"))
	w.shows(vol, "node-1 node-2/going node-3")
	w.event("ReplicaDeleted")
}

// The target of a volume is wanted on a node without a replica: when that node goes down the target stays, and delays no rebuild.
func TestARebuildDoesNotWaitForATargetWhoseNodeIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.attached(vol, "node-1")
	w.node("node-4")
	w.spec(v, map[string]any{"targetNodeID": "node-4"})
	w.failed(vol, w.on(vol, "node-2"), time.Now())
	w.down("node-4")
	w.shows(vol, "node-1 node-2/new")
}

// The wait ends by itself, at its time.
func TestReplenishmentWaitsForTheSetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setting(setting.ReplenishmentWaitInterval, "2")
	w.start()
	w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.attached(vol, "node-1")
	w.down("node-2")
	at := time.Now()
	w.failed(vol, w.on(vol, "node-2"), at)
	w.shows(vol, "node-1 node-2/failed node-3/new")
	require.GreaterOrEqual(t, time.Since(at), 2*time.Second)
}

// docs/disks.md, "Retiring a disk", with as many nodes as replicas: the other disk of the node takes the successor.
func TestADiskIsRetiredForAnotherOneOfItsNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secondDisk("node-2")
	w.start()
	w.volume(vol, 3)
	w.shows(vol, "node-1/new node-2/new node-3/new")
	w.attached(vol, "node-1")
	leaves := w.on(vol, "node-2")
	retired := "disk"
	if leaves.Spec.DiskID == "second-of-node-2" {
		retired = "second"
	}
	n := &v1beta2.Node{ObjectMeta: w.meta("node-2")}
	w.spec(n, map[string]any{"disks": map[string]any{retired: map[string]any{"allowScheduling": false, "evictionRequested": true}}})
	w.eventually(func() bool { return len(w.replicas(vol)) == 4 }, "its successor is created")
	for _, r := range w.replicas(vol) {
		if r.Spec.HealthyAt == "" {
			require.Equal(t, "node-2", r.Spec.NodeID)
			require.NotEqual(t, leaves.Spec.DiskID, r.Spec.DiskID)
			w.rebuilt(vol, &r)
		}
	}
	w.polls(vol)
	w.condition(leaves, v1beta2.ReplicaDataRemovalApproved, v1beta2.ReasonHealthyCopyElsewhere)
	w.out(vol, leaves)
	w.removed(leaves)
	w.shows(vol, "node-1 node-2 node-3")
	require.NotEqual(t, leaves.Spec.DiskID, w.on(vol, "node-2").Spec.DiskID)
}

func TestAnEvictedReplicaGoesAfterAnotherOneIsHealthy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.attached(vol, "node-1")
	w.spec(&v1beta2.Node{ObjectMeta: w.meta("node-2")}, map[string]any{"evictionRequested": true})
	w.shows(vol, "node-1 node-2 node-3/new")
	leaves := w.on(vol, "node-2")
	w.eventually(func() bool { return w.on(vol, "node-2").Spec.EvictionRequested }, "it is marked")
	w.rebuilt(vol, w.on(vol, "node-3"))
	w.shows(vol, "node-1 node-2/going node-3")
	w.condition(leaves, v1beta2.ReplicaDataRemovalApproved, v1beta2.ReasonWaitingForLook)
	w.polls(vol)
	w.condition(leaves, v1beta2.ReplicaDataRemovalApproved, v1beta2.ReasonHealthyCopyElsewhere)
	w.out(vol, leaves)
	w.removed(leaves)
	w.shows(vol, "node-1 node-3")
}

// B8: a rebuild that waits for a person leaves its slot to the next rebuild, and both volumes report why they wait.
func TestARebuildThatItsEngineHoldsLeavesItsSlot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setting(setting.RebuildsPerNode, "1")
	w.only("node-1", "node-2")
	w.start()
	for _, name := range []string{"held", "next"} {
		w.volume(name, 2)
		w.shows(name, "node-1/new node-2/new")
		w.attached(name, "node-1")
		w.scheduled(name, v1beta2.ReasonPlaced)
	}
	r := w.on("held", "node-2")
	w.failed("held", r, time.Now())
	w.shows("held", "node-1 node-2/new")
	w.runs(r)
	w.failed("next", w.on("next", "node-2"), time.Now())
	c := w.scheduled("next", v1beta2.ReasonRebuildLimit)
	require.Contains(t, c.Message, "fewer than 1 are rebuilt on node-2")

	w.spec(w.engine("held"), map[string]any{"replicaAddressMap": map[string]any{r.Name: "10.0.0.1:20000"}})
	w.status(w.engine("held"), map[string]any{"snapshotMaxCount": 1, "snapshots": map[string]any{
		"monday": map[string]any{"name": "monday", "userCreated": true, "size": "1"}, "volume-head": map[string]any{"name": "volume-head"}}})
	c = w.scheduled("held", v1beta2.ReasonRebuildHeld)
	require.Contains(t, c.Message, "has 1 snapshots and may have 1")
	w.shows("next", "node-1 node-2/new")
	w.scheduled("next", v1beta2.ReasonPlaced)

	w.status(w.engine("held"), map[string]any{"snapshotMaxCount": 2})
	w.scheduled("held", v1beta2.ReasonPlaced)
}

// B7: the count of failed rebuilds belongs to the volume. Neither the replica nor the leader takes it along.
func TestFailedRebuildsAreCountedByTheVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1", "node-2")
	w.start()
	v := w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.attached(vol, "node-1")
	r := w.on(vol, "node-2")
	count := func(want int) *v1beta2.RebuildFailures {
		w.eventually(func() bool {
			f := v.Status.RebuildFailures
			return w.admin.Get(t.Context(), client.ObjectKeyFromObject(v), v) == nil && f != nil && f.Count == want
		}, "%d failures are counted", want)
		return v.Status.RebuildFailures
	}
	w.failed(vol, r, time.Now())
	w.shows(vol, "node-1 node-2/new")
	w.failed(vol, r, time.Now())
	count(1)
	w.shows(vol, "node-1 node-2/new")
	failedAt := time.Now()
	w.failed(vol, r, failedAt)
	require.Equal(t, map[string]int{"node-2": 2}, count(2).ByNode)
	c := w.scheduled(vol, v1beta2.ReasonRebuildFails)
	require.Contains(t, c.Message, "2 rebuilds failed in a row. Replica "+r.Name+" on node-2 could not be rebuilt.")
	w.stop()
	w.start()
	w.shows(vol, "node-1 node-2/new")
	require.GreaterOrEqual(t, time.Since(failedAt), 5*time.Second)
	require.Equal(t, 2, count(2).Count)
	w.rebuilt(vol, w.on(vol, "node-2"))
	w.scheduled(vol, v1beta2.ReasonPlaced)
	w.eventually(func() bool {
		return w.admin.Get(t.Context(), client.ObjectKeyFromObject(v), v) == nil && v.Status.RebuildFailures == nil
	}, "a success ends the count")
}
