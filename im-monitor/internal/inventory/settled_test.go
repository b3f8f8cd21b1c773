package inventory

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// loaded is what a server answers about a disk that it has loaded.
func loaded(uuid string) imclient.Disk { return imclient.Disk{State: imclient.DiskReady, UUID: uuid} }

// withDisks runs a test on a v2 server whose node records two disks, by a leader that was elected long ago.
func withDisks(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	bubble(t, v1beta2.DataEngineV2, func(t *testing.T, b *bench) {
		b.server.set(func(s *server) {
			s.recorded = []NodeDisk{{Name: "disk-a", Path: "/dev/a", UUID: "uuid-a"}, {Name: "disk-b", Path: "/dev/b", UUID: "uuid-b"}}
			s.disks = map[string]imclient.Disk{"disk-a": loaded("uuid-a"), "disk-b": loaded("uuid-b")}
		})
		b.after(4 * time.Minute)
		b.Set(b.target)
		b.after(time.Minute)
		test(t, b)
	})
}

// gone asks for the absence of replica r-1 on a disk.
func (b *bench) gone(disk string) bool {
	return b.Absent(Subject{InstanceManager: manager, Name: "r-1", Type: v1beta2.InstanceTypeReplica, DiskUUID: disk})
}

func (b *bench) asksDisks() int {
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	return b.server.diskGets
}

func (b *bench) disks(f func(disks map[string]imclient.Disk)) {
	b.server.set(func(s *server) { f(s.disks) })
}

func TestAReplicaIsGoneOnlyByListsOfALoadedDisk(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		b.disks(func(d map[string]imclient.Disk) { delete(d, "disk-a") })
		require.False(t, b.gone("uuid-a"))
		b.after(time.Hour)
		require.False(t, b.gone("uuid-a"), "the server never loaded the disk: its list proves nothing, however old the epoch is")
		require.Equal(t, []string{"disk-a"}, b.Unloaded(manager, "uuid-a"))
		require.True(t, slices.ContainsFunc(b.seen(), func(c Change) bool { return slices.Contains(c.Names, "r-1") }),
			"whoever waits learns that the disk is not loaded")

		b.disks(func(d map[string]imclient.Disk) { d["disk-a"] = imclient.Disk{State: imclient.DiskCreating} })
		b.after(time.Hour)
		require.False(t, b.gone("uuid-a"), "a disk that is being loaded is not ready")

		b.disks(func(d map[string]imclient.Disk) { d["disk-a"] = loaded("uuid-x") })
		b.after(time.Hour)
		require.False(t, b.gone("uuid-a"), "another lvstore reports nothing about this one")

		b.disks(func(d map[string]imclient.Disk) { d["disk-a"] = loaded("uuid-a") })
		_, err := b.Disk(t.Context(), "fake", imclient.DiskQuery{Name: "disk-a"}) // whoever loads it asks
		require.NoError(t, err)
		b.after(29 * time.Second)
		require.False(t, b.gone("uuid-a"), "its replicas may not be in the cache yet")
		require.Empty(t, b.Unloaded(manager, "uuid-a"))
		b.after(4 * time.Second)
		require.False(t, b.gone("uuid-a"), "one settled list is not enough")
		b.after(3 * time.Second)
		require.True(t, b.gone("uuid-a"))
	})
}

func TestAReplicaOfAnUnknownDiskNeedsAllDisksOfTheNode(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		b.disks(func(d map[string]imclient.Disk) { delete(d, "disk-b") })
		require.False(t, b.gone(""))
		require.False(t, b.gone("uuid-a"))
		b.after(time.Minute)
		require.True(t, b.gone("uuid-a"), "its own disk is loaded")
		require.False(t, b.gone(""))
		require.Equal(t, []string{"disk-b"}, b.Unloaded(manager, ""))
		b.disks(func(d map[string]imclient.Disk) { d["disk-b"] = loaded("uuid-b") })
		b.after(3 * time.Minute)
		require.True(t, b.gone(""))
	})
}

func TestADiskThatTheNodeDoesNotHaveAnyMoreIsNotWaitedForButOneWithoutAUUIDIs(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		require.False(t, b.gone("uuid-x"))
		b.after(10 * time.Second)
		require.True(t, b.gone("uuid-x"))
		b.server.set(func(s *server) { s.recorded[1].UUID = "" })
		require.False(t, b.gone("uuid-y"), "the disk without a recorded UUID may be the one")
		require.Equal(t, []string{"disk-b"}, b.Unloaded(manager, "uuid-y"))
		asked := b.asksDisks()
		b.after(time.Hour)
		require.False(t, b.gone("uuid-y"))
		require.Equal(t, asked, b.asksDisks(), "no one can load it, so no one is asked")
	})
}

func TestNobodyAsksForDisksUntilAnAbsenceMatters(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		b.after(time.Hour)
		require.Zero(t, b.asksDisks())
		require.False(t, b.gone("uuid-a"))
		b.after(time.Minute)
		require.True(t, b.gone("uuid-a"))
		asked := b.asksDisks()
		b.server.lists()
		b.after(9 * time.Minute)
		require.True(t, b.gone("uuid-a"))
		require.Equal(t, asked, b.asksDisks(), "and then there is silence")
		require.LessOrEqual(t, len(b.server.lists()), 1, "but for the safety list")
	})
}

func TestADiskThatWasSeenReadyBeforeNeedsNoSecondWait(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		_, err := b.Disk(t.Context(), "fake", imclient.DiskQuery{Name: "disk-a"})
		require.NoError(t, err)
		b.after(time.Hour)
		require.False(t, b.gone("uuid-a"))
		b.after(6 * time.Second)
		require.True(t, b.gone("uuid-a"))
	})
}

func TestADiskThatFailsBetweenTwoListsVoidsTheEvidence(t *testing.T) {
	for name, fail := range map[string]func(s *server){
		"it is not ready any more": func(s *server) { s.disks["disk-a"] = imclient.Disk{State: imclient.DiskError} },
		"SPDK was restarted":       func(s *server) { s.diskError = imclient.ErrFailed },
		"it holds another lvstore": func(s *server) { s.disks["disk-a"] = loaded("uuid-x") },
		"the server was restarted": func(s *server) { delete(s.disks, "disk-a") },
	} {
		t.Run(name, func(t *testing.T) {
			withDisks(t, func(t *testing.T, b *bench) {
				require.False(t, b.gone("uuid-a"))
				b.after(32 * time.Second)
				b.server.set(fail)
				b.after(10 * time.Second)
				require.False(t, b.gone("uuid-a"))
				b.server.set(func(s *server) { s.diskError, s.disks["disk-a"] = nil, loaded("uuid-a") })
				_, err := b.Disk(t.Context(), "fake", imclient.DiskQuery{Name: "disk-a"})
				require.NoError(t, err)
				b.after(29 * time.Second)
				require.False(t, b.gone("uuid-a"), "its time begins again")
				b.after(time.Minute)
				require.True(t, b.gone("uuid-a"))
			})
		})
	}
}

func TestAListDuringOrSoonAfterACreationOrDeletionProvesNothing(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		client, _, _ := b.Client(manager)
		b.server.set(func(s *server) {
			s.create = func(context.Context, string) error { <-time.After(time.Minute); return nil }
		})
		go func() {
			_ = client.Create(context.WithoutCancel(t.Context()), imclient.CreateRequest{Name: "r-2", Type: v1beta2.InstanceTypeReplica})
		}()
		require.False(t, b.gone("uuid-a"))
		b.after(59 * time.Second)
		require.False(t, b.gone("uuid-a"), "a replica is being created all the time")
		b.after(13 * time.Second)
		require.False(t, b.gone("uuid-a"), "the first list that counts begins 10 s after it")
		b.after(5 * time.Second)
		require.True(t, b.gone("uuid-a"))

		require.NoError(t, client.Delete(t.Context(), imclient.DeleteRequest{Name: "r-1", Type: v1beta2.InstanceTypeReplica}))
		require.False(t, b.gone("uuid-a"), "whatever was proven before the call is void")
		b.after(14 * time.Second)
		require.False(t, b.gone("uuid-a"))
		b.after(2 * time.Second)
		require.True(t, b.gone("uuid-a"))
	})
}

func TestOneListAfterOurDeletionProvesNothingAboutAReplica(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		require.False(t, b.gone("uuid-a"))
		b.after(time.Minute)
		list, err := b.Fresh(t.Context(), manager)
		require.NoError(t, err)
		call := Call{InstanceManager: manager, Name: "r-1", Type: v1beta2.InstanceTypeReplica, DiskUUID: "uuid-a", Epoch: list.Epoch,
			Ended: time.Now()}
		_, err = b.Fresh(t.Context(), manager)
		require.NoError(t, err)
		require.False(t, b.AbsentAfter(call), "InstanceDelete answers OK for what the server does not list, and destroys nothing")
		b.after(7 * time.Second)
		require.True(t, b.AbsentAfter(call))
	})
}

func TestACallThatNobodyWaitsForIsOpenUntilItsDeadline(t *testing.T) {
	t.Run("our own that was not answered", func(t *testing.T) {
		withDisks(t, func(t *testing.T, b *bench) {
			client, _, _ := b.Client(manager)
			b.server.set(func(s *server) { s.remove = func(context.Context, string) error { return errGone } })
			require.Error(t, client.Delete(t.Context(), imclient.DeleteRequest{Name: "r-2", Type: v1beta2.InstanceTypeReplica}))
			require.False(t, b.gone("uuid-a"))
			b.after(3*time.Minute + 9*time.Second)
			require.False(t, b.gone("uuid-a"))
			b.after(8 * time.Second)
			require.True(t, b.gone("uuid-a"))
		})
	})
	for name, c := range map[string]struct {
		started time.Duration
		after   time.Duration
	}{
		"the leader's before, on a server that it knew":              {-time.Hour, 3*time.Minute + 14*time.Second},
		"the leader's before cannot be on a server that is younger":  {-time.Second, 37 * time.Second},
		"that is not known where the clock of the server's is ahead": {time.Hour, 3*time.Minute + 14*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, v1beta2.DataEngineV2, func(t *testing.T, b *bench) {
				time.Sleep(2 * time.Second)
				b.target.ContainerStarted = time.Now().Add(c.started)
				b.Set(b.target)
				synctest.Wait()
				require.False(t, b.gone("uuid-a"))
				b.after(c.after - 5*time.Second)
				require.False(t, b.gone("uuid-a"))
				b.after(5 * time.Second)
				require.True(t, b.gone("uuid-a"))
			})
		})
	}
}

func TestListsThatBeganBeforeTheQuestionDoNotCount(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		require.False(t, b.gone("uuid-a"))
		b.after(time.Minute)
		require.True(t, b.gone("uuid-a"))
		later := Subject{InstanceManager: manager, Name: "r-1", Type: v1beta2.InstanceTypeReplica, DiskUUID: "uuid-a", Since: time.Now()}
		require.False(t, b.Absent(later))
		b.after(7 * time.Second)
		require.True(t, b.Absent(later))
	})
}

func TestAReplicaThatIsListedAgainHasToBeProvenAbsentAnew(t *testing.T) {
	withDisks(t, func(t *testing.T, b *bench) {
		require.False(t, b.gone("uuid-a"))
		b.after(32 * time.Second)
		b.server.change(true, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") })
		b.after(time.Second)
		b.server.change(true, func(m map[string]Instance) { delete(m, "r-1") })
		b.after(4 * time.Second)
		require.False(t, b.gone("uuid-a"))
		b.after(7 * time.Second)
		require.True(t, b.gone("uuid-a"))
	})
}

func TestAFrontendIsGoneAfterTwoListsOfASettledEpochUnlessItWasPendingInBetween(t *testing.T) {
	bubble(t, v1beta2.DataEngineV2, func(t *testing.T, b *bench) {
		frontend := Subject{InstanceManager: manager, Name: "ef-1", Type: v1beta2.InstanceTypeEngineFrontend}
		b.Set(b.target)
		b.after(28 * time.Second)
		b.server.change(true, func(m map[string]Instance) {
			m["ef-1"] = Instance{Name: "ef-1", Type: v1beta2.InstanceTypeEngineFrontend, DataEngine: "v2",
				State: v1beta2.InstanceStatePending}
		})
		b.after(time.Second)
		b.server.change(true, func(m map[string]Instance) { delete(m, "ef-1") })
		b.after(3 * time.Second)
		require.False(t, b.Absent(frontend), "it was pending 3 s ago")
		b.after(5 * time.Second)
		require.True(t, b.Absent(frontend))
		require.Zero(t, b.asksDisks(), "no disk keeps a frontend from being listed")
	})
}
