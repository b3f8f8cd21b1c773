//go:build !fast

package disks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
)

const (
	node     = "node-1"
	patience = time.Minute
	// lateBy is five minutes of a cluster, shortened by the usual factor.
	lateBy  = 15 * time.Second
	foreign = "9f1c6f1e-51a1-4a33-8d4e-2f6f0b3a7d11"
)

// here is the one World of this test binary.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: []string{node}, Attach: true, Lease: 4 * time.Second,
		SimulatorArgs: []string{"--disk-create-time", "3s"}},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// fixture is a test's world, with its own devices, which are removed at the end.
func fixture(t *testing.T, devices ...world.Device) (context.Context, *world.World) {
	t.Helper()
	ctx := harness.Open(t, here, 5*time.Minute)
	for _, d := range devices {
		d.Node = node
		_, err := here.AddDevice(ctx, d)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, here.RemoveDevice(context.Background(), node, d.Path)) })
	}
	return ctx, here
}

// disk puts a disk into the spec until the test ends.
func disk(t *testing.T, ctx context.Context, key, path, initialize string) {
	t.Helper()
	require.NoError(t, here.SetDisks(ctx, node, map[string]any{key: world.BlockDisk(path, initialize)}))
	t.Cleanup(func() {
		clean, done := context.WithTimeout(context.Background(), patience)
		defer done()
		require.NoError(t, here.ReleaseDisk(clean, node, key, patience))
	})
}

// comes waits until the disk's condition Ready has the reason, and returns the disk's status.
func comes(t *testing.T, ctx context.Context, key, reason string) v1beta2.DiskStatus {
	t.Helper()
	var s v1beta2.DiskStatus
	require.NoError(t, here.Wait(ctx, "disk "+key+" to be "+reason, patience, func(ctx context.Context) (string, error) {
		var err error
		s, err = here.DiskStatus(ctx, node, key)
		if c := conditions.Get(s.Conditions, v1beta2.DiskReady); c == nil || c.Reason != reason {
			return fmt.Sprintf("its condition is %+v, its load %+v", c, s.Load), err
		}
		return "", err
	}))
	return s
}

func digest(t *testing.T, ctx context.Context, path string) string {
	t.Helper()
	d, err := here.Device(ctx, node, path)
	require.NoError(t, err)
	return d.Digest
}

// restart kills the v2 server, and waits until the next run has loaded each of the disks.
func restart(t *testing.T, ctx context.Context, keys ...string) {
	t.Helper()
	before := map[string]string{}
	for _, key := range keys {
		s, err := here.DiskStatus(ctx, node, key)
		require.NoError(t, err)
		require.NotNil(t, s.Load)
		before[key] = s.Load.Server
	}
	require.NoError(t, here.RestartManager(ctx, node, v1beta2.DataEngineV2))
	for _, key := range keys {
		require.NoError(t, here.Wait(ctx, "disk "+key+" in the next run", patience, func(ctx context.Context) (string, error) {
			s, err := here.DiskStatus(ctx, node, key)
			if s.Load == nil || s.Load.Server == before[key] || !conditions.IsTrue(s.Conditions, v1beta2.DiskReady) {
				return fmt.Sprintf("it is %+v", s.Load), err
			}
			return "", err
		}))
	}
}

// triesOften waits until several attempts to load a disk failed.
func triesOften(t *testing.T, ctx context.Context, key string) {
	t.Helper()
	require.NoError(t, here.Wait(ctx, "several attempts to load disk "+key, patience, func(ctx context.Context) (string, error) {
		s, err := here.DiskStatus(ctx, node, key)
		if s.Load == nil || s.Load.Attempts < 3 {
			return fmt.Sprintf("it is %+v", s.Load), err
		}
		return "", err
	}))
}

// creating waits until the server works on a disk.
func creating(t *testing.T, ctx context.Context, key string) {
	t.Helper()
	require.NoError(t, here.Wait(ctx, "disk "+key+" to be created", patience, func(ctx context.Context) (string, error) {
		if busy, err := here.Creating(ctx, node, key); !busy || err != nil {
			return "the server does not load it", err
		}
		return "", nil
	}))
}

func TestADeviceWithoutAMarkIsNotTouched(t *testing.T) {
	ctx, _ := fixture(t, world.Device{Path: "/dev/blank"},
		world.Device{Path: "/dev/foreign", Lvstore: &world.Lvstore{Name: "x", UUID: foreign}})
	blank, held := digest(t, ctx, "/dev/blank"), digest(t, ctx, "/dev/foreign")
	disk(t, ctx, "blank", "/dev/blank", "")
	disk(t, ctx, "foreign", "/dev/foreign", "")
	for _, key := range []string{"blank", "foreign"} {
		s := comes(t, ctx, key, v1beta2.ReasonNotInitialized)
		require.Contains(t, conditions.Get(s.Conditions, v1beta2.DiskReady).Message, "kubectl")
		require.Empty(t, s.DiskUUID)
		require.Nil(t, s.Load)
	}
	require.Equal(t, []string{blank, held}, []string{digest(t, ctx, "/dev/blank"), digest(t, ctx, "/dev/foreign")})
}

// A key whose status still is of a v1 disk is loaded once disk-controller removed that status. A node's disks are decided on together: the
// disk beside it shows when.
func TestADiskIsNotLoadedWhileItsStatusStillIsOfAV1Disk(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/left"}, world.Device{Path: "/dev/beside"})
	before := digest(t, ctx, "/dev/left")
	disk(t, ctx, "left", "/dev/left", "")
	comes(t, ctx, "left", v1beta2.ReasonNotInitialized)
	record := func(entry map[string]any) {
		t.Helper()
		fields := map[string]any{"diskStatus": map[string]any{"left": entry}}
		require.NoError(t, status.MergeStatus(ctx, w.Admin, w.NodeObject(node), fields))
	}
	record(map[string]any{"diskType": v1beta2.DiskTypeFilesystem})
	require.NoError(t, w.SetDisks(ctx, node, map[string]any{"left": world.BlockDisk("/dev/left", "new")}))
	disk(t, ctx, "beside", "/dev/beside", "")
	comes(t, ctx, "beside", v1beta2.ReasonNotInitialized)
	left, err := w.DiskStatus(ctx, node, "left")
	require.NoError(t, err)
	require.Equal(t, v1beta2.DiskTypeFilesystem, left.DiskType)
	require.Nil(t, left.Load)
	require.Equal(t, before, digest(t, ctx, "/dev/left"))
	record(nil)
	require.NotEmpty(t, comes(t, ctx, "left", v1beta2.ReasonDiskReady).DiskUUID)
}

func TestAFilesystemIsNotFormattedByAMark(t *testing.T) {
	ctx, _ := fixture(t, world.Device{Path: "/dev/ext4", Filesystem: "ext4"})
	before := digest(t, ctx, "/dev/ext4")
	disk(t, ctx, "ext4", "/dev/ext4", "new")
	require.NoError(t, here.Wait(ctx, "the failure", patience, func(ctx context.Context) (string, error) {
		s, err := here.DiskStatus(ctx, node, "ext4")
		if s.Load == nil || s.Load.State != v1beta2.DiskLoadError {
			return fmt.Sprintf("it is %+v", s.Load), err
		}
		return "", err
	}))
	require.Equal(t, before, digest(t, ctx, "/dev/ext4"))
}

func TestTheReplicasOfAForeignLvstoreAreAcknowledgedAndKept(t *testing.T) {
	for _, mark := range []string{"new", "adopt:" + foreign} {
		t.Run(mark, func(t *testing.T) {
			ctx, _ := fixture(t, world.Device{Path: "/dev/foreign", Lvstore: &world.Lvstore{Name: "theirs", UUID: foreign,
				Replicas: map[string]uint64{"their-r-1": 1 << 20, "their-r-2": 1 << 20}}})
			before := digest(t, ctx, "/dev/foreign")
			disk(t, ctx, "foreign", "/dev/foreign", mark)
			s := comes(t, ctx, "foreign", v1beta2.ReasonDiskReady)
			require.Equal(t, foreign, s.DiskUUID)
			require.NoError(t, here.Wait(ctx, "the acknowledgement", patience, func(ctx context.Context) (string, error) {
				var err error
				if s, err = here.DiskStatus(ctx, node, "foreign"); s.AcknowledgedAt == "" {
					return "there is none", err
				}
				return "", err
			}))
			require.Equal(t, []string{"their-r-1", "their-r-2"}, s.AcknowledgedReplicas)
			d, err := here.Device(ctx, node, "/dev/foreign")
			require.NoError(t, err)
			require.Len(t, d.Lvstore.Replicas, 2)
			if mark != "new" {
				require.Equal(t, before, d.Digest, "taking the lvstore that was named writes nothing")
			}
		})
	}
}

func TestASwappedPairOfDisksIsNotLoadedAndNotFormatted(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/a"}, world.Device{Path: "/dev/b"})
	disk(t, ctx, "a", "/dev/a", "new")
	disk(t, ctx, "b", "/dev/b", "new")
	a, b := comes(t, ctx, "a", v1beta2.ReasonDiskReady), comes(t, ctx, "b", v1beta2.ReasonDiskReady)
	inA, inB := digest(t, ctx, "/dev/a"), digest(t, ctx, "/dev/b")
	require.NoError(t, w.SwapDevices(ctx, node, "/dev/a", "/dev/b"))
	require.NoError(t, w.RestartManager(ctx, node, v1beta2.DataEngineV2))
	for key, was := range map[string]v1beta2.DiskStatus{"a": a, "b": b} {
		require.NoError(t, w.Wait(ctx, "the failure of "+key, patience, func(ctx context.Context) (string, error) {
			s, err := w.DiskStatus(ctx, node, key)
			if s.Load == nil || s.Load.Server == was.Load.Server || s.Load.State != v1beta2.DiskLoadError {
				return fmt.Sprintf("it is %+v", s.Load), err
			}
			require.Equal(t, was.DiskUUID, s.DiskUUID, "no other UUID is recorded")
			return "", err
		}))
	}
	require.Equal(t, []string{inB, inA}, []string{digest(t, ctx, "/dev/a"), digest(t, ctx, "/dev/b")}, "no byte was written")
	require.NoError(t, w.SwapDevices(ctx, node, "/dev/a", "/dev/b"))
	for key, was := range map[string]v1beta2.DiskStatus{"a": a, "b": b} {
		require.Equal(t, was.DiskUUID, comes(t, ctx, key, v1beta2.ReasonDiskReady).DiskUUID, "the attempts go on until the device is back")
	}
	require.Equal(t, []string{inA, inB}, []string{digest(t, ctx, "/dev/a"), digest(t, ctx, "/dev/b")})
}

func TestADiskThatAppearsLateIsLoadedWhenItIsThere(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/late"})
	disk(t, ctx, "late", "/dev/late", "new")
	uuid := comes(t, ctx, "late", v1beta2.ReasonDiskReady).DiskUUID
	before := digest(t, ctx, "/dev/late")
	require.NoError(t, w.SetDevice(ctx, node, "/dev/late", false))
	require.NoError(t, w.RestartManager(ctx, node, v1beta2.DataEngineV2))
	triesOften(t, ctx, "late")
	require.NoError(t, w.Never(ctx, "a disk without its device", lateBy, func(ctx context.Context) (string, error) {
		s, err := here.DiskStatus(ctx, node, "late")
		if err != nil || !conditions.IsTrue(s.Conditions, v1beta2.DiskReady) && s.DiskUUID == uuid {
			return "", err
		}
		return fmt.Sprintf("it has UUID %q and conditions %v", s.DiskUUID, s.Conditions), nil
	}))
	require.NoError(t, w.SetDevice(ctx, node, "/dev/late", true))
	require.Equal(t, uuid, comes(t, ctx, "late", v1beta2.ReasonDiskReady).DiskUUID)
	require.Equal(t, before, digest(t, ctx, "/dev/late"))
}

// The replicas of a disk that is late wait for it, and it does not wait for them.
func TestAVolumeIsBackOnceItsLateDiskIs(t *testing.T) {
	ctx, w := fixture(t)
	const volume = "waiting"
	comes(t, ctx, "disk-1", v1beta2.ReasonDiskReady)
	require.NoError(t, w.Order(ctx, volume, v1beta2.DataEngineV2, 1, nil))
	require.NoError(t, w.Attach(ctx, volume, node, patience))
	require.NoError(t, w.Write(ctx, volume, 1, "before"))
	require.NoError(t, w.SetDevice(ctx, node, "/dev/disk-1", false))
	require.NoError(t, w.RestartManager(ctx, node, v1beta2.DataEngineV2))
	triesOften(t, ctx, "disk-1")
	require.NoError(t, w.SetDevice(ctx, node, "/dev/disk-1", true))
	comes(t, ctx, "disk-1", v1beta2.ReasonDiskReady)
	require.NoError(t, w.WaitVolume(ctx, volume, "to be attached and healthy", patience, func(v *v1beta2.Volume) string {
		if v.Status.State != v1beta2.VolumeStateAttached || v.Status.Robustness != v1beta2.VolumeRobustnessHealthy {
			return fmt.Sprintf("it is %s and %s", v.Status.State, v.Status.Robustness)
		}
		return ""
	}))
	text, err := w.Read(ctx, volume, 1)
	require.NoError(t, err)
	require.Equal(t, "before", text)
	require.NoError(t, w.Verify(ctx, volume))
	require.NoError(t, w.LetGo(ctx, volume, patience))
	require.NoError(t, w.DeleteVolume(ctx, volume))
}

func TestADiskIsLoadedAgainInEachRunOfTheServer(t *testing.T) {
	ctx, _ := fixture(t, world.Device{Path: "/dev/again"})
	disk(t, ctx, "again", "/dev/again", "new")
	s := comes(t, ctx, "again", v1beta2.ReasonDiskReady)
	before := digest(t, ctx, "/dev/again")
	for range 2 {
		restart(t, ctx, "again")
		require.Equal(t, s.DiskUUID, comes(t, ctx, "again", v1beta2.ReasonDiskReady).DiskUUID)
		require.Equal(t, before, digest(t, ctx, "/dev/again"))
	}
}

func TestAServerThatIsKilledWhileItInitializesADiskLeavesTheDecisionToAPerson(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/killed"})
	disk(t, ctx, "killed", "/dev/killed", "new")
	creating(t, ctx, "killed")
	require.NoError(t, w.RestartManager(ctx, node, v1beta2.DataEngineV2))
	s := comes(t, ctx, "killed", v1beta2.ReasonInitializationUncertain)
	require.Empty(t, s.DiskUUID)
	before := digest(t, ctx, "/dev/killed")
	require.Contains(t, conditions.Get(s.Conditions, v1beta2.DiskReady).Message, "restarted")
	require.Equal(t, before, digest(t, ctx, "/dev/killed"))
	require.NoError(t, w.SetDisks(ctx, node, map[string]any{"killed": map[string]any{"initialize": nil}}))
	comes(t, ctx, "killed", v1beta2.ReasonNotInitialized)
	require.NoError(t, w.SetDisks(ctx, node, map[string]any{"killed": map[string]any{"initialize": "new"}}))
	comes(t, ctx, "killed", v1beta2.ReasonDiskReady)
}

func TestARecordedDiskIsLoadedAgainAfterItsServerWasKilledDuringTheLoad(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/twice"})
	disk(t, ctx, "twice", "/dev/twice", "new")
	uuid := comes(t, ctx, "twice", v1beta2.ReasonDiskReady).DiskUUID
	before := digest(t, ctx, "/dev/twice")
	require.NoError(t, w.RestartManager(ctx, node, v1beta2.DataEngineV2))
	creating(t, ctx, "twice")
	restart(t, ctx, "twice")
	require.Equal(t, uuid, comes(t, ctx, "twice", v1beta2.ReasonDiskReady).DiskUUID)
	require.Equal(t, before, digest(t, ctx, "/dev/twice"))
}

func TestADiskIsLoadedAfterIMMonitorWasKilledAtAnyStep(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/step"})
	disk(t, ctx, "step", "/dev/step", "new")
	uuid := comes(t, ctx, "step", v1beta2.ReasonDiskReady).DiskUUID
	before := digest(t, ctx, "/dev/step")
	for _, state := range []string{v1beta2.DiskLoadRequested, v1beta2.DiskLoadReady} {
		was, err := w.DiskStatus(ctx, node, "step")
		require.NoError(t, err)
		require.NoError(t, w.RestartManager(ctx, node, v1beta2.DataEngineV2))
		require.NoError(t, w.Wait(ctx, "the attempt to be "+state, patience, func(ctx context.Context) (string, error) {
			s, err := w.DiskStatus(ctx, node, "step")
			if s.Load == nil || s.Load.Server == was.Load.Server {
				return fmt.Sprintf("it is %+v", s.Load), err
			}
			return "", err
		}))
		require.NoError(t, w.Process(world.IMMonitor).Crash())
		require.Equal(t, uuid, comes(t, ctx, "step", v1beta2.ReasonDiskReady).DiskUUID)
		require.Equal(t, before, digest(t, ctx, "/dev/step"))
	}
}

// The entry is removed with its disk, so that the device can be used again; an event reports that the server kept the disk.
func TestADiskThatItsServerDoesNotReleaseIsReported(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/kept"})
	disk(t, ctx, "kept", "/dev/kept", "new")
	comes(t, ctx, "kept", v1beta2.ReasonDiskReady)
	before := digest(t, ctx, "/dev/kept")
	require.NoError(t, w.Inject(ctx, world.Fault{Kind: "error", Node: node, Method: "DiskDelete", Code: "Internal", Times: 1}))
	t.Cleanup(func() { require.NoError(t, w.Heal(context.Background())) })
	require.NoError(t, w.SetDisks(ctx, node, map[string]any{"kept": nil}))
	require.NoError(t, w.WaitEvent(ctx, "DiskNotReleased", patience))
	require.Equal(t, before, digest(t, ctx, "/dev/kept"))
}

func TestADeviceThatVanishesDuringItsLoadIsReportedAndNotLoadedAgain(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/pulled"})
	disk(t, ctx, "pulled", "/dev/pulled", "new")
	was := comes(t, ctx, "pulled", v1beta2.ReasonDiskReady)
	require.NoError(t, w.SetDevice(ctx, node, "/dev/pulled", false))
	// the load is requested again
	require.NoError(t, w.SetDisks(ctx, node, map[string]any{"pulled": map[string]any{"allowScheduling": false}}))
	s := comes(t, ctx, "pulled", v1beta2.ReasonNoDiskInfo)
	require.Contains(t, conditions.Get(s.Conditions, v1beta2.DiskReady).Message, "restart the pod")
	require.Equal(t, []string{was.DiskUUID, was.Load.RequestedAt}, []string{s.DiskUUID, s.Load.RequestedAt}, "no other attempt was started")
	require.NoError(t, w.SetDevice(ctx, node, "/dev/pulled", true))
	restart(t, ctx, "pulled")
	require.Equal(t, was.DiskUUID, comes(t, ctx, "pulled", v1beta2.ReasonDiskReady).DiskUUID)
}

func TestADiskIsNotReadyWhileItsNodeIsNot(t *testing.T) {
	ctx, w := fixture(t, world.Device{Path: "/dev/dark"})
	disk(t, ctx, "dark", "/dev/dark", "new")
	was := comes(t, ctx, "dark", v1beta2.ReasonDiskReady)
	t.Cleanup(func() { require.NoError(t, w.JoinNode(context.Background(), node)) })
	require.NoError(t, w.CutNode(ctx, node))
	s := comes(t, ctx, "dark", v1beta2.ReasonNodeNotReady)
	require.Equal(t, v1beta2.ReasonNodeNotReady, conditions.Reason(s.Conditions, v1beta2.DiskSchedulable))
	require.Equal(t, was.DiskUUID, s.DiskUUID)
	require.NoError(t, w.JoinNode(ctx, node))
	require.Equal(t, was.DiskUUID, comes(t, ctx, "dark", v1beta2.ReasonDiskReady).DiskUUID)
}
