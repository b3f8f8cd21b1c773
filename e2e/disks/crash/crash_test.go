//go:build !fast

package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	node     = "node-1"
	key      = "swept-disk"
	path     = "/dev/swept"
	patience = 30 * time.Second
	foreign  = "9f1c6f1e-51a1-4a33-8d4e-2f6f0b3a7d11"
	creation = "DiskCreate " + key
)

// here is the one World of this test binary.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: []string{node}, Record: true},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// scenario is one way in which a disk is loaded.
type scenario struct {
	name string
	// device is the device at the path before the load.
	device world.Device
	// mark is the person's decision; recorded: the disk was loaded before, and its server restarts.
	mark     string
	recorded bool
}

// held is the content of the device that is compared before and after.
type held struct {
	digest   string
	lvstore  string
	replicas []string
}

func poll(ctx context.Context, at string) (held, error) {
	d, err := here.Device(ctx, node, at)
	h := held{digest: d.Digest}
	if d.Lvstore != nil {
		h.lvstore = d.Lvstore.UUID
		for name := range d.Lvstore.Replicas {
			h.replicas = append(h.replicas, name)
		}
		slices.Sort(h.replicas)
	}
	return h, err
}

// ofLoads numbers what im-monitor does about disks: calls, and writes of the Node's status.
func ofLoads(s record.Step) bool {
	return s.Actor == world.IMMonitor && (strings.HasPrefix(s.What, "Disk") || strings.Contains(s.What, "nodes/status"))
}

// set prepares a scenario. A recorded disk stays from one run to the next.
func (s scenario) set(ctx context.Context) error {
	if is, err := here.DiskStatus(ctx, node, key); err != nil || is.DiskUUID != "" {
		return err
	}
	device := s.device
	device.Node, device.Path = node, path
	if _, err := here.AddDevice(ctx, device); err != nil || !s.recorded {
		return err
	}
	if err := here.SetDisks(ctx, node, map[string]any{key: world.BlockDisk(path, s.mark)}); err != nil {
		return err
	}
	_, err := loaded(ctx, "", true)
	return err
}

// begin starts the load, and returns the run of the server in which the disk was loaded before.
func (s scenario) begin(ctx context.Context) (string, error) {
	if !s.recorded {
		return "", here.SetDisks(ctx, node, map[string]any{key: world.BlockDisk(path, s.mark)})
	}
	was, err := here.DiskStatus(ctx, node, key)
	if err != nil {
		return "", err
	}
	return was.Load.Server, here.RestartManager(ctx, node, v1beta2.DataEngineV2)
}

// loaded waits until the disk is ready in another run of its server, and, with whole, until its replicas are acknowledged.
func loaded(ctx context.Context, before string, whole bool) (v1beta2.DiskStatus, error) {
	var s v1beta2.DiskStatus
	return s, here.Wait(ctx, "the load", patience, func(ctx context.Context) (string, error) {
		var err error
		s, err = here.DiskStatus(ctx, node, key)
		if s.Load == nil || s.Load.Server == before || !conditions.IsTrue(s.Conditions, v1beta2.DiskReady) || whole &&
			s.AcknowledgedAt == "" {
			return fmt.Sprintf("its load is %+v, its conditions %+v", s.Load, s.Conditions), err
		}
		return "", err
	})
}

// clear removes the disk, and restarts im-monitor where it was killed.
func clear(ctx context.Context) error {
	here.Sequence.Reset(nil)
	if err := here.ReleaseDisk(ctx, node, key, patience); err != nil {
		return err
	}
	return here.RemoveDevice(ctx, node, path)
}

// run runs a scenario once, with a crash at a step (0: none), and returns its steps and its violations. With whole it continues until
// the disk's replicas are acknowledged, which takes long after a change of leader, and until no writes follow: im-monitor that was
// killed at the last step has polled the disk again.
func (s scenario) run(ctx context.Context, whole bool, number int, side record.Side, kill func(record.Step) record.Verdict) ([]record.Step,
	error) {
	if err := s.set(ctx); err != nil {
		return nil, err
	}
	before, err := poll(ctx, path)
	if err != nil {
		return nil, err
	}
	here.Sequence.Reset(ofLoads)
	here.DataPlane.Reset()
	if number > 0 {
		here.Sequence.CutAt(number, side, kill)
	}
	run, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := loaded(ctx, run, whole); err != nil {
		return nil, err
	}
	// A reader may see a write before its writer is killed.
	if err := here.Wait(ctx, "the crash", patience, func(context.Context) (string, error) {
		if here.Sequence.Cut() || len(here.Sequence.Steps()) < number {
			return "", nil
		}
		return "no process was killed yet", nil
	}); err != nil {
		return nil, err
	}
	if whole {
		if err := here.Quiet(ctx, patience); err != nil {
			return nil, err
		}
		if err := here.WaitReady(ctx, here.Process(world.IMMonitor), patience); err != nil {
			return nil, err
		}
	}
	status, err := loaded(ctx, run, whole)
	if err != nil {
		return nil, err
	}
	steps := here.Sequence.Steps()
	after, err := poll(ctx, path)
	if err != nil {
		return nil, err
	}
	return steps, s.evaluate(before, after, status)
}

// evaluate compares the device before and after, and counts the calls that reached the server: one loads a disk, a second one could format
// another device.
func (s scenario) evaluate(before, after held, status v1beta2.DiskStatus) error {
	calls := 0
	for _, c := range here.DataPlane.Calls() {
		if strings.HasPrefix(c.What, creation) {
			calls++
		}
	}
	switch blank := before.lvstore == ""; {
	case calls != 1:
		return fmt.Errorf("DiskCreate reached the server %d times", calls)
	case status.DiskUUID != after.lvstore:
		return fmt.Errorf("recorded is %s, the device holds %s", status.DiskUUID, after.lvstore)
	case !blank && after.lvstore != before.lvstore, !slices.Equal(after.replicas, before.replicas):
		return fmt.Errorf("the device held %+v and holds %+v", before, after)
	case !blank && after.digest != before.digest:
		return fmt.Errorf("the device has other bytes")
	case status.AcknowledgedAt != "" && !slices.Equal(status.AcknowledgedReplicas, before.replicas):
		return fmt.Errorf("acknowledged are %v, the device held %v", status.AcknowledgedReplicas, before.replicas)
	}
	return nil
}

// killer kills im-monitor, and starts it again.
func killer(t *testing.T) func(record.Step) record.Verdict {
	return func(record.Step) record.Verdict {
		if err := here.Process(world.IMMonitor).Crash(); err != nil {
			t.Errorf("restarting im-monitor: %v", err)
		}
		return record.Drop
	}
}

// A1: after a crash between any two writes or calls, the disk is loaded by one DiskCreate, with its own UUID, and the device keeps its
// data, under auto deletion, too. An unmarked device lies beside it. [ALL-2]
func TestADiskIsLoadedOnceWhenIMMonitorCrashesAtAnyStep(t *testing.T) {
	ctx := harness.Open(t, here, 5*time.Minute)
	theirs := &world.Lvstore{Name: key, UUID: foreign, Replicas: map[string]uint64{"their-r-1": 1 << 20, "their-r-2": 1 << 20}}
	const beside = "/dev/beside"
	_, err := here.AddDevice(ctx, world.Device{Node: node, Path: beside, Lvstore: &world.Lvstore{Name: "beside", UUID: "1" + foreign[1:]}})
	require.NoError(t, err)
	require.NoError(t, here.SetDisks(ctx, node, map[string]any{"beside": world.BlockDisk(beside, "")}))
	require.NoError(t, here.ReleaseDisk(ctx, node, "disk-1", patience))
	require.NoError(t, here.Quiet(ctx, patience))
	require.NoError(t, here.SetAutoDeletion(ctx, "replica-data;instance", "0"))
	peer, err := poll(ctx, beside)
	require.NoError(t, err)

	points, unreached, violations, began := 0, 0, 0, time.Now()
	for _, s := range []scenario{
		{name: "new", mark: v1beta2.InitializeNew},
		{name: "adopt", device: world.Device{Lvstore: theirs}, mark: v1beta2.InitializeAdopt + foreign},
		{name: "recorded", device: world.Device{Lvstore: theirs}, mark: v1beta2.InitializeAdopt + foreign, recorded: true},
	} {
		steps, err := s.run(ctx, true, 0, record.Before, nil)
		require.NoError(t, err, "%s, undisturbed", s.name)
		if !s.recorded {
			require.NoError(t, clear(ctx))
		}
		for _, step := range steps {
			sides := []record.Side{record.After}
			if step.Number == 1 { // the side before any other step equals the side after the previous step
				sides = []record.Side{record.Before, record.After}
			}
			for _, side := range sides {
				since := time.Now()
				whole := step.Number == len(steps) || step.Number == 2 && s.device.Lvstore != nil
				_, err := s.run(ctx, whole, step.Number, side, killer(t))
				reported := time.Since(since)
				reached := here.Sequence.Cut()
				points++
				name := fmt.Sprintf("%s: crash %s step %d (%s)", s.name, side, step.Number, step.What)
				switch {
				case err != nil:
					violations++
					t.Errorf("VIOLATION  %s: %v", name, err)
				case !reached:
					unreached++
					t.Logf("never reached  %s", name)
				default:
					t.Logf("ok  %4.1f s  %s", reported.Seconds(), name)
				}
				if !s.recorded {
					require.NoError(t, clear(ctx), name)
				}
			}
		}
	}
	require.NoError(t, clear(ctx))
	now, err := poll(ctx, beside)
	require.NoError(t, err)
	require.Equal(t, peer, now, "the unmarked device")
	t.Logf("%d points, %d never reached, %d violations, %.0f s", points, unreached, violations, time.Since(began).Seconds())
	require.LessOrEqual(t, 5*unreached, points, "too few steps were reached")
}
