package enginepoll_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginepoll"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	shared "drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit/cut"
)

// lazy polls by itself once an hour: what happens, an event brought about.
var lazy = enginepoll.Options{Period: time.Hour, Busy: 20 * time.Millisecond, RebuildStallTimeout: time.Hour, Snapshots: times,
	PostElectionDelay: electionDelay}

// lively polls all the time.
var lively = enginepoll.Options{Period: 100 * time.Millisecond, Busy: 20 * time.Millisecond, RebuildStallTimeout: time.Hour,
	Snapshots: times, PostElectionDelay: electionDelay}

var times = enginepoll.SnapshotOptions{Gap: 300 * time.Millisecond, Gather: 200 * time.Millisecond}

const electionDelay = 200 * time.Millisecond

// snapshots is a world whose engine reports whose volume's it is. The test plays snapshot-controller.
type snapshots struct {
	*world
	volume *v1beta2.Volume
	owner  []metav1.OwnerReference
}

func newSnapshots(t *testing.T, options enginepoll.Options) *snapshots {
	t.Helper()
	w := &snapshots{world: newWorld(t, options), volume: &v1beta2.Volume{}}
	w.volume.ObjectMeta = w.meta("vol")
	w.volume.Finalizers = []string{v1beta2.Finalizer}
	w.create(w.volume)
	w.owner = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: "vol", UID: w.volume.UID}}
	e := w.get()
	e.OwnerReferences = w.owner
	require.NoError(t, w.admin.Update(t.Context(), e))
	return w
}

func startedSnapshots(t *testing.T, options enginepoll.Options) *snapshots {
	t.Helper()
	w := newSnapshots(t, options)
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	return w
}

// asked makes a Snapshot that is to be taken, and approves that.
func (w *snapshots) asked(name string) *v1beta2.Snapshot {
	w.t.Helper()
	s := &v1beta2.Snapshot{ObjectMeta: w.meta(name),
		Spec: v1beta2.SnapshotSpec{Volume: "vol", CreateSnapshot: true, Labels: map[string]string{"why": "test"}}}
	s.OwnerReferences, s.Finalizers = w.owner, []string{v1beta2.Finalizer}
	w.create(s)
	w.status(s, map[string]any{"requestedTime": time.Now().UTC().Format(time.RFC3339)})
	return s
}

// described makes a Snapshot of what the engine has.
func (w *snapshots) described(name string) *v1beta2.Snapshot {
	w.t.Helper()
	w.server.holds(name, true)
	s := &v1beta2.Snapshot{ObjectMeta: w.meta(name), Spec: v1beta2.SnapshotSpec{Volume: "vol"}}
	s.OwnerReferences, s.Finalizers = w.owner, []string{v1beta2.Finalizer}
	w.create(s)
	w.status(s, map[string]any{"creationTime": "2026-01-01T00:00:00Z"})
	return s
}

// deletes is what a person does, and approves what policy does.
func (w *snapshots) deletes(s *v1beta2.Snapshot) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Delete(w.t.Context(), s.DeepCopy()))
}

func (w *snapshots) approves(s *v1beta2.Snapshot) {
	w.t.Helper()
	c := v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonRequested}
	require.NoError(w.t, shared.Apply(w.t.Context(), w.admin, s, "snapshot-controller",
		map[string]any{"conditions": shared.ConditionsField([]v1beta2.Condition{c})}))
}

func (w *snapshots) read(name string) *v1beta2.Snapshot {
	w.t.Helper()
	s := &v1beta2.Snapshot{}
	err := w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, s)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return s
}

// reports waits until a Snapshot reports it.
func (w *snapshots) reports(name, kind string, status v1beta2.ConditionStatus, reason string) *v1beta2.Snapshot {
	w.t.Helper()
	var s *v1beta2.Snapshot
	w.eventually(fmt.Sprintf("snapshot %s never reported %s=%s/%s", name, kind, status, reason), func() bool {
		if s = w.read(name); s == nil {
			return false
		}
		c := conditions.Get(s.Status.Conditions, kind)
		return c != nil && c.Status == status && c.Reason == reason
	})
	return s
}

func (w *snapshots) provisioned(name string, status v1beta2.ConditionStatus, reason string) *v1beta2.Snapshot {
	w.t.Helper()
	return w.reports(name, v1beta2.SnapshotProvisioned, status, reason)
}

// taken waits until the engine's status lists it, and returns its object.
func (w *snapshots) taken(name string) *v1beta2.Snapshot {
	w.t.Helper()
	w.until("it is not listed", func(e *v1beta2.Engine) bool { _, there := e.Status.Snapshots[name]; return there })
	return w.read(name)
}

// gone waits until the engine's status does not list these any more.
func (w *snapshots) gone(names ...string) {
	w.t.Helper()
	w.until("they never went", func(e *v1beta2.Engine) bool {
		for _, name := range names {
			if _, there := e.Status.Snapshots[name]; there {
				return false
			}
		}
		return true
	})
}

// S1.
func TestWhatIsAskedForIsTakenOnce(t *testing.T) {
	w := startedSnapshots(t, lazy)
	w.asked("s-1")
	s := w.taken("s-1")
	require.Empty(t, s.Status.CreationTime, "the rest of the status is policy's")
	require.Equal(t, map[string]string{"why": "test"}, w.get().Status.Snapshots["s-1"].Labels)
	w.server.do(func() {
		require.Len(t, w.server.work.taken, 1)
		require.Equal(t, "s-1", w.server.work.taken[0].GetSnapshotVolume().GetName())
	})
}

func TestWritesAndCallsForOneSnapshot(t *testing.T) {
	w := newSnapshots(t, lazy)
	p := w.start()
	w.until("no size", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == gib })
	before := len(p.client.Writes())
	w.asked("s-1")
	w.taken("s-1")
	require.Equal(t, []string{"patch Engine/status " + name}, p.client.Writes()[before:])

	w.asked("s-2")
	w.taken("s-2")
	s := w.read("s-1")
	w.status(s, map[string]any{"creationTime": "2026-01-01T00:00:00Z"})
	before = len(p.client.Writes())
	w.deletes(s)
	w.approves(s)
	w.gone("s-1")
	for _, write := range p.client.Writes()[before:] {
		require.Equal(t, "patch Engine/status "+name, write, "policy needs no more than the engine's status")
	}
	require.LessOrEqual(t, len(p.client.Writes())-before, 2)
}

// S3.
func TestWhatIsThereIsAdopted(t *testing.T) {
	w := newSnapshots(t, lazy)
	w.server.holds("s-1", false)
	w.asked("s-1")
	w.start()
	w.provisioned("s-1", v1beta2.ConditionTrue, v1beta2.ReasonAdopted)
	require.Empty(t, w.server.called("VolumeSnapshot"))
}

func TestARefusalIsSaidInTheEnginesWordsAndNotRepeated(t *testing.T) {
	w := startedSnapshots(t, lively)
	w.server.refuse(t, "VolumeSnapshot", status.Error(codes.Unknown, "too many snapshots created"))
	w.asked("s-1")
	s := w.provisioned("s-1", v1beta2.ConditionFalse, v1beta2.ReasonFailed)
	require.Contains(t, conditions.Get(s.Status.Conditions, v1beta2.SnapshotProvisioned).Message, "too many snapshots created")
	w.polls(5)
	require.Len(t, w.server.called("VolumeSnapshot"), 1)
	first := conditions.Get(s.Status.Conditions, v1beta2.SnapshotProvisioned).LastProbeTime
	w.status(s, map[string]any{"requestedTime": time.Now().UTC().Format(time.RFC3339Nano)})
	w.eventually("the second request is not answered", func() bool {
		return conditions.Get(w.read("s-1").Status.Conditions, v1beta2.SnapshotProvisioned).LastProbeTime != first
	})
	w.polls(5)
	require.Len(t, w.server.called("VolumeSnapshot"), 2)
}

func TestALimitIsKeptBeforeACall(t *testing.T) {
	w := startedSnapshots(t, lively)
	w.described("s-0")
	w.spec(map[string]any{"snapshotMaxCount": 1})
	w.asked("s-1")
	w.provisioned("s-1", v1beta2.ConditionFalse, v1beta2.ReasonLimitReached)
	require.Empty(t, w.server.called("VolumeSnapshot"))
	w.spec(map[string]any{"snapshotMaxCount": 2})
	w.taken("s-1")
}

// S2.
func TestWhatWasDeletedBeforeACallIsNotTaken(t *testing.T) {
	w := startedSnapshots(t, lively)
	w.engine("vol-e-1", "vol", v1beta2.DataEngineV1)
	s := w.asked("s-1")
	w.polls(3)
	require.Empty(t, w.server.called("VolumeSnapshot"), "another engine of the volume must run")
	w.deletes(s)
	w.provisioned("s-1", v1beta2.ConditionFalse, v1beta2.ReasonCancelled)
	require.Empty(t, w.server.called("VolumeSnapshot"))
}

// S4, SNP-2.
func TestACallWhoseAnswerIsLostMakesOneSnapshot(t *testing.T) {
	w := startedSnapshots(t, lively)
	w.server.do(func() { w.server.work.lost = map[string]int{"VolumeSnapshot": 1} })
	w.asked("s-1")
	w.taken("s-1")
	w.server.do(func() { require.Len(t, w.server.work.taken, 1) })
}

// S5.
func TestASystemSnapshotHasAnObjectAsLongAsItIsThere(t *testing.T) {
	w := startedSnapshots(t, lively)
	w.server.holds("system-1", false)
	w.eventually("no object was made", func() bool { return w.read("system-1") != nil })
	s := w.read("system-1")
	require.Equal(t, v1beta2.SnapshotSpec{Volume: "vol"}, s.Spec)
	require.Equal(t, w.owner, s.OwnerReferences)
	require.Equal(t, []string{v1beta2.Finalizer}, s.Finalizers)
	require.Equal(t, "vol", s.Labels[v1beta2.LabelVolume])
	require.Nil(t, w.read(head))

	waiting := &v1beta2.Snapshot{ObjectMeta: w.meta("not-yet"), Spec: v1beta2.SnapshotSpec{Volume: "vol", CreateSnapshot: true}}
	waiting.OwnerReferences = w.owner
	w.create(waiting)
	w.server.do(func() { w.server.drop("system-1") })
	w.reports("system-1", v1beta2.SnapshotWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonSnapshotGone)
	require.Empty(t, w.read("not-yet").Status.Conditions)
	require.Nil(t, w.read(head))
}

func TestNoObjectIsMadeForAVolumeThatGoesOrIsAnother(t *testing.T) {
	for name, change := range map[string]func(*snapshots){
		"it is being deleted": func(w *snapshots) { require.NoError(w.t, w.admin.Delete(w.t.Context(), w.volume.DeepCopy())) },
		"it is another one":   func(w *snapshots) { w.spoilOwner("11111111-2222-3333-4444-555555555555") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newSnapshots(t, lively)
			change(w)
			w.start()
			w.server.holds("system-1", false)
			w.until("no poll", func(e *v1beta2.Engine) bool { return len(e.Status.Snapshots) == 2 })
			w.polls(5)
			require.Nil(t, w.read("system-1"))
		})
	}
}

// spoilOwner makes the engine one of another volume of the same name.
func (w *snapshots) spoilOwner(uid string) {
	e := w.get()
	e.OwnerReferences[0].UID = "11111111-2222-3333-4444-555555555555"
	require.NoError(w.t, w.admin.Update(w.t.Context(), e), uid)
}

// S6, SNP-1.
func TestNothingIsWithdrawnWithoutEvidence(t *testing.T) {
	for name, c := range map[string]func(*snapshots){
		"no replica answers for the list": func(w *snapshots) {
			w.server.do(func() { w.server.members[0].mode = ptypes.ReplicaMode_ERR })
		},
		"the list fails":                   func(w *snapshots) { w.server.refuse(w.t, "SnapshotList", status.Error(codes.Unknown, "no")) },
		"the engine is not the active one": func(w *snapshots) { w.spec(map[string]any{"active": false}) },
		"the list has no head":             func(w *snapshots) { w.server.do(func() { w.server.snapshots = nil }) },
		"the engine is another volume's":   func(w *snapshots) { w.spoilOwner("other") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSnapshots(t, lively)
			w.described("s-1")
			w.start()
			w.until("it was never seen", func(e *v1beta2.Engine) bool { return e.Status.Snapshots["s-1"].Name != "" })
			c(w)
			w.server.do(func() { delete(w.server.snapshots, "s-1") })
			w.spec(map[string]any{"snapshotMaxSize": "1"}) // somebody enqueues it
			ends := time.Now().Add(3 * times.Gap)
			w.eventually("time stands still", func() bool { return time.Now().After(ends) })
			require.Empty(t, w.read("s-1").Status.Conditions)
		})
	}
}

// S7.
func TestAHundredDeletedSnapshotsAreOneRemovalAndOnePurge(t *testing.T) {
	w := newSnapshots(t, lazy)
	var all []*v1beta2.Snapshot
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("s-%03d", i))
		all = append(all, w.described(names[i]))
	}
	w.described("youngest")
	w.start()
	w.until("they were never seen", func(e *v1beta2.Engine) bool { return len(e.Status.Snapshots) == 102 })
	for _, s := range all {
		w.deletes(s)
	}
	for _, s := range all {
		w.approves(s)
	}
	w.gone(names...)
	require.Contains(t, w.get().Status.Snapshots, "youngest")
	w.server.do(func() {
		require.LessOrEqual(t, len(w.server.work.removed), 2, "a slow machine may take longer than policy is waited for")
		require.LessOrEqual(t, w.server.work.purges, len(w.server.work.removed))
	})
}

func TestAPurgeIsWatchedToItsEndAndNotRepeated(t *testing.T) {
	w := newSnapshots(t, lively)
	s := w.described("s-1")
	w.described("s-2")
	w.server.do(func() { w.server.work.slow = true })
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.deletes(s)
	w.polls(1)
	require.Empty(t, w.server.called("SnapshotRemove"), "no one approved it")
	w.approves(s)
	e := w.until("no purge is reported", func(e *v1beta2.Engine) bool { return e.Status.PurgeStatus["tcp://"+addresses[first]].IsPurging })
	require.True(t, e.Status.Snapshots["s-1"].Removed)
	require.Equal(t, 50, e.Status.PurgeStatus["tcp://"+addresses[first]].Progress)
	w.polls(5)
	w.server.do(func() { w.server.purge() })
	w.gone("s-1")
	w.until("the end of the purge is not reported", func(e *v1beta2.Engine) bool {
		return e.Status.PurgeStatus["tcp://"+addresses[first]].State == "complete"
	})
	w.server.do(func() {
		require.Equal(t, [][]string{{"s-1"}}, w.server.work.removed)
		require.Equal(t, 1, w.server.work.purges)
	})
}

// What the engine cannot remove is reported, and tried once for each approval: the place among the purges is for others meanwhile.
func TestARemovalThatFailsIsSaidAndTriedOnceForEachApproval(t *testing.T) {
	for name, c := range map[string]struct {
		reason, words string
		begin, end    func(*snapshots)
		calls         string
		times         int
	}{
		"its purge ends with an error": {v1beta2.ReasonPurgeFailed, "disk on fire",
			func(w *snapshots) { w.server.do(func() { w.server.work.broken = "disk on fire" }) },
			func(w *snapshots) { w.server.do(func() { w.server.work.broken = "" }) }, "SnapshotPurge", 1},
		"it refuses to purge": {v1beta2.ReasonRefused, "no",
			func(w *snapshots) { w.server.refuse(w.t, "SnapshotPurge", status.Error(codes.Unknown, "no")) },
			func(w *snapshots) { w.server.refuse(w.t, "SnapshotPurge", nil) }, "SnapshotPurge", 1},
		"it never answers": {v1beta2.ReasonUnreachable, "no route",
			func(w *snapshots) { w.server.refuse(w.t, "SnapshotPurge", status.Error(codes.Unavailable, "no route")) },
			func(w *snapshots) { w.server.refuse(w.t, "SnapshotPurge", nil) }, "SnapshotPurge", 3},
		"it refuses to remove": {v1beta2.ReasonRefused, "no",
			func(w *snapshots) { w.server.refuse(w.t, "SnapshotRemove", status.Error(codes.Unknown, "no")) },
			func(w *snapshots) { w.server.refuse(w.t, "SnapshotRemove", nil) }, "SnapshotRemove", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSnapshots(t, lively)
			s := w.described("s-1")
			w.described("s-2")
			c.begin(w)
			w.start()
			w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
			w.deletes(s)
			w.approves(s)
			snapshot := w.reports("s-1", v1beta2.SnapshotRemovalFailed, v1beta2.ConditionTrue, c.reason)
			require.Contains(t, conditions.Get(snapshot.Status.Conditions, v1beta2.SnapshotRemovalFailed).Message, c.words)
			w.polls(5)
			require.Len(t, w.server.called(c.calls), c.times)
			c.end(w)
			w.polls(5)
			require.Len(t, w.server.called(c.calls), c.times, "no one approved it again")
			w.approvesAgain(s)
			w.gone("s-1")
		})
	}
}

// approvesAgain is what policy does after a pause.
func (w *snapshots) approvesAgain(s *v1beta2.Snapshot) {
	w.t.Helper()
	c := v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonRequested,
		LastTransitionTime: time.Now().Add(time.Second).UTC().Format(time.RFC3339)}
	require.NoError(w.t, shared.Apply(w.t.Context(), w.admin, s, "snapshot-controller",
		map[string]any{"conditions": shared.ConditionsField([]v1beta2.Condition{c})}))
}

// S2: an engine that refused may have begun all the same.
func TestWhatTheEngineRefusedIsCancelledOnceItIsProvenAbsent(t *testing.T) {
	w := startedSnapshots(t, lively)
	w.server.refuse(t, "VolumeSnapshot", status.Error(codes.Unknown, "no"))
	s := w.asked("s-1")
	w.provisioned("s-1", v1beta2.ConditionFalse, v1beta2.ReasonFailed)
	w.deletes(s)
	w.provisioned("s-1", v1beta2.ConditionFalse, v1beta2.ReasonCancelled)

	s = w.asked("s-2")
	w.provisioned("s-2", v1beta2.ConditionFalse, v1beta2.ReasonFailed)
	w.server.holds("s-2", true) // it ends late
	w.deletes(s)
	w.provisioned("s-2", v1beta2.ConditionTrue, v1beta2.ReasonTaken)
}

// S8.
func TestNothingIsRemovedWhileTheVolumeMovesOrARebuildGoesOn(t *testing.T) {
	for name, c := range map[string]struct{ begin, end func(*snapshots) }{
		"it moves": {func(w *snapshots) {
			require.NoError(w.t, shared.MergeSpec(w.t.Context(), w.admin, w.volume, map[string]any{"migrationNodeID": "node-2"}))
		}, func(w *snapshots) {
			require.NoError(w.t, shared.MergeSpec(w.t.Context(), w.admin, w.volume, map[string]any{"migrationNodeID": ""}))
		}},
		"a replica is being rebuilt": {
			func(w *snapshots) {
				w.server.has(addresses[second], ptypes.ReplicaMode_WO)
				w.maps(second, addresses[second])
			},
			func(w *snapshots) { w.server.do(func() { w.server.members[1].mode = ptypes.ReplicaMode_RW }) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSnapshots(t, lively)
			s := w.described("s-1")
			w.described("s-2")
			c.begin(w)
			w.start()
			w.until("no poll", func(e *v1beta2.Engine) bool { return len(e.Status.Snapshots) == 3 })
			w.deletes(s)
			w.approves(s)
			ends := time.Now().Add(3 * times.Gather)
			w.eventually("time stands still", func() bool { return time.Now().After(ends) })
			require.Empty(t, w.server.called("SnapshotRemove", "SnapshotPurge"))
			c.end(w)
			w.gone("s-1")
		})
	}
}

func TestV2RemovesAtOnceAndPurgesNothing(t *testing.T) {
	w := newSnapshots(t, lazy)
	w.server.do(func() { w.server.v2 = true; w.server.members[0].name = first })
	w.spec(map[string]any{"dataEngine": v1beta2.DataEngineV2})
	s := w.described("s-1")
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.deletes(s)
	w.approves(s)
	w.gone("s-1")
	require.Empty(t, w.server.called("SnapshotPurge", "SnapshotPurgeStatus"))
}

// S9.
func TestASnapshotOfAnEarlierVolumeOfTheNameIsNeitherTakenNorRemoved(t *testing.T) {
	w := startedSnapshots(t, lively)
	w.server.holds("s-1", true)
	other := append([]metav1.OwnerReference(nil), w.owner...)
	other[0].UID = "11111111-2222-3333-4444-555555555555"
	w.owner = other
	w.asked("s-0")
	s := w.asked("s-1")
	w.deletes(s)
	w.approves(s)
	w.polls(8)
	require.Empty(t, w.server.called("VolumeSnapshot", "SnapshotRemove", "SnapshotPurge"))
	require.Empty(t, w.read("s-0").Status.Conditions)
	require.Nil(t, conditions.Get(w.read("s-1").Status.Conditions, v1beta2.SnapshotProvisioned))
}

func TestAnObserverOfSnapshotsCallsNothing(t *testing.T) {
	w := newSnapshots(t, lively)
	w.observe = true
	w.start()
	w.asked("s-1")
	w.polls(5)
	require.Empty(t, w.server.called("VolumeSnapshot"))
}

// lives takes two snapshots and removes the first.
func (w *snapshots) lives() {
	w.t.Helper()
	w.asked("s-1")
	w.taken("s-1")
	w.asked("s-2")
	w.taken("s-2")
	s := w.read("s-1")
	w.status(s, map[string]any{"creationTime": "2026-01-01T00:00:00Z"})
	w.deletes(s)
	w.approves(s)
	w.gone("s-1")
	w.server.do(func() {
		require.Len(w.t, w.server.work.taken, 2, "each is taken once")
		require.Equal(w.t, [][]string{{"s-1"}}, w.server.work.removed)
		require.Equal(w.t, 1, w.server.work.purges)
	})
}

// ALL-2, SNP-2.
func TestACrashAtAnyWriteTakesAndRemovesOnce(t *testing.T) {
	var writes int
	t.Run("none", func(t *testing.T) {
		w := newSnapshots(t, lazy)
		p := w.start()
		w.lives()
		writes = len(p.client.Writes())
	})
	require.GreaterOrEqual(t, writes, 4, "the first poll, each snapshot in the engine's status, its end")
	for _, at := range cut.Points(writes) {
		t.Run(at.String(), func(t *testing.T) {
			w := newSnapshots(t, lazy)
			end := w.followed(at)
			w.lives()
			end()
		})
	}
}

// followed runs a process that dies at a point, and another one after it; what it returns ends them.
func (w *snapshots) followed(at cut.Point) (end func()) {
	p := w.startCut(at)
	followed := make(chan error, 1)
	go func() {
		err := <-p.done
		p.done <- err
		if err == nil {
			_, err = w.process(cut.Point{})
		}
		followed <- err
	}()
	return func() {
		p.stop()
		require.NoError(w.t, <-followed)
	}
}

// The same for the calls: the answer is lost, and with it whatever the process knew.
func TestACallWhoseAnswerIsLostIsNotRepeated(t *testing.T) {
	for _, method := range []string{"VolumeSnapshot", "SnapshotRemove", "SnapshotPurge"} {
		t.Run(method, func(t *testing.T) {
			w := startedSnapshots(t, lively)
			w.server.do(func() { w.server.work.lost = map[string]int{method: 1} })
			w.lives()
		})
	}
}
