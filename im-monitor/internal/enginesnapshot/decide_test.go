package enginesnapshot_test

import (
	"slices"
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
		{"more may be deleted in v2, too", world(object("s", approved), lists("s"), v2), nil, false},
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
		{"it failed again after half an hour, of the same approval", world(object("s", approved, func(s *enginesnapshot.Snapshot) {
			unremoved(s)
			s.Since, s.RemovalFailed.LastProbeTime = now.Add(-2*time.Hour), now.Add(-time.Hour).Format(time.RFC3339Nano)
		}), lists("s", marked), gathered, purgedFor("s")), ""},
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

// message is that of the only condition that a verdict writes.
func message(t *testing.T, v enginesnapshot.Verdict) string {
	t.Helper()
	require.Len(t, v.Changes, 1)
	return v.Changes[0].Condition.Message
}

func TestWhatTheEngineHadOnceIsNotTakenAgain(t *testing.T) {
	for name, change := range map[string]func(*enginesnapshot.Snapshot){
		"it was seen":     seen,
		"it was reported": provisioned(v1beta2.ConditionTrue, v1beta2.ReasonTaken),
		"it was cancelled": func(s *enginesnapshot.Snapshot) {
			provisioned(v1beta2.ConditionFalse, v1beta2.ReasonCancelled)(s)
			s.Requested = now
		},
	} {
		require.Empty(t, enginesnapshot.Decide(world(object("s", asked, change))).Take, name)
	}
	require.Equal(t, []string{"s"}, enginesnapshot.Decide(world(object("s", asked), func(w *polled) { w.V2 = true })).Take)
	due := world(object("s", asked), remembers(func(m *memory) { m.TakeAfter = map[string]time.Time{"s": now} }))
	require.Equal(t, []string{"s"}, enginesnapshot.Decide(due).Take, "the pause after a call ends at its moment")
}

// A snapshot that existed before its request may have other data than the requester expects: that has to be visible.
func TestAnOlderSnapshotOfTheNameIsAdoptedVisibly(t *testing.T) {
	const adopted, taken = "True/Adopted", "True/Taken"
	at := func(text string) func(*v1beta2.SnapshotInfo) {
		return func(i *v1beta2.SnapshotInfo) { i.Created = text }
	}
	failed := provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed)
	second := func(s *enginesnapshot.Snapshot) { s.Requested = now.Add(-2*time.Second + 900*time.Millisecond) }
	for _, c := range []struct {
		name string
		w    polled
		want string
	}{
		{"a call failed, and the engine has an older one", world(object("s", asked, failed), lists("s", at("2020-01-01T00:00:00Z"))), adopted},
		{"also where that was seen", world(object("s", asked, seen, failed), lists("s", at("2020-01-01T00:00:00Z"))), adopted},
		{"it was seen before its request is approved", world(object("s", seen, func(s *enginesnapshot.Snapshot) { s.Create = true }), lists("s")),
			adopted},
		{"its time cannot be read", world(object("s", asked, failed), lists("s", at("just now"))), adopted},
		{"it is of the second of its request, whose fraction lists lack",
			world(object("s", asked, failed, second), lists("s", at("2026-03-04T05:06:05Z"))), taken},
		{"it is of the second before", world(object("s", asked, failed, second), lists("s", at("2026-03-04T05:06:04Z"))), adopted},
	} {
		require.Equal(t, map[string]string{"s": c.want}, reasons(enginesnapshot.Decide(c.w)), c.name)
	}
}

func TestAConditionIsASentenceAboutTheSnapshot(t *testing.T) {
	failed := provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed)
	older := lists("s", func(i *v1beta2.SnapshotInfo) { i.Created = "" })
	removed := remembers(func(m *memory) { m.Removed = map[string]time.Time{"s": now.Add(-time.Second)} })
	for want, w := range map[string]polled{
		"The engine took the snapshot.":                                       world(object("s", asked, failed), lists("s")),
		"The engine had a snapshot of this name already.":                     world(object("s", asked), older),
		"The Snapshot was deleted before the snapshot was taken.":             world(object("s", asked, deleting)),
		"The engine removed the snapshot.":                                    world(object("s", approved), removed),
		"Two polls of the volume's running engine did not list the snapshot.": world(object("s"), missing("s", rules.Gap)),
		"tcp://10.0.0.1:10000: disk on fire":                                  world(object("s", approved), lists("s", marked), purgedFor("s")),
		"Volume vol has 1 snapshots and may have 1; delete some, or raise snapshotMaxCount.": world(object("a"), object("s", asked),
			lists("a"), func(w *polled) { w.Limits.Count = 1 }),
	} {
		require.Equal(t, want, message(t, enginesnapshot.Decide(w)))
	}
}

// A call that may be in progress could take the snapshot after its Snapshot was reported cancelled, and no one would remove it.
func TestACancellationWaitsForTheLaterOfTheCallsThatMayBeInProgress(t *testing.T) {
	minutes := func(n int) time.Time { return now.Add(time.Duration(n) * time.Minute) }
	cancel := func(open, fence time.Time, change ...func(*enginesnapshot.Snapshot)) enginesnapshot.Verdict {
		return enginesnapshot.Decide(world(object("s", append([]func(*enginesnapshot.Snapshot){asked, deleting}, change...)...),
			func(w *polled) { w.ElectedAt, w.FencingDelayEnds = now.Add(-time.Second), fence },
			remembers(func(m *memory) { m.Open = map[string]time.Time{"s": open} })))
	}
	for _, c := range []struct{ open, fence time.Time }{{minutes(2), minutes(1)}, {minutes(1), minutes(2)}, {minutes(-1), minutes(2)}} {
		v := cancel(c.open, c.fence)
		require.Empty(t, v.Changes)
		require.Equal(t, slices.MaxFunc([]time.Time{c.open, c.fence}, time.Time.Compare), v.RequeueAt)
	}
	began := world().Began
	require.Empty(t, cancel(began.Add(1), began).Changes)
	require.NotEmpty(t, cancel(began, began).Changes, "a poll that began when the last call had ended shows what that did")
	elected := func(s *enginesnapshot.Snapshot) { s.Requested = now.Add(-time.Second) }
	require.NotEmpty(t, cancel(began, minutes(2), elected).Changes, "no earlier leader has seen the request")
	done := cancel(minutes(2), minutes(2), provisioned(v1beta2.ConditionFalse, v1beta2.ReasonCancelled))
	require.Empty(t, done.Changes)
	require.Zero(t, done.RequeueAt, "what is cancelled waits for nothing")
}

func TestTheNextPollIsAtTheEarliestMomentThatAnySnapshotWaitsFor(t *testing.T) {
	later := map[string]time.Time{"a": now.Add(3 * time.Minute), "b": now.Add(time.Minute), "c": now.Add(2 * time.Minute)}
	w := world(object("a", asked), object("b", asked), object("c", asked), remembers(func(m *memory) { m.TakeAfter = later }))
	require.Equal(t, later["b"], enginesnapshot.Decide(w).RequeueAt)
	pause := remembers(func(m *memory) { m.RemoveAfter = now.Add(time.Minute) })
	busy := func(w *polled) { w.Busy = true }
	require.Equal(t, now.Add(time.Minute), enginesnapshot.Decide(world(object("s", approved), lists("s"), gathered, pause, busy)).RequeueAt,
		"the pause after a refusal is longer than that between polls")
	require.Zero(t, enginesnapshot.Decide(world(object("s"), lists("s"), pause, busy)).RequeueAt, "nothing is to be removed")
	first := enginesnapshot.Decide(world(object("s", asked, deleting, provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed)),
		remembers(func(m *memory) { m.Polled = false })))
	require.Equal(t, now.Add(rules.Busy), first.RequeueAt, "the first poll of an engine proves nothing, the next one begins to")
	require.Empty(t, first.Memory.Missing)
	require.Equal(t, now.Add(rules.Busy), enginesnapshot.Decide(world(lists("s"))).RequeueAt, "a snapshot without an object")
}

func TestAMemoryIsOfWhatAPollShowed(t *testing.T) {
	began := world().Began
	failed := provisioned(v1beta2.ConditionFalse, v1beta2.ReasonFailed)
	for name, w := range map[string]polled{"an object without its snapshot": world(object("s")),
		"a cancellation that is to be proven": world(object("s", asked, deleting, failed))} {
		m := enginesnapshot.Decide(w).Memory
		require.Equal(t, map[string]time.Time{"s": began}, m.Missing, name)
		w.Memory, w.Began = m, began.Add(rules.Gap-1)
		m = enginesnapshot.Decide(w).Memory
		require.Equal(t, map[string]time.Time{"s": began}, m.Missing, "%s: it is missing since the first poll", name)
		w.Memory, w.Began = m, began.Add(rules.Gap)
		require.Len(t, enginesnapshot.Decide(w).Changes, 1, name)
	}
	w := world(lists("s"))
	m := enginesnapshot.Decide(w).Memory
	require.Equal(t, map[string]time.Time{"s": began}, m.Strange)
	w.Memory = m
	same := enginesnapshot.Decide(w)
	require.Empty(t, same.Mirror, "the same poll is no re-verification")
	require.Zero(t, same.RequeueAt)
	w.Began = began.Add(1)
	require.Equal(t, []string{"s"}, enginesnapshot.Decide(w).Mirror)
	require.Equal(t, map[string]time.Time{"s": began}, enginesnapshot.Decide(w).Memory.Strange)

	for name, change := range map[string]func(*polled){"a whole poll": func(*polled) {},
		"one that proves nothing": func(w *polled) { w.RW = false }} {
		w := world(change, remembers(func(m *memory) { m.Polled = false }))
		require.True(t, enginesnapshot.Decide(w).Memory.Polled, name)
	}
}

func TestNothingIsRememberedOfASnapshotThatNeitherTheEngineNorAnObjectHas(t *testing.T) {
	at := map[string]time.Time{"listed": now, "object": now, "gone": now}
	kept := map[string]time.Time{"listed": now, "object": now}
	w := world(lists("listed"), object("object"), remembers(func(m *memory) {
		m.Called, m.Open, m.TakeAfter = map[string]bool{"listed": true, "object": true, "gone": true}, at, at
		m.Removed, m.Purged = at, at
	}))
	m := enginesnapshot.Decide(w).Memory
	require.Equal(t, map[string]bool{"listed": true, "object": true}, m.Called)
	for _, left := range []map[string]time.Time{m.Open, m.TakeAfter, m.Removed, m.Purged} {
		require.Equal(t, kept, left)
	}
	require.Contains(t, at, "gone", "what was given is not changed")
}

func TestARemovalIsOurOwnOnlyForAPollThatBeganAfterIt(t *testing.T) {
	removed := remembers(func(m *memory) { m.Removed = map[string]time.Time{"s": world().Began} })
	require.Empty(t, enginesnapshot.Decide(world(object("s", approved), removed)).Changes)
	later := enginesnapshot.Decide(world(object("s", approved), removed, func(w *polled) { w.Began = w.Began.Add(1) }))
	require.Equal(t, map[string]string{"s": "True/SnapshotGone"}, reasons(later))
}

func TestAPurgeNamesTheSnapshotsThatItIsFor(t *testing.T) {
	both := world(object("b", approved), object("a", approved), object("c", approved), lists("a", marked), lists("b"),
		lists("c", under(enginesnapshot.Head)), gathered)
	v := enginesnapshot.Decide(both)
	require.Equal(t, []string{"a", "b"}, v.For, "not the one that only the next purge can merge")
	require.Equal(t, []string{"b", "c"}, v.Remove)
	both.Busy = true
	v = enginesnapshot.Decide(both)
	require.Empty(t, v.For)
	both.Busy, both.V2 = false, true
	require.Empty(t, enginesnapshot.Decide(both).For, "v2 is not purged")

	only := enginesnapshot.Decide(world(object("s", approved), lists("s", marked)))
	require.False(t, only.Purge, "also where nothing is left to be marked, more may be deleted")
	require.Equal(t, now.Add(rules.Gather), only.RequeueAt)
	failed := enginesnapshot.Decide(world(object("s", approved), object("t", approved), lists("s", marked), lists("t", marked), gathered,
		purgedFor("s"), remembers(func(m *memory) { m.Purged["t"] = now })))
	require.Equal(t, map[string]string{"s": "True/PurgeFailed"}, reasons(failed), "the poll began before the purge for t")
	require.Equal(t, []string{"t"}, failed.For)
	require.Equal(t, map[string]time.Time{"t": now}, failed.Memory.Purged)
}

func TestAPurgeThatEndedWithoutAnErrorHasNotFailed(t *testing.T) {
	w := world(object("s", approved), lists("s", marked), gathered, purgedFor("s"))
	w.PurgeError = ""
	v := enginesnapshot.Decide(w)
	require.Empty(t, v.Changes)
	require.True(t, v.Purge, "it may be merged now")
	w.PurgeError, w.Memory.Purged["s"] = "disk on fire", w.Began
	require.Empty(t, enginesnapshot.Decide(w).Changes, "the error may be of the purge before")
}

// A failure answers the approval that it came after, and holds for half an hour where no newer approval follows.
func TestAFailedRemovalWaitsForANewerApprovalOrItsTime(t *testing.T) {
	failed := func(ago, approvedAgo time.Duration) enginesnapshot.Snapshot {
		s := enginesnapshot.Snapshot{Name: "s", Owner: "uid-1"}
		approved(&s)
		unremoved(&s)
		s.Since, s.RemovalFailed.LastProbeTime = now.Add(-approvedAgo), now.Add(-ago).Format(time.RFC3339Nano)
		return s
	}
	removes := func(s enginesnapshot.Snapshot) bool {
		return len(enginesnapshot.Decide(world(lists("s"), gathered, func(w *polled) { w.Snapshots = []enginesnapshot.Snapshot{s} })).Remove) == 1
	}
	for _, c := range []struct {
		name            string
		s               enginesnapshot.Snapshot
		removed, failed bool
	}{
		{"approved before it", failed(time.Minute, time.Minute+1), false, true},
		{"approved in the same moment", failed(time.Minute, time.Minute), false, true},
		{"approved after it", failed(time.Minute, time.Minute-1), true, false},
		{"a moment before its time", failed(30*time.Minute-1, time.Hour), false, true},
		{"at its time", failed(30*time.Minute, time.Hour), true, true},
	} {
		require.Equal(t, c.removed, removes(c.s), c.name)
		require.Equal(t, c.failed, enginesnapshot.FailedSince(c.s), c.name)
	}
	s := failed(time.Minute, time.Hour)
	s.RemovalFailed.LastProbeTime = "yesterday"
	require.True(t, removes(s), "a failure without a time holds nothing up")
	require.False(t, enginesnapshot.FailedSince(s))
	require.False(t, enginesnapshot.FailedSince(enginesnapshot.Snapshot{}))
}

func TestAFailureAnswersTheRequestsBeforeIt(t *testing.T) {
	at := func(reason, time string) *v1beta2.Condition {
		return &v1beta2.Condition{Reason: reason, LastProbeTime: time}
	}
	for _, c := range []struct {
		name   string
		failed *v1beta2.Condition
		want   bool
	}{
		{"none", nil, false},
		{"one before the request", at(v1beta2.ReasonFailed, now.Add(-1).Format(time.RFC3339Nano)), true},
		{"one of the same moment", at(v1beta2.ReasonFailed, now.Format(time.RFC3339Nano)), false},
		{"one after it", at(v1beta2.ReasonFailed, now.Add(1).Format(time.RFC3339Nano)), false},
		{"another condition", at(v1beta2.ReasonCancelled, now.Add(-1).Format(time.RFC3339Nano)), false},
		{"one without a time", at(v1beta2.ReasonFailed, ""), false},
	} {
		require.Equal(t, c.want, enginesnapshot.AskedAnew(now, c.failed), c.name)
	}
}

func TestRemovalsAreGatheredFromTheFirstDeletionOn(t *testing.T) {
	earlier, before := now.Add(-4*time.Second), now.Add(-6*time.Second)
	remembered := func(deleting, approved int) func(*polled) {
		return remembers(func(m *memory) { m.Deleting, m.Approved, m.Grown, m.Gathering = deleting, approved, earlier, before })
	}
	type gathering struct {
		deleting, approved int
		grown, since       time.Time
	}
	for _, c := range []struct {
		name string
		w    polled
		want gathering
	}{
		{"none is deleted", world(object("s"), lists("s"), remembered(2, 1)), gathering{}},
		{"the first one", world(object("s", deleting), lists("s")), gathering{1, 0, now, now}},
		{"no further one", world(object("s", approved), lists("s"), remembered(1, 1)), gathering{1, 1, earlier, before}},
		{"a further one", world(object("s", approved), object("t", deleting), lists("s"), lists("t"), remembered(1, 1)),
			gathering{2, 1, now, before}},
		{"a further approval", world(object("s", approved), lists("s"), remembered(1, 0)), gathering{1, 1, now, before}},
		{"fewer than before", world(object("s", approved), lists("s"), remembered(2, 2)), gathering{1, 1, earlier, before}},
		{"one that is gone does not count", world(object("s", approved, seen), remembered(1, 1)), gathering{}},
		{"nor one of another volume", world(object("s", approved, foreign), lists("s"), remembered(1, 1)), gathering{}},
		{"nor one that is withdrawn", world(object("s", approved, withdrawn), lists("s"), remembered(1, 1)), gathering{}},
	} {
		m := enginesnapshot.Decide(c.w).Memory
		require.Equal(t, c.want, gathering{m.Deleting, m.Approved, m.Grown, m.Gathering}, c.name)
	}
}

func TestNoWishIsOfASnapshotThatNeedsNoPoll(t *testing.T) {
	create := func(s *enginesnapshot.Snapshot) { s.Create = true }
	approvedOnly := func(s *enginesnapshot.Snapshot) { s.Approved = true }
	for name, changes := range map[string][]func(*enginesnapshot.Snapshot){
		"approved without a deletion": {approvedOnly},
		"requested and seen":          {asked, seen},
		"not approved yet":            {create},
		"only described":              {asked, func(s *enginesnapshot.Snapshot) { s.Create = false }},
		"described and deleted":       {deleting, func(s *enginesnapshot.Snapshot) { s.Requested = now }},
	} {
		require.Equal(t, enginesnapshot.Nothing, enginesnapshot.WishOf(world(object("s", changes...)).Snapshots[0]), name)
	}
}

// Of several requests in one poll the first one is taken, and the other ones are shown the limit that the volume really has.
func TestALimitThatIsReachedByARequestOfTheSamePollIsTheVolumesOwn(t *testing.T) {
	for count, want := range map[int]string{1: "may have 1;", 2: "may have 2;"} {
		w := world(object("s", asked), object("t", asked), object("u", asked), func(w *polled) { w.Limits.Count = count })
		v := enginesnapshot.Decide(w)
		require.Contains(t, v.Changes[0].Condition.Message, want)
	}
}
