package replicacontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

func (w *world) approval(r *v1beta2.Replica, reason string) v1beta2.Condition {
	w.t.Helper()
	return w.condition(r.DeepCopy(), v1beta2.ReplicaDataRemovalApproved, reason)
}

// The volume goes: all its data may go, and every replica when that was done.
func TestTheReplicasOfADeletedVolumeGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.delete(v)
	for _, r := range w.replicas(vol) {
		w.delete(&r)
		w.approval(&r, v1beta2.ReasonVolumeDeleting)
	}
	one := w.on(vol, "node-1")
	w.removed(one)
	w.shows(vol, "node-2/going")
	w.removed(w.on(vol, "node-2"))
	w.shows(vol, "")
}

// The volume's object was removed without its replicas: they are still released.
func TestAReplicaOfAVolumeThatIsGoneGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := &v1beta2.Replica{ObjectMeta: w.meta("gone-r-1")}
	r.Finalizers = []string{v1beta2.Finalizer}
	r.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: "gone",
		UID: "uid-of-gone"}}
	r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DataEngine, r.Spec.DiskID = "gone", "node-1", v1beta2.DataEngineV2, "disk-of-node-1"
	w.create(r)
	w.start()
	w.delete(r)
	w.approval(r, v1beta2.ReasonVolumeDeleting)
	w.removed(r)
	w.shows("gone", "")
}

// The last copy stays, whoever deletes it; it goes with its volume.
func TestTheLastCopyStaysUntilItsVolumeGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1")
	p := w.start()
	v := w.volume(vol, 1)
	w.shows(vol, "node-1/new")
	w.attached(vol, "node-1")
	r := w.on(vol, "node-1")
	w.only() // otherwise another replica takes its place there
	w.delete(r)
	c := w.approval(r, v1beta2.ReasonNoHealthyCopy)
	require.Contains(t, c.Message, "its data may be the last copy")
	w.quiet(p)
	w.shows(vol, "node-1/going")
	w.delete(v)
	w.approval(r, v1beta2.ReasonVolumeDeleting)
}

// An approval is only as good as the copy that it relies on.
func TestAnApprovalIsTakenBackAndGivenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1", "node-2")
	w.start()
	v := w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.attached(vol, "node-1")
	r := w.on(vol, "node-2")
	w.only()
	w.delete(r)
	w.approval(r, v1beta2.ReasonWaitingForLook)
	w.polls(vol)
	w.approval(r, v1beta2.ReasonHealthyCopyElsewhere)
	w.down("node-1")
	w.approval(r, v1beta2.ReasonNoHealthyCopy)
	w.nodeIs("node-1", isReady)
	w.approval(r, v1beta2.ReasonHealthyCopyElsewhere)
	w.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "currentNodeID": ""})
	w.spec(w.engine(vol), map[string]any{"desireState": v1beta2.InstanceStateStopped})
	w.status(w.engine(vol), map[string]any{"currentState": v1beta2.InstanceStateStopped})
	c := w.approval(r, v1beta2.ReasonWaitingForLook)
	require.Contains(t, c.Message, "attach the volume, or delete it")
}

// An earlier poll, of the same clock, approves nothing; the one that is requested does at once.
func TestARemovalTakesOnePollWhateverTheClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ahead = ahead
			w.only("node-1", "node-2")
			p := w.start()
			w.volume(vol, 2)
			w.shows(vol, "node-1/new node-2/new")
			w.attached(vol, "node-1")
			earlier := stamp(time.Now().Add(ahead))
			w.spec(w.engine(vol), map[string]any{"lookRequestedAt": earlier})
			w.status(w.engine(vol), map[string]any{"lookedAt": earlier})
			r := w.on(vol, "node-2")
			w.only()
			w.delete(r)
			w.approval(r, v1beta2.ReasonWaitingForLook)
			w.quiet(p)
			w.approval(r, v1beta2.ReasonWaitingForLook)
			w.polls(vol)
			w.approval(r, v1beta2.ReasonHealthyCopyElsewhere)
		})
	}
}

func TestReplicasOfAVolumeAreRemovedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.volume(vol, 3)
	w.shows(vol, "node-1/new node-2/new node-3/new")
	w.attached(vol, "node-1")
	w.only()
	second, third := w.on(vol, "node-2"), w.on(vol, "node-3")
	w.delete(second)
	w.polls(vol)
	w.approval(second, v1beta2.ReasonHealthyCopyElsewhere)
	w.delete(third)
	w.approval(third, v1beta2.ReasonOtherReplicaFirst)
	w.out(vol, second)
	w.removed(second)
	w.eventually(func() bool {
		e := w.engine(vol)
		if w.admin.Get(t.Context(), client.ObjectKeyFromObject(e), e) != nil || e.Spec.LookRequestedAt == e.Status.LookedAt {
			return false
		}
		w.polls(vol)
		return true
	}, "a poll is requested that is newer than the second deletion")
	w.approval(third, v1beta2.ReasonHealthyCopyElsewhere)
}

// v1: the disk-controller of its node removes the directory and reports that.
func TestAV1ReplicaGoesWhenItsDirectoryWasRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	r := &v1beta2.Replica{ObjectMeta: w.meta("gone-r-1")}
	r.Finalizers = []string{v1beta2.Finalizer}
	r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DataEngine, r.Spec.DiskPath = "gone", "node-1", v1beta2.DataEngineV1, "/disk"
	r.Spec.Active, r.Spec.DataDirectoryName, r.Spec.DesireState = true, "gone-1234", v1beta2.InstanceStateStopped
	w.create(r)
	w.status(r, map[string]any{"currentState": v1beta2.InstanceStateStopped})
	w.delete(r)
	w.approval(r, v1beta2.ReasonVolumeDeleting)
	w.shows("gone", "node-1/going")
	w.removed(r)
	w.shows("gone", "")
}

// Nobody can remove the directory of a replica whose node does not exist any more.
func TestAV1ReplicaOnANodeThatIsGoneEndsWithAnEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	r := &v1beta2.Replica{ObjectMeta: w.meta("gone-r-1")}
	r.Finalizers = []string{v1beta2.Finalizer}
	r.Spec.VolumeName, r.Spec.NodeID, r.Spec.DataEngine, r.Spec.DiskPath = "gone", "node-7", v1beta2.DataEngineV1, "/disk"
	r.Spec.Active, r.Spec.DataDirectoryName, r.Spec.DesireState = true, "gone-1234", v1beta2.InstanceStateStopped
	w.create(r)
	w.delete(r)
	w.shows("gone", "")
	w.event("NodeGone")
}

// The whole way of a replica that cannot be rebuilt: five attempts, then another one takes its place.
func TestAReplicaThatFailsAgainAndAgainIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.only("node-1", "node-2")
	w.start()
	w.volume(vol, 2)
	w.shows(vol, "node-1/new node-2/new")
	w.attached(vol, "node-1")
	bad := w.on(vol, "node-2")
	w.only("node-3")
	for attempt := range 5 {
		w.failed(vol, bad, time.Now().Add(-time.Minute))
		w.eventually(func() bool {
			r := w.on(vol, "node-2")
			return r.Spec.FailedAt == "" && r.Spec.RebuildRetryCount == attempt+1
		}, "attempt %d", attempt+1)
	}
	w.failed(vol, bad, time.Now().Add(-time.Minute))
	w.shows(vol, "node-1 node-2/going node-3/new")
}
