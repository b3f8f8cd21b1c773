package machine

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const madeForTheCopy = "clone-vol-uid"

// copying is a volume that is attached to x without its frontend and is to be copied from a volume that is attached, too.
func copying(dataSource string, nodes ...string) *fixture {
	s := attached(v1beta2.DataEngineV1, nodes...)
	s.Volume.Spec.DataSource, s.Volume.Spec.DisableFrontend, s.Volume.Status.FrontendDisabled = dataSource, true, true
	s.Volume.Status.CloneStatus = v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated, SourceVolume: "other"}
	s.SourceVolume = &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "ns", UID: "other-uid"}}
	s.Source = &v1beta2.Engine{}
	return s
}

func cloneStatus(v Verdict) map[string]any {
	out, _ := v.Status["cloneStatus"].(map[string]any)
	return out
}

func waitsFor(v Verdict) string {
	return conditions.Get(v.Conditions, v1beta2.VolumeAttached).Message
}

func TestCopyOfAWholeVolumeCreatesASnapshot(t *testing.T) {
	s := copying("vol://other", "x")
	v := Decide(s.World)
	require.Len(t, v.Writes, 1)
	require.Equal(t, Create, v.Writes[0].Kind)
	made := v.Writes[0].Object.(*v1beta2.Snapshot)
	require.Equal(t, madeForTheCopy, made.Name)
	require.Equal(t, v1beta2.SnapshotSpec{Volume: "other", CreateSnapshot: true}, made.Spec)
	require.Equal(t, "other-uid", string(made.OwnerReferences[0].UID))
	require.Empty(t, cloneStatus(v), "nothing is copied before it is taken")

	s.SourceSnapshot = made
	made.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionFalse,
		Message: "The volume has 250 snapshots."}}
	v = Decide(s.World)
	require.Empty(t, v.Writes, "it is created once")
	require.Contains(t, waitsFor(v), "Volume other has no snapshot "+madeForTheCopy+" to copy yet: The volume has 250 snapshots.")

	made.Status.ReadyToUse = true
	v = Decide(s.World)
	require.Equal(t, "snap://other/"+madeForTheCopy, writeOf(t, v, s.Engines[0]).Spec["requestedDataSource"])
	require.Equal(t, madeForTheCopy, cloneStatus(v)["snapshot"])

	s.Engines[0].Spec.RequestedDataSource = "snap://other/" + madeForTheCopy
	require.Equal(t, madeForTheCopy, cloneStatus(Decide(s.World))["snapshot"], "the status was not written before the engine was asked")
	s.Volume.Status.CloneStatus.Snapshot = madeForTheCopy
	s.Engines[0].Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"tcp://a": {State: "complete"}}
	v = Decide(s.World)
	require.Equal(t, v1beta2.CloneCopyCompleted, cloneStatus(v)["state"])
	require.Empty(t, v.Writes)

	s.Volume.Status.CloneStatus.State = v1beta2.CloneCopyCompleted
	v = Decide(s.World)
	require.Equal(t, Delete, writeOf(t, v, made).Kind, "it goes when it was copied")
	require.Equal(t, v1beta2.CloneCompleted, cloneStatus(v)["state"])
	deleted(made)
	s.Volume.Status.CloneStatus.State = v1beta2.CloneCompleted
	require.Empty(t, Decide(s.World).Writes)
}

func TestASnapshotThatAPersonNamedIsCopiedAndStays(t *testing.T) {
	s := copying("snap://other/s", "x")
	s.Source.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"s": {Name: "s"}}
	require.Equal(t, "snap://other/s", writeOf(t, Decide(s.World), s.Engines[0]).Spec["requestedDataSource"], "one that the engine lists")
	s.Source.Status.Snapshots = nil
	s.SourceSnapshot = &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: v1beta2.SnapshotSpec{Volume: "other"}}
	s.SourceSnapshot.Status.ReadyToUse = true
	require.Equal(t, "snap://other/s", writeOf(t, Decide(s.World), s.Engines[0]).Spec["requestedDataSource"])
	s.Source.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"s": {Name: "s", Removed: true}}
	s.SourceSnapshot.Status.ReadyToUse = false
	require.Nil(t, findWrite(Decide(s.World), s.Engines[0]), "it is being merged away")
	s.Source.Status.Snapshots, s.SourceSnapshot.Status.ReadyToUse = nil, true
	s.SourceSnapshot.DeletionTimestamp = &metav1.Time{Time: s.Now}
	require.Nil(t, findWrite(Decide(s.World), s.Engines[0]), "it is being deleted")
	s.SourceSnapshot.DeletionTimestamp = nil
	s.SourceSnapshot.Spec.Volume = "another"
	require.Nil(t, findWrite(Decide(s.World), s.Engines[0]), "it is of another volume")
	s.Volume.Status.CloneStatus.State = v1beta2.CloneCopyCompleted
	require.Empty(t, Decide(s.World).Writes)
}

func TestSnapshotOfACopyIsDeletedWithItsVolume(t *testing.T) {
	s := copying("vol://other", "x")
	s.SourceSnapshot = &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: madeForTheCopy}}
	deleted(s.Volume)
	require.Equal(t, Delete, writeOf(t, Decide(s.World), s.SourceSnapshot).Kind)
}

func TestACopyReportsWhatItWaitsFor(t *testing.T) {
	going := &v1beta2.Volume{}
	deleted(going)
	for name, c := range map[string]struct {
		source string
		change func(*fixture)
		says   string
	}{
		"no such volume": {"vol://other", func(s *fixture) { s.SourceVolume = nil },
			"Volume other, which is to be copied, does not exist"},
		"a volume that is being deleted": {"snap://other/s", func(s *fixture) { s.SourceVolume = going },
			"does not exist or is being deleted"},
		"no such snapshot":              {"snap://other/s", func(*fixture) {}, "Volume other has no snapshot s to copy yet."},
		"a source that is not attached": {"snap://other/s", func(s *fixture) { s.Source = nil }, "waits until other is attached"},
		"a volume that somebody uses": {"snap://other/s", func(s *fixture) { s.Volume.Spec.DisableFrontend = false },
			"without a frontend"},
		"a source that names no snapshot": {"snap://other", func(*fixture) {}, "names no snapshot"},
		"a copy that does not begin": {"snap://other/s", func(s *fixture) {
			s.Engines[0].Spec.RequestedDataSource = "snap://other/s"
			s.Engines[0].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.EngineOperations, Status: v1beta2.ConditionFalse,
				Message: "x could not begin: no."}}
		}, "was asked to copy snap://other/s and has not begun. x could not begin: no."},
		"a copy that failed and stays failed": {"vol://other", func(s *fixture) { s.Volume.Status.CloneStatus.State = v1beta2.CloneFailed },
			"create it again"},
	} {
		t.Run(name, func(t *testing.T) {
			s := copying(c.source, "x")
			c.change(s)
			v := Decide(s.World)
			require.Contains(t, waitsFor(v), c.says)
			if w := findWrite(v, s.Engines[0]); w != nil {
				require.NotContains(t, w.Spec, "requestedDataSource")
			}
		})
	}
}

func TestWhyACopyFailedIsOneOfItsReplicasErrorsAlwaysTheSame(t *testing.T) {
	s := copying("snap://other/s", "x")
	s.Engines[0].Spec.RequestedDataSource = "snap://other/s"
	s.Engines[0].Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{}
	for _, where := range []string{"d", "b", "a", "c"} {
		s.Engines[0].Status.CloneStatus["tcp://"+where] = v1beta2.SnapshotCloneStatus{State: "error", Error: "no space on " + where + "."}
	}
	for range 30 {
		require.Contains(t, Decide(s.World).Events[0].Note, "Copying from other to tcp://a failed: no space on a. It is tried again at ")
	}
}

func TestACopyThatFailedIsTriedAgainAfterAPauseOnceTheVolumeIsDetached(t *testing.T) {
	s := copying("snap://other/s", "x")
	e, c := s.Engines[0], &s.Volume.Status.CloneStatus
	e.Spec.RequestedDataSource = "snap://other/s"
	e.Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"tcp://a": {State: "error", Error: "no space"}}
	for attempts, pause := range map[int]time.Duration{0: time.Minute, 1: 2 * time.Minute, 5: 32 * time.Minute, 6: time.Hour,
		99: time.Hour} {
		c.AttemptCount = attempts
		said := cloneStatus(Decide(s.World))
		require.Equal(t, v1beta2.CloneFailed, said["state"])
		require.Equal(t, attempts+1, said["attemptCount"])
		require.Equal(t, stamp(s.Now.Add(pause)), said["nextAllowedAttemptAt"])
	}
	due := s.Now.Add(time.Minute)
	c.State, c.AttemptCount, c.NextAllowedAttemptAt = v1beta2.CloneFailed, 1, stamp(due)
	v := Decide(s.World)
	require.Equal(t, due, v.RequeueAt)
	require.Contains(t, waitsFor(v), "it is tried again at "+stamp(due))
	require.Empty(t, v.Writes)

	s.Now = due
	require.Equal(t, "", writeOf(t, Decide(s.World), e).Spec["requestedDataSource"])
	e.Spec.RequestedDataSource = ""
	v = Decide(s.World)
	require.Contains(t, waitsFor(v), "once the volume is detached")
	require.Empty(t, cloneStatus(v))

	s.Volume.Spec.NodeID = ""
	require.True(t, s.settle())
	require.Empty(t, cloneStatus(Decide(s.World)), "the engine still reports the failure")
	e.Status.CloneStatus = nil
	said := cloneStatus(Decide(s.World))
	require.Equal(t, v1beta2.CloneInitiated, said["state"])
	require.Equal(t, "", said["nextAllowedAttemptAt"])
}

// What has data keeps it: only a new volume is filled.
func TestOnlyANewVolumeIsFilled(t *testing.T) {
	backup := "s3://t?backup=b-1&volume=old"
	for name, c := range map[string]struct {
		source, backup string
		used           bool
		begins         bool
	}{
		"a clone":                 {"vol://other", "", false, true},
		"a clone of a snapshot":   {"snap://other/s", "", false, true},
		"a clone of nothing":      {"snapshot of other", "", false, false},
		"a clone that was used":   {"vol://other", "", true, false},
		"a restore":               {"", backup, false, true},
		"a restore of nothing":    {"", "s3://t", false, false},
		"a restore that was used": {"", backup, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV1, "x")
			s.Volume.Spec.DataSource, s.Volume.Spec.FromBackup, s.Volume.Spec.Standby = c.source, c.backup, true
			if c.used {
				s.Volume.Status.CurrentImage = s.Volume.Spec.Image
				s.Replicas[0].Spec.LastHealthyAt = stamp(s.Now)
			}
			v := Decide(s.World)
			require.Equal(t, c.begins && c.source != "", cloneStatus(v)["state"] == v1beta2.CloneInitiated)
			require.Equal(t, c.begins && c.backup != "", v.Status["restoreInitiated"] == true && v.Status["restoreRequired"] == true &&
				v.Status["isStandby"] == true)
		})
	}
}

// A backup of objects may lack their status: the data of a volume that was used stays, and the volume can be used again.
func TestAVolumeThatLostItsStatusIsFilledOnlyIfItWasNeverUsed(t *testing.T) {
	for name, c := range map[string]struct {
		source, backup, by      string
		standby, fills, unknown bool
	}{
		"a restored volume that a pod used":    {backup: "s3://t?backup=b-1&volume=old", by: v1beta2.AttacherCSI},
		"a restored volume that was backed up": {backup: "s3://t?backup=b-1&volume=old", by: v1beta2.AttacherBackup},
		"a restore that had begun":             {backup: "s3://t?backup=b-1&volume=old", by: v1beta2.AttacherRestore, fills: true},
		"a standby volume that was evicted": {backup: "s3://t?backup=b-1&volume=old", by: v1beta2.AttacherEviction, standby: true,
			fills: true},
		"a clone that a pod used":       {source: "vol://other", by: v1beta2.AttacherCSI},
		"a clone that a copy held last": {source: "vol://other", by: v1beta2.AttacherClone, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(v1beta2.DataEngineV1, "x")
			s.Volume.Spec.DataSource, s.Volume.Spec.FromBackup, s.Volume.Spec.Standby = c.source, c.backup, c.standby
			s.Volume.Spec.LastAttachedBy, s.Replicas[0].Spec.HealthyAt = c.by, stamp(s.Now)
			v := Decide(s.World)
			require.Equal(t, c.backup != "", v.Status["restoreInitiated"] == true)
			require.Equal(t, c.fills, v.Status["restoreRequired"] == true)
			require.Equal(t, c.standby, v.Status["isStandby"] == true)
			require.Equal(t, c.source != "" && !c.unknown, cloneStatus(v)["state"] == v1beta2.CloneCompleted)
			require.Equal(t, c.unknown, conditions.Reason(v.Conditions, v1beta2.VolumeAttached) == v1beta2.ReasonCopyUnknown)
			if c.unknown {
				require.Contains(t, conditions.Get(v.Conditions, v1beta2.VolumeAttached).Message, "kubectl -n "+s.Volume.Namespace+" patch lhv "+
					s.Volume.Name+" --subresource=status")
			}
		})
	}
}

// A volume that was copied is ready once it has as many copies as it should have.
func TestACopyIsCompleteOnceAllReplicasHaveIt(t *testing.T) {
	done, busy := v1beta2.SnapshotCloneStatus{State: "complete"}, v1beta2.SnapshotCloneStatus{State: "in_progress"}
	for name, c := range map[string]struct {
		reported map[string]v1beta2.SnapshotCloneStatus
		want     any
	}{
		"nothing is reported": {nil, nil}, "one is busy": {map[string]v1beta2.SnapshotCloneStatus{"a": busy, "b": done}, nil},
		"the last one is busy":  {map[string]v1beta2.SnapshotCloneStatus{"a": done, "b": busy}, nil},
		"all have it":           {map[string]v1beta2.SnapshotCloneStatus{"a": done, "b": done}, v1beta2.CloneCopyCompleted},
		"one reports an error":  {map[string]v1beta2.SnapshotCloneStatus{"a": done, "b": {State: "complete", Error: "no"}}, v1beta2.CloneFailed},
		"one failed wordlessly": {map[string]v1beta2.SnapshotCloneStatus{"a": {State: "error"}, "b": busy}, v1beta2.CloneFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := copying("snap://other/s", "x", "y")
			s.Volume.Status.CloneStatus.Snapshot = "s"
			s.Engines[0].Spec.RequestedDataSource, s.Engines[0].Status.CloneStatus = "snap://other/s", c.reported
			require.Equal(t, c.want, cloneStatus(Decide(s.World))["state"])
		})
	}
	s := copying("snap://other/s", "x", "y")
	s.Volume.Status.CloneStatus.State = v1beta2.CloneCopyCompleted
	require.Contains(t, reasons(Decide(s.World)), EventCloned)
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeWO
	v := Decide(s.World)
	require.Empty(t, cloneStatus(v))
	require.NotContains(t, reasons(v), EventCloned)
}

// A copy that has ended does not need its source any more: it counts whatever became of that before the result was read.
func TestTheResultOfACopyIsReadWhateverBecameOfItsSource(t *testing.T) {
	busy, done := v1beta2.SnapshotCloneStatus{State: "in_progress"}, v1beta2.SnapshotCloneStatus{State: "complete"}
	sources := map[string]func(*fixture){
		"is there":         func(*fixture) {},
		"is not attached":  func(s *fixture) { s.Source = nil },
		"is being deleted": func(s *fixture) { deleted(s.SourceVolume) },
		"is gone":          func(s *fixture) { s.SourceVolume, s.Source, s.SourceSnapshot = nil, nil, nil },
	}
	for source, snapshot := range map[string]string{"snap://other/s": "s", "vol://other": madeForTheCopy} {
		for name, change := range sources {
			for want, reported := range map[string]v1beta2.SnapshotCloneStatus{v1beta2.CloneCopyCompleted: done,
				v1beta2.CloneFailed: {State: "error", Error: "no space"}} {
				t.Run(source+" "+name+" "+want, func(t *testing.T) {
					s := copying(source, "x", "y")
					s.Engines[0].Spec.RequestedDataSource = "snap://other/" + snapshot
					s.Engines[0].Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"tcp://a": done, "tcp://b": reported}
					change(s)
					v := Decide(s.World)
					require.Equal(t, want, cloneStatus(v)["state"])
					require.Equal(t, snapshot, cloneStatus(v)["snapshot"])
					require.Empty(t, v.Writes)
					s.Engines[0].Status.CloneStatus["tcp://a"], s.Engines[0].Status.CloneStatus["tcp://b"] = done, busy
					require.NotContains(t, []any{v1beta2.CloneCopyCompleted, v1beta2.CloneFailed}, cloneStatus(Decide(s.World))["state"])
				})
			}
		}
	}
	s := copying("snap://other/s", "x")
	s.Engines[0].Spec.RequestedDataSource, s.SourceVolume = "snap://other/s", nil
	s.Engines[0].Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"tcp://a": busy}
	require.Contains(t, waitsFor(Decide(s.World)), "Volume other, which is to be copied, does not exist", "nothing ended yet")
}

// A clone that is to share its source's data is a full copy, and shows that once.
func TestALinkedCloneIsReportedAsTheFullCopyThatItIs(t *testing.T) {
	for mode, reported := range map[string]bool{v1beta2.CloneModeLinked: true, "full-copy": false, "": false} {
		s := newFixture(v1beta2.DataEngineV2, "x")
		s.Volume.Spec.DataSource, s.Volume.Spec.CloneMode = "snap://other/s", mode
		for range 5 {
			v := Decide(s.World)
			if cloneStatus(v)["state"] == v1beta2.CloneInitiated {
				require.Equal(t, reported, slices.Contains(reasons(v), EventCloneIsFull), mode)
				mode = "seen"
				break
			}
			s.step()
		}
		require.Equal(t, "seen", mode)
		s.Volume.Status.CloneStatus.State = v1beta2.CloneInitiated
		require.NotContains(t, reasons(Decide(s.World)), EventCloneIsFull)
	}
}

// A v1 engine lists an error alone for a replica that did not answer it: the copy may go on.
func TestAQuestionThatAReplicaDidNotAnswerEndsNoCopy(t *testing.T) {
	s := copying("snap://other/s", "x", "y")
	s.SourceSnapshot = &v1beta2.Snapshot{}
	s.Volume.Status.CloneStatus.Snapshot = "s"
	e := s.Engines[0]
	e.Spec.RequestedDataSource = "snap://other/s"
	e.Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"tcp://a": {Error: "connection refused"}, "tcp://b": {State: "complete"}}
	require.Empty(t, cloneStatus(Decide(s.World)), "it has neither failed nor ended")
	e.Status.CloneStatus["tcp://a"] = v1beta2.SnapshotCloneStatus{Error: "no space", State: "error"}
	require.Equal(t, v1beta2.CloneFailed, cloneStatus(Decide(s.World))["state"])
}
