package dataplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestV2DataIsOnlyEverDestroyedUnderItsOwnUUID runs any order of calls, restarts and time on a conforming server: an lvol goes only by a
// deletion with clean-up under its UUID or without one, its UUID never changes by itself, and the journal reports each loss.
func TestV2DataIsOnlyEverDestroyedUnderItsOwnUUID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFixture(Behaviour{StartTime: time.Second, StopTime: time.Second, Linger: time.Second})
		disk := f.plane.EnsureDisk("node-1", "disk-1", "/dev/sdb", 1<<40)
		s := f.start(V2)
		f.plane.EnsureDisk("node-1", "disk-1", "/dev/sdb", 1<<40)
		names := rapid.SampledFrom([]string{"r1", "r2", "r3"})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			name, before := names.Draw(t, "name"), f.plane.LvolsOf("node-1")
			entries, lost := len(f.plane.journal), ""
			switch rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				_, _ = s.Create(onDisk(v2Replica(name), disk))
			case 1:
				ask := Deletion{Name: name, Type: TypeReplica, DataEngine: V2, Cleanup: rapid.Bool().Draw(t, "clean-up"),
					UUID: rapid.SampledFrom([]string{"", "wrong", before[name].UUID}).Draw(t, "uuid")}
				_, _ = s.Delete(ask)
				if ask.Cleanup && ask.UUID != "wrong" {
					lost = name
				}
			case 2:
				s = f.start(V2)
				if rapid.Bool().Draw(t, "loaded") {
					f.plane.EnsureDisk("node-1", "disk-1", "/dev/sdb", 1<<40)
				}
			case 3:
				f.step(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
			}
			after, reported := f.plane.LvolsOf("node-1"), map[string]bool{}
			for _, e := range f.plane.journal[entries:] {
				if e.DataDestroyed {
					reported[e.Name] = true
				}
			}
			for n, l := range before {
				kept, ok := after[n]
				require.True(t, ok || n == lost, "lvol %s was lost without a deletion that may", n)
				require.Equal(t, !ok, reported[n], "the journal reports each loss and no other")
				if ok {
					require.Equal(t, l.UUID, kept.UUID)
				}
			}
		}
		f.step(time.Minute)
		for name, state := range listedBy(t, s) {
			require.NotContains(t, []string{Starting, Stopping, Pending}, state, "instance %s hangs", name)
			require.Contains(t, f.plane.LvolsOf("node-1"), name)
		}
	})
}

// onDisk has a replica created on a disk.
func onDisk(spec Spec, d Disk) Spec {
	spec.DiskName, spec.DiskUUID = d.Name, d.UUID
	return spec
}

func listedBy(t *rapid.T, s *Server) map[string]string {
	list, err := s.List()
	require.NoError(t, err)
	out := map[string]string{}
	for name, i := range list {
		out[name] = i.State
	}
	return out
}
