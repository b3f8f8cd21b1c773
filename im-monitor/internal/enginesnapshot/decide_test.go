package enginesnapshot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
)

type (
	polled = enginesnapshot.World
	memory = enginesnapshot.Memory
)

func TestARequestedSnapshotIsTakenOnceAndReported(t *testing.T) {
	const taken, adopted, cancelled, limited = "True/Taken", "True/Adopted", "False/Cancelled", "False/LimitReached"
	failed, waits := provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed),
		provisioned(v1beta2.ConditionFalse, v1beta2.ReasonLimitReached)
	most := func(count int, others ...string) func(*polled) {
		return func(w *polled) {
			w.Limits.Count, w.Others = count, map[string]bool{}
			for _, name := range others {
				w.Others[name] = true
			}
		}
	}
	earlier := func(w *polled) {
		w.ElectedAt, w.FencingDelayEnds = now.Add(-time.Second), now.Add(3*time.Minute)
	}
	for _, c := range []struct {
		name string
		w    polled
		take []string
		want string
	}{
		{"it is taken", world(object("s", asked)), []string{"s"}, ""},
		{"it is not approved yet", world(object("s", func(s *enginesnapshot.Snapshot) { s.Create = true })), nil, ""},
		{"it describes an existing snapshot", world(object("s", seen), lists("s")), nil, ""},
		{"an object that only describes is never taken", world(object("s", asked, func(s *enginesnapshot.Snapshot) { s.Create = false })),
			nil, ""},
		{"it belongs to another volume of this name", world(object("s", asked, foreign)), nil, ""},
		{"its owner is not known", world(object("s", asked, func(s *enginesnapshot.Snapshot) { s.Owner = "" })), nil, ""},
		{"it is there, and this process took it", world(object("s", asked), lists("s", func(i *v1beta2.SnapshotInfo) { i.Created = "" }),
			remembers(func(m *memory) { m.Called = map[string]bool{"s": true} })), nil, ""},
		{"it is there, created after the request", world(object("s", asked), lists("s")), nil, ""},
		{"it is there and known, and the requester's clock is ahead",
			world(object("s", asked, seen, func(s *enginesnapshot.Snapshot) { s.Create = true }),
				lists("s", func(i *v1beta2.SnapshotInfo) { i.Created = "2020-01-01T00:00:00Z" })), nil, ""},
		{"it is there, created before the request",
			world(object("s", asked), lists("s", func(i *v1beta2.SnapshotInfo) { i.Created = "2020-01-01T00:00:00Z" })), nil, adopted},
		{"it is there, and the system created it", world(object("s", asked),
			lists("s", func(i *v1beta2.SnapshotInfo) { i.UserCreated = false })), nil, adopted},
		{"it is there before the request is approved",
			world(object("s", func(s *enginesnapshot.Snapshot) { s.Create = true }), lists("s")), nil,
			adopted},
		{"it is there although a call failed", world(object("s", asked, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed)),
			lists("s")), nil, taken},
		{"it is there although it was cancelled",
			world(object("s", asked, deleting, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonCancelled)), lists("s")), nil, taken},
		{"it was reported already",
			world(object("s", asked, provisioned(v1beta2.ConditionTrue, v1beta2.ReasonAdopted)), lists("s")), nil, ""},
		{"it failed", world(object("s", asked, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed))), nil, ""},
		{"it failed and was requested again", world(object("s", asked, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed),
			func(s *enginesnapshot.Snapshot) { s.Requested = now })), []string{"s"}, ""},
		{"the volume is at its limit", world(object("s", asked), lists("a"), lists("b"), most(2, "a", "b")), nil, limited},
		{"it was requested again, and the volume is still at its limit", world(object("s", asked, failed, again),
			lists("a"), most(1, "a")), nil, limited},
		{"snapshots that wait for a purge do not count", world(object("s", asked), lists("a"), lists("b", marked), most(2, "a", "b")),
			[]string{"s"}, ""},
		{"those that are being taken count", world(object("s", asked), object("t", asked), most(1)), []string{"s"}, limited},
		{"it waited at the limit, and there is room now", world(object("s", asked, waits), lists("a"), most(2, "a")), []string{"s"}, ""},
		{"it waits at the limit still", world(object("s", asked, waits), lists("a"), most(1, "a")), nil, ""},
		{"it was deleted while it waited at the limit", world(object("s", asked, deleting, waits)), nil, cancelled},
		{"another engine of the volume runs", world(object("s", asked), func(w *polled) { w.Alone = false }), nil, ""},
		{"a v1 replica is being rebuilt", world(object("s", asked), func(w *polled) { w.Rebuilding = true }), []string{"s"}, ""},
		{"a v2 replica is being rebuilt", world(object("s", asked), func(w *polled) { w.Rebuilding, w.V2 = true, true }), nil, ""},
		{"another operation of the engine is in progress", world(object("s", asked), func(w *polled) { w.Busy = true }), nil, ""},
		{"the last call was just now", world(object("s", asked),
			remembers(func(m *memory) { m.TakeAfter = map[string]time.Time{"s": now.Add(1)} })), nil, ""},
		{"it was deleted before a call", world(object("s", asked, deleting)), nil, cancelled},
		{"it was deleted after a call had failed, which the engine may still complete",
			world(object("s", asked, deleting, failed)), nil, ""},
		{"two polls did not list it after a call had failed", world(object("s", asked, deleting, failed), missing("s", rules.Gap)), nil,
			cancelled},
		{"the first poll of an engine proves nothing",
			world(object("s", asked, deleting, failed), missing("s", rules.Gap), remembers(func(m *memory) { m.Polled = false })), nil, ""},
		{"it was taken after the engine had refused", world(object("s", asked, deleting, failed), lists("s"), missing("s", rules.Gap)), nil,
			taken},
		{"it was deleted after it was requested again", world(object("s", asked, deleting, failed, again), missing("s", rules.Gap)), nil,
			cancelled},
		{"it was deleted while the second call may be in progress",
			world(object("s", asked, deleting, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed), again),
				remembers(func(m *memory) { m.Open = map[string]time.Time{"s": now.Add(time.Minute)} })), nil, ""},
		{"it was deleted and never approved", world(object("s", deleting, func(s *enginesnapshot.Snapshot) { s.Create = true })), nil, ""},
		{"it was deleted while an earlier leader's call may be in progress", world(object("s", asked, deleting), earlier), nil, ""},
		{"it was requested after this leader's election",
			world(object("s", asked, deleting, func(s *enginesnapshot.Snapshot) { s.Requested = now }), earlier), nil, cancelled},
		{"it was deleted while an unanswered call may be in progress", world(object("s", asked, deleting),
			remembers(func(m *memory) { m.Open = map[string]time.Time{"s": now.Add(time.Minute)} })), nil, ""},
		{"the unanswered call must have ended", world(object("s", asked, deleting),
			remembers(func(m *memory) { m.Open = map[string]time.Time{"s": now.Add(-time.Minute)} })), nil, cancelled},
		{"it was taken and is being deleted", world(object("s", asked, deleting, seen), lists("s")), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := enginesnapshot.Decide(c.w)
			require.Equal(t, c.take, v.Take)
			want := map[string]string{}
			if c.want != "" {
				want[c.w.Snapshots[len(c.w.Snapshots)-1].Name] = c.want
			}
			require.Equal(t, want, reasons(v))
			require.Empty(t, v.Remove)
			require.Empty(t, v.Mirror)
		})
	}
}

func TestWaitingWorkIsPolledAgain(t *testing.T) {
	for name, c := range map[string]struct {
		w    polled
		want time.Time
	}{
		"while the volume moves": {world(object("s", asked), func(w *polled) { w.Alone = false }), now.Add(rules.Busy)},
		"after a call without effect": {world(object("s", asked),
			remembers(func(m *memory) { m.TakeAfter = map[string]time.Time{"s": now.Add(7 * time.Second)} })), now.Add(7 * time.Second)},
		"until a call must have ended": {world(object("s", asked, deleting),
			remembers(func(m *memory) { m.Open = map[string]time.Time{"s": now.Add(time.Minute)} })), now.Add(time.Minute)},
		"until two polls did not list the snapshot of a failed call": {world(object("s", asked, deleting,
			provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed))), now.Add(rules.Gap - 10*time.Millisecond)},
		"until an absence is proven": {world(object("s"), missing("s", 2*time.Second)),
			now.Add(-10*time.Millisecond - 2*time.Second + rules.Gap)},
		"until no more are deleted":  {world(object("s", approved), lists("s")), now.Add(rules.Gather)},
		"never, when nothing is due": {world(object("s"), lists("s")), time.Time{}},
	} {
		require.Equal(t, c.want, enginesnapshot.Decide(c.w).RequeueAt, name)
	}
}

// SNP-1.
func TestAnObjectIsWithdrawnOnlyOnPositiveEvidence(t *testing.T) {
	const gone = "True/SnapshotGone"
	long := missing("s", rules.Gap)
	for _, c := range []struct {
		name string
		w    polled
		want string
	}{
		{"two polls did not list it", world(object("s"), long), gone},
		{"two polls did not list a taken one", world(object("s", asked, seen), long), gone},
		{"two polls did not list one that was reported taken",
			world(object("s", asked, provisioned(v1beta2.ConditionTrue, v1beta2.ReasonTaken)), long), gone},
		{"two polls did not list one that is being deleted", world(object("s", deleting), long), gone},
		{"two polls did not list one whose removal was approved: the engine's status reports that",
			world(object("s", approved, seen), long),
			""},
		{"the polls were too close", world(object("s"), missing("s", rules.Gap-1)), ""},
		{"this is the second poll of the engine", world(object("s")), ""},
		{"this is the first poll of the engine", world(object("s"), long, remembers(func(m *memory) { m.Polled, m.Missing = false, nil })),
			""},
		{"it was not taken yet", world(object("s", func(s *enginesnapshot.Snapshot) { s.Create = true }), long), ""},
		{"it is there again", world(object("s"), lists("s"), long), ""},
		{"it was reported", world(object("s", withdrawn), long), ""},
		{"it belongs to another volume of this name", world(object("s", foreign), long), ""},
		{"the engine is not the active one", world(object("s"), long, func(w *polled) { w.Active = false }), ""},
		{"no RW replica answers for the list", world(object("s"), long, func(w *polled) { w.RW = false }), ""},
		{"the list has no head", world(object("s"), long, func(w *polled) { w.Listed = map[string]v1beta2.SnapshotInfo{} }), ""},
		{"the list is unknown", world(object("s"), long, func(w *polled) { w.Listed = nil }), ""},
		{"the engine's owner is not known", world(object("s", func(s *enginesnapshot.Snapshot) { s.Owner = "" }), long,
			func(w *polled) { w.VolumeUID = "" }), ""},
		{"a poll after our own removal", world(object("s", approved),
			remembers(func(m *memory) { m.Removed = map[string]time.Time{"s": now.Add(-time.Second)} })), gone},
		{"a poll after our own removal, which the engine's status reports",
			world(object("s", approved, seen), remembers(func(m *memory) { m.Removed = map[string]time.Time{"s": now.Add(-time.Second)} })),
			""},
		{"a poll that began before our own removal",
			world(object("s", approved, seen), remembers(func(m *memory) { m.Removed = map[string]time.Time{"s": now} })), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]string{}
			if c.want != "" {
				want["s"] = c.want
			}
			require.Equal(t, want, reasons(enginesnapshot.Decide(c.w)))
		})
	}
}

func TestAPollThatProvesNothingRestartsAbsences(t *testing.T) {
	v := enginesnapshot.Decide(world(object("s"), missing("s", time.Hour), func(w *polled) { w.RW = false }))
	require.Empty(t, v.Memory.Missing)
	first := enginesnapshot.Decide(world(object("s"), remembers(func(m *memory) { m.Polled = false })))
	require.Empty(t, first.Memory.Missing, "the first poll of an engine does not begin one")
	require.Equal(t, now.Add(rules.Busy), first.RequeueAt)
}

func TestASnapshotWithoutAnObjectGetsOneAfterAReVerification(t *testing.T) {
	before := remembers(func(m *memory) { m.Strange = map[string]time.Time{"s": now.Add(-time.Second)} })
	for _, c := range []struct {
		name string
		w    polled
		want []string
	}{
		{"a re-verification finds it", world(lists("s"), before), []string{"s"}},
		{"the first poll finds it", world(lists("s")), nil},
		{"it has an object", world(lists("s"), before, object("s")), nil},
		{"it has an object of another volume of this name", world(lists("s"), before, object("s", foreign)), nil},
		{"it has an object of another volume", world(lists("s"), before, func(w *polled) { w.Others = map[string]bool{"s": true} }), nil},
		{"it is the head", world(remembers(func(m *memory) { m.Strange = map[string]time.Time{enginesnapshot.Head: now.Add(-time.Hour)} })),
			nil},
		{"the engine is not the active one", world(lists("s"), before, func(w *polled) { w.Active = false }), nil},
		{"the engine's owner is not known", world(lists("s"), before, func(w *polled) { w.VolumeUID = "" }), nil},
		{"no RW replica answers for the list", world(lists("s"), before, func(w *polled) { w.RW = false }), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := enginesnapshot.Decide(c.w)
			require.Equal(t, c.want, v.Mirror)
			require.NotContains(t, v.Memory.Strange, enginesnapshot.Head)
		})
	}
}

func TestDeletedSnapshotsAreRemovedTogetherAndPurgedOnce(t *testing.T) {
	v2 := func(w *polled) { w.V2 = true }
	again := func(s *enginesnapshot.Snapshot) { s.Since = now.Add(-time.Second) }
	for _, c := range []struct {
		name  string
		w     polled
		want  []string
		purge bool
	}{
		{"one", world(object("s", approved), lists("s"), gathered), []string{"s"}, true},
		{"many in one call", world(object("c", approved), object("a", approved), object("b", approved), lists("a"), lists("b"), lists("c"),
			gathered), []string{"a", "b", "c"}, true},
		{"only those that are approved", world(object("a", deleting), object("b", approved), object("c"), lists("a"), lists("b"),
			lists("c"), gathered), []string{"b"}, true},
		{"an approval without a deletion is none",
			world(object("s", func(s *enginesnapshot.Snapshot) { s.Approved = true }), lists("s"), gathered), nil, false},
		{"one that is marked already is only purged", world(object("s", approved), lists("s", marked), gathered), nil, true},
		{"v2 merges at once, and a purge would remove snapshots that were not deleted",
			world(object("s", approved), lists("s"), gathered, v2),
			[]string{"s"}, false},
		{"the parent of the head is only marked in v1", world(object("s", approved), lists("s", under(enginesnapshot.Head)), gathered),
			[]string{"s"}, false},
		{"the parent of the head that is marked waits",
			world(object("s", approved), lists("s", marked, under(enginesnapshot.Head)), gathered), nil, false},
		{"one with several children is marked, too, while another one is merged",
			world(object("s", approved), object("t", approved), lists("t", under("s")), lists("s", under("a", "b")), gathered),
			[]string{"s", "t"}, true},
		{"the parent of the head goes in v2", world(object("s", approved), lists("s", under(enginesnapshot.Head)), gathered, v2),
			[]string{"s"}, false},
		{"one with several children waits in v2: the whole call would fail",
			world(object("s", approved), lists("s", under("a", "b")), gathered, v2, func(w *polled) { w.Others = map[string]bool{} }), nil,
			false},
		{"one that is not there", world(object("s", approved), gathered), nil, false},
		{"one that is withdrawn", world(object("s", approved, withdrawn), lists("s"), gathered), nil, false},
		{"one that the engine could not remove waits until that is approved again",
			world(object("s", approved, unremoved), lists("s"), gathered), nil, false},
		{"approved again", world(object("s", approved, unremoved, again), lists("s"), gathered), []string{"s"}, true},
		{"approved again, after the others: it may fail with the whole call again",
			world(object("s", approved, unremoved, again), object("t", approved), lists("s"), lists("t"), gathered), []string{"t"}, true},
		{"several that were approved again, one by one",
			world(object("s", approved, unremoved, again), object("t", approved, unremoved, again), lists("s"), lists("t"), gathered),
			[]string{"s"}, true},
		{"the approval is not withdrawn", world(object("s", approved, unremoved, func(s *enginesnapshot.Snapshot) {
			s.RemovalFailed.LastProbeTime = now.Add(-time.Hour).Format(time.RFC3339Nano)
			s.Since = now.Add(-2 * time.Hour)
		}), lists("s"), gathered), []string{"s"}, true},
		{"one whose purge failed waits, the others do not",
			world(object("s", approved), object("t", approved), lists("s", marked), lists("t", marked), gathered, purgedFor("s")), nil,
			true},
		{"one of another volume of this name", world(object("s", approved, foreign), lists("s"), gathered), nil, false},
		{"the head, although an object has its name", world(object(enginesnapshot.Head, approved), gathered), nil, false},
		{"more may be deleted", world(object("s", approved), lists("s")), nil, false},
		{"more were deleted just now", world(object("s", approved), object("t", deleting), lists("s"), lists("t"),
			remembers(func(m *memory) { m.Deleting, m.Grown, m.Gathering = 1, now.Add(-time.Hour), now.Add(-2*time.Second) })), nil, false},
		{"more were approved just now", world(object("s", approved), object("t", approved), lists("s"), lists("t"),
			remembers(func(m *memory) {
				m.Deleting, m.Approved, m.Grown, m.Gathering = 2, 1, now.Add(-time.Hour), now.Add(-2*time.Second)
			})), nil, false},
		{"more and more are deleted", world(object("s", approved), object("t", deleting), lists("s"), lists("t"),
			remembers(func(m *memory) { m.Deleting, m.Grown, m.Gathering = 1, now, now.Add(-rules.Longest) })), []string{"s"}, true},
		{"the volume migrates", world(object("s", approved), lists("s"), gathered, func(w *polled) { w.Alone = false }), nil, false},
		{"a replica is being rebuilt", world(object("s", approved), lists("s"), gathered, func(w *polled) { w.Rebuilding = true }), nil,
			false},
		{"a purge is under way", world(object("s", approved), lists("s"), gathered, func(w *polled) { w.Purging = true }), nil, false},
		{"another operation of the engine is in progress",
			world(object("s", approved), lists("s"), gathered, func(w *polled) { w.Busy = true }), nil, false},
		{"the last call was just now", world(object("s", approved), lists("s"), gathered,
			remembers(func(m *memory) { m.RemoveAfter = now.Add(1) })), nil, false},
		{"the engine is not the active one", world(object("s", approved), lists("s"), gathered, func(w *polled) { w.Active = false }), nil,
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := enginesnapshot.Decide(c.w)
			require.Equal(t, c.want, v.Remove)
			require.Equal(t, c.purge, v.Purge)
			require.Empty(t, v.Take)
		})
	}
}

// A purge that ends with an error is reported of each snapshot that it was for, once for each approval.
func TestAPurgeThatEndsWithAnErrorIsReported(t *testing.T) {
	const failed = "True/PurgeFailed"
	again := func(s *enginesnapshot.Snapshot) { s.Since = now.Add(-time.Second) }
	for _, c := range []struct {
		name string
		w    polled
		want string
	}{
		{"the engine's purge for it failed", world(object("s", approved), lists("s", marked), gathered, purgedFor("s")), failed},
		{"it failed again, after it was approved again",
			world(object("s", approved, unremoved, again), lists("s", marked), gathered, purgedFor("s")), failed},
		{"it was reported", world(object("s", approved, unremoved), lists("s", marked), gathered, purgedFor("s")), ""},
		{"the error is of a purge that was not for it", world(object("s", approved), lists("s", marked), gathered, purgedFor("t")), ""},
		{"the poll began before the purge", world(object("s", approved), lists("s", marked), gathered, purgedFor("s"),
			func(w *polled) { w.Began = now.Add(-time.Minute) }), ""},
		{"another purge is under way", world(object("s", approved), lists("s", marked), gathered, purgedFor("s"),
			func(w *polled) { w.Purging = true }), ""},
		{"it was removed nevertheless", world(object("s", approved, seen), gathered, purgedFor("s")), ""},
		{"its removal is no longer approved", world(object("s", deleting), lists("s", marked), gathered, purgedFor("s")), ""},
		{"it belongs to another volume of this name", world(object("s", approved, foreign), lists("s", marked), gathered, purgedFor("s")),
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := enginesnapshot.Decide(c.w)
			want := map[string]string{}
			if c.want != "" {
				want["s"] = c.want
				require.Contains(t, v.Changes[0].Condition.Message, "disk on fire")
				require.NotContains(t, v.Memory.Purged, "s")
			}
			require.Equal(t, want, reasons(v))
		})
	}
}

func TestAWishChangesWhenAPollIsDue(t *testing.T) {
	wish := func(change ...func(*enginesnapshot.Snapshot)) enginesnapshot.Wish {
		return enginesnapshot.WishOf(world(object("s", change...)).Snapshots[0])
	}
	require.Equal(t, enginesnapshot.Nothing, wish())
	require.Equal(t, enginesnapshot.Nothing, wish(deleting), "the policy decides first")
	require.Equal(t, "take", wish(asked).Kind)
	require.NotEqual(t, wish(asked), wish(asked, func(s *enginesnapshot.Snapshot) { s.Requested = now }), "requested again")
	require.Equal(t, "cancel", wish(asked, deleting).Kind)
	require.Equal(t, "cancel", wish(asked, deleting, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed), again).Kind)
	require.Equal(t, "cancel", wish(asked, deleting, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed)).Kind)
	require.Equal(t, "cancel", wish(asked, deleting, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonLimitReached)).Kind)
	require.Equal(t, enginesnapshot.Nothing, wish(approved, seen, unremoved))
	require.Equal(t, "remove", wish(approved, seen, unremoved, func(s *enginesnapshot.Snapshot) { s.Since = now }).Kind)
	require.Equal(t, "remove", wish(asked, approved).Kind)
	require.Equal(t, enginesnapshot.Nothing, wish(asked, provisioned(v1beta2.ConditionTrue, v1beta2.ReasonTaken)))
	require.Equal(t, enginesnapshot.Nothing, wish(asked, deleting, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonCancelled)))
	require.Equal(t, enginesnapshot.Nothing, wish(approved, withdrawn))
}
