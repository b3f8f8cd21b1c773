package disk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func drawTime(t *rapid.T, label string) string {
	return pick(t, label, "", "yesterday", ago(-time.Minute), ago(0), ago(10*time.Second), ago(35*time.Second), ago(2*time.Minute),
		ago(time.Hour))
}

func drawStatus(t *rapid.T) v1beta2.DiskStatus {
	const block = v1beta2.DiskTypeBlock
	s := v1beta2.DiskStatus{DiskType: pick(t, "status type", block, block, block, "filesystem"),
		DiskUUID: pick(t, "recorded", "", mine, theirs), DiskPath: pick(t, "recorded path", "", "/dev/sdb", "/dev/sdc"),
		DiskDriver: pick(t, "recorded driver", "", "aio", "nvme"), AcknowledgedAt: pick(t, "acknowledged", "", ago(time.Hour))}
	if rapid.Bool().Draw(t, "has load") {
		s.Load = &v1beta2.DiskLoad{Server: pick(t, "run", thisRun, "pod/before"), UUID: pick(t, "load uuid", "", mine, theirs),
			State:       pick(t, "load state", v1beta2.DiskLoadRequested, v1beta2.DiskLoadCreating, v1beta2.DiskLoadError, v1beta2.DiskLoadReady),
			RequestedAt: drawTime(t, "requested at"), ReadyAt: drawTime(t, "ready at"), Attempts: rapid.IntRange(0, 9).Draw(t, "attempts")}
	}
	return s
}

func drawWorld(t *rapid.T) World {
	w := world(Answer{})
	w.Specs, w.Status, w.Server.Answers = map[string]v1beta2.DiskSpec{}, map[string]v1beta2.DiskStatus{}, map[string]Answer{}
	w.NodeNotReady = pick(t, "node", "", "", "The kubelet is silent.")
	for _, key := range []string{"aa", "bb", "cc"} {
		if rapid.Bool().Draw(t, "has spec "+key) {
			const block = v1beta2.DiskTypeBlock
			w.Specs[key] = v1beta2.DiskSpec{DiskType: pick(t, "type", block, block, block, "filesystem", ""),
				Path: pick(t, "path", "/dev/sdb", "/dev/sdc", "0000:00:1e.0"), DiskDriver: pick(t, "driver", "", "auto", "aio"),
				Initialize: pick(t, "mark", "", "", "new", "adopt:"+mine, "adopt:"+theirs)}
		}
		if rapid.Bool().Draw(t, "has status "+key) {
			w.Status[key] = drawStatus(t)
		}
		if rapid.Bool().Draw(t, "answered "+key) {
			w.Server.Answers[key] = Answer{Failed: pick(t, "failed", "", "", "", "deadline"), Unknown: rapid.Bool().Draw(t, "unknown"),
				Vanished: rapid.Bool().Draw(t, "vanished"), State: pick(t, "state", "creating", "error", "ready", "ready", "odd", ""),
				UUID: pick(t, "uuid", "", mine, theirs), Name: key, Driver: "aio", Path: pick(t, "loaded from", "", "/dev/sdb"),
				TotalBytes: 100, FreeBytes: pick[int64](t, "free", 0, 20, 80)}
		}
		if rapid.Bool().Draw(t, "listed "+key) {
			w.Server.Contents = map[string][]string{key: {"r-2", "r-1"}}
		}
	}
	for _, name := range []string{"r-1", "r-2", "r-3"} {
		if rapid.Bool().Draw(t, "has "+name) {
			w.Replicas = append(w.Replicas, Replica{Name: name, DiskID: pick(t, "disk", "", mine, theirs),
				DiskPath: pick(t, "disk path", "", "/dev/sdb"), Bytes: 7})
		}
	}
	switch pick(t, "in use", "unknown", "nothing", "mine") {
	case "unknown":
		w.Server.InUse = nil
	case "mine":
		w.Server.InUse[mine] = true
	}
	w.Server.Listed = now.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "listed")) * time.Second)
	if pick(t, "server", "answers", "answers", "answers", "does not") != "answers" {
		w.Server, w.NoManager = nil, rapid.Bool().Draw(t, "no manager")
	}
	return w
}

// after is the node's diskStatus once the changes of a verdict are written.
func after(w World, v Verdict) map[string]v1beta2.DiskStatus {
	out := maps.Clone(w.Status)
	for key, change := range v.Changes {
		if delete(out, key); change != nil {
			out[key] = *change
		}
	}
	return out
}

func named(w World, uuid string) bool {
	return slices.ContainsFunc(w.Replicas, func(r Replica) bool { return r.DiskID == uuid })
}

func TestADeviceIsFormattedOnlyWhereAPersonAllowedItAndNothingIsKnownOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for _, call := range Decide(w).Calls {
			if call.Op == OpDelete || call.UUID != "" {
				continue
			}
			require.Equal(t, OpCreate, call.Op, "nothing is deleted and then created without a UUID")
			require.Equal(t, "new", w.Specs[call.Key].Initialize)
			require.Empty(t, w.Status[call.Key].DiskUUID, "a recorded disk is loaded with its UUID")
			for _, r := range w.Replicas {
				require.NotEqual(t, call.Path, r.DiskPath, "replica %s has its data there", r.Name)
			}
		}
	})
}

func TestARecordedUUIDIsNeverReplacedAndOnlyItIsLoaded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		for key, s := range after(w, v) {
			if recorded := w.Status[key].DiskUUID; recorded != "" {
				require.Equal(t, recorded, s.DiskUUID)
			}
			if s.DiskUUID != "" && w.Status[key].DiskUUID == "" {
				require.Equal(t, w.Server.Answers[key].UUID, s.DiskUUID, "what is recorded is what the server loaded")
				require.NotEmpty(t, w.Specs[key].Initialize, "and what a person's mark led to")
			}
		}
		for _, call := range v.Calls {
			if recorded := w.Status[call.Key].DiskUUID; recorded != "" && call.Op != OpDelete {
				require.Equal(t, recorded, call.UUID)
			}
		}
	})
}

func TestADiskIsReleasedOnlyWhereNothingIsKnownToBeOnIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		for key, change := range v.Changes {
			uuid := w.Status[key].DiskUUID
			if change != nil || uuid == "" {
				continue
			}
			require.NotEqual(t, v1beta2.DiskTypeBlock, w.Specs[key].DiskType, "a disk of the spec stays")
			require.False(t, named(w, uuid), "a Replica names it")
			if w.Server == nil {
				require.True(t, w.NoManager, "its server does not answer")
				continue
			}
			require.NotNil(t, w.Server.InUse, "what runs is unknown")
			require.False(t, w.Server.InUse[uuid])
			require.True(t, slices.ContainsFunc(v.Calls, func(c Call) bool { return c.Key == key && c.Op == OpDelete && c.UUID == uuid }),
				"the server releases it first")
		}
	})
}

func TestWithoutAServerNothingIsCalledAndNoDiskIsReady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.Server = nil
		v := Decide(w)
		require.Empty(t, v.Calls)
		require.Empty(t, v.List)
		require.False(t, v.Relist)
		for key, s := range after(w, v) {
			if w.Specs[key].DiskType == v1beta2.DiskTypeBlock {
				require.False(t, conditions.IsTrue(s.Conditions, v1beta2.DiskReady))
			}
		}
	})
}

func TestFilesystemDisksAreNeverTouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		for _, key := range []string{"aa", "bb", "cc"} {
			if w.Specs[key].DiskType == v1beta2.DiskTypeBlock && !IsLeftOver(w.Status[key]) || w.Status[key].DiskType == v1beta2.DiskTypeBlock {
				continue
			}
			require.NotContains(t, v.Changes, key)
			require.NotContains(t, v.List, key)
			require.False(t, slices.ContainsFunc(v.Calls, func(c Call) bool { return c.Key == key }))
		}
	})
}

func TestEachDiskHasOneCallAtMostAndItsAttemptIsRecordedBeforeIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		called := map[string]bool{}
		for _, call := range v.Calls {
			require.False(t, called[call.Key], "one call for disk %s", call.Key)
			called[call.Key] = true
			require.NotEqual(t, "auto", call.DeleteDriver, "DiskDelete accepts no auto")
			if call.Op == OpDelete {
				require.NotEqual(t, "auto", call.Driver, "DiskDelete accepts no auto")
				continue
			}
			load := v.Changes[call.Key].Load
			require.Equal(t, v1beta2.DiskLoadRequested, load.State)
			require.Equal(t, w.Server.Run, load.Server)
			require.Equal(t, call.UUID, load.UUID)
			require.Positive(t, v.After, "the answer is read again")
		}
	})
}

func TestOneLvstoreIsReadyOnOneDiskOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		readyOn := map[string]string{}
		for key, s := range after(w, Decide(w)) {
			if w.Specs[key].DiskType != v1beta2.DiskTypeBlock || !conditions.IsTrue(s.Conditions, v1beta2.DiskReady) {
				continue
			}
			require.NotEmpty(t, s.DiskUUID)
			require.Empty(t, readyOn[s.DiskUUID], "and on %s", key)
			readyOn[s.DiskUUID] = key
		}
	})
}

func TestADiskThatIsNotReadyHasNoFiguresAndTakesNoReplica(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for key, s := range after(w, Decide(w)) {
			if w.Specs[key].DiskType != v1beta2.DiskTypeBlock || IsLeftOver(w.Status[key]) || conditions.IsTrue(s.Conditions, v1beta2.DiskReady) {
				continue
			}
			require.Zero(t, s.StorageMaximum+s.StorageAvailable+s.StorageScheduled)
			require.Empty(t, s.ScheduledReplica)
			require.True(t, conditions.IsFalse(s.Conditions, v1beta2.DiskSchedulable))
			c := conditions.Get(s.Conditions, v1beta2.DiskReady)
			require.True(t, strings.Contains(c.Message, key) || strings.Contains(c.Message, w.Node), "it names the disk or its node: %s",
				c.Message)
		}
	})
}

func TestTheVerdictDependsOnNoOrderAndComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		before := fmt.Sprintf("%+v", w.Status)
		v := Decide(w)
		require.Equal(t, v, Decide(w), "the same world has the same verdict")
		require.Equal(t, before, fmt.Sprintf("%+v", w.Status), "the world is not changed")
		mixed := w
		mixed.Replicas = slices.Clone(w.Replicas)
		slices.Reverse(mixed.Replicas)
		require.Equal(t, v, Decide(mixed), "the order of the Replicas does not matter")

		// A UUID that was recorded for one disk, or an attempt, counts for the next decision about the others.
		for range 3 {
			w.Status = after(w, Decide(w))
		}
		require.Empty(t, Decide(w).Changes, "it comes to rest: nothing is written for ever")
	})
}

func TestTheRecordOfWhatADiskHeldIsWrittenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for key, s := range after(w, Decide(w)) {
			old := w.Status[key]
			if old.AcknowledgedAt != "" {
				require.Equal(t, old.AcknowledgedAt, s.AcknowledgedAt)
				require.Equal(t, old.AcknowledgedReplicas, s.AcknowledgedReplicas)
			} else if s.AcknowledgedAt != "" {
				require.Contains(t, w.Server.Contents, key, "a list that is not complete proves nothing")
				for _, name := range s.AcknowledgedReplicas {
					for _, r := range w.Replicas {
						require.False(t, r.Name == name && r.DiskID == s.DiskUUID, "Replica %s claims what is on its disk", name)
					}
				}
			}
		}
	})
}
