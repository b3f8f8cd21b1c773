package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

var (
	instanceStates = []string{"", "running", "stopped", "error", "starting", "stopping", "unknown", "terminated"}
	desires        = []string{"", "running", "stopped"}
	modes          = []string{"", "RW", "RW", "WO", "ERR"}
	somewhere      = []string{"", "x", "y", "z", "gone"}
	upgradeStates  = []string{"", "initializing", "switching-over", "detaching-replicas", "upgrading-instance-manager", "switching-back",
		"rebuilding-replica", "rolling-back"}
	times = []string{"", "", "2025-12-31T00:00:00Z", "2025-12-31T00:00:01Z", "no time"}
)

func any1(t *rapid.T, label string, of []string) string { return rapid.SampledFrom(of).Draw(t, label) }

func rarely(t *rapid.T, label string) bool { return rapid.IntRange(0, 7).Draw(t, label) == 0 }

func anyMeta(t *rapid.T, name string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name), Finalizers: []string{v1beta2.Finalizer}}
	if rarely(t, "deleted") {
		m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	}
	return m
}

func anyConditions(t *rapid.T) []v1beta2.Condition {
	if !rarely(t, "concluded") {
		return nil
	}
	return []v1beta2.Condition{{Type: v1beta2.InstanceNodeDown, Status: v1beta2.ConditionTrue}}
}

// anyWorld is any volume with any objects in any states, also in states that no controller brings about.
func anyWorld(t *rapid.T) World {
	s := newFixture(any1(t, "data engine", []string{"", "v1", "v2"}))
	w := s.World
	v := w.Volume
	v.ObjectMeta = anyMeta(t, "vol")
	v.Spec.NodeID, v.Spec.MigrationNodeID = any1(t, "wanted", somewhere), any1(t, "target", []string{"", "", "y", "gone"})
	v.Spec.TargetNodeID = any1(t, "move to", []string{"", "", "y", "z", "gone"})
	v.Spec.DisableFrontend, v.Spec.NumberOfReplicas = rapid.Bool().Draw(t, "frontend"), rapid.IntRange(0, 3).Draw(t, "number")
	v.Spec.DataSource = any1(t, "source", []string{"", "", "vol://o", "snap://o/s", "broken"})
	v.Spec.FromBackup = any1(t, "backup", []string{"", "", "s3://t?backup=b&volume=v", "%", "s3://t"})
	v.Spec.Size = int64(rapid.IntRange(0, 2).Draw(t, "size")) << 30
	v.Status.State, v.Status.CurrentNodeID = any1(t, "state", append(slices.Clone(states), v1beta2.VolumeStateDeleting, "unheard")),
		any1(t, "current", somewhere)
	v.Status.CurrentMigrationNodeID = any1(t, "migrating", []string{"", "", "y", "gone"})
	v.Status.Robustness = any1(t, "robust", []string{"", "healthy", "degraded", "faulted", "unknown"})
	v.Status.CloneStatus.State = any1(t, "clone",
		[]string{"", v1beta2.CloneInitiated, v1beta2.CloneCopyCompleted, v1beta2.CloneCompleted, v1beta2.CloneFailed})
	v.Status.RestoreInitiated, v.Status.RestoreRequired = rapid.Bool().Draw(t, "began"), rapid.Bool().Draw(t, "required")
	w.Settings.AutoSalvage, w.Snapshots = rapid.Bool().Draw(t, "salvage"), rapid.IntRange(0, 1).Draw(t, "snapshots")
	for _, name := range slices.Sorted(maps.Keys(w.Nodes)) { // a draw is repeated in its order
		w.Nodes[name] = Node{Known: true, Down: rarely(t, "down"), Upgrading: rarely(t, "upgrading")}
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "replicas") {
		w.Replicas = append(w.Replicas, anyReplica(t, fmt.Sprintf("vol-r-%d", n)))
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "engines") {
		w.Engines = append(w.Engines, anyEngine(t, fmt.Sprintf("vol-e-%d", n), w.Replicas))
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "frontends") {
		f := &v1beta2.EngineFrontend{ObjectMeta: anyMeta(t, fmt.Sprintf("vol-ef-%d", n))}
		f.Spec.NodeID, f.Spec.DesireState, f.Spec.EngineName = any1(t, "node", somewhere), any1(t, "desire", desires),
			any1(t, "engine", []string{"", "vol-e-0", "vol-e-1"})
		f.Status.CurrentState, f.Status.Conditions = any1(t, "is", append(slices.Clone(instanceStates), "suspended")), anyConditions(t)
		f.Spec.SuspendRequestedAt, f.Status.SuspendedAt = any1(t, "suspend", times), any1(t, "answered", times)
		if len(w.Engines) > 0 && rapid.Bool().Draw(t, "connected") {
			to := w.Engines[rapid.IntRange(0, len(w.Engines)-1).Draw(t, "to")]
			f.Status.TargetIP, f.Status.TargetPort = to.Status.StorageIP, to.Status.Port
		}
		w.Frontends = append(w.Frontends, f)
	}
	if rapid.Bool().Draw(t, "upgrade") {
		w.Upgrades = append(w.Upgrades, Upgrade{Node: any1(t, "upgraded", []string{"x", "y"}), State: any1(t, "step", upgradeStates),
			Image:  "new",
			Listed: rapid.Bool().Draw(t, "listed"), Replica: any1(t, "taken out", []string{"", "vol-r-0", "vol-r-1"}),
			Original: any1(t, "original", somewhere)})
	}
	if rapid.Bool().Draw(t, "attachment") {
		w.Attachment = &v1beta2.VolumeAttachment{ObjectMeta: anyMeta(t, "vol")}
	}
	if rapid.Bool().Draw(t, "an object of a previous volume") {
		w.Previous = Objects{Engines: []*v1beta2.Engine{anyEngine(t, "vol-e-7", nil)}, Replicas: []*v1beta2.Replica{anyReplica(t, "vol-r-7")}}
	}
	v.Status.CurrentImage = any1(t, "image", []string{"", "image"})
	w.StartsSince = map[string]time.Time{}
	for _, r := range w.Replicas {
		if rapid.Bool().Draw(t, "waited for") {
			w.StartsSince[r.Name] = w.Now.Add(-time.Duration(rapid.IntRange(0, 150).Draw(t, "seconds")) * time.Second)
		}
	}
	if len(w.Engines) > 0 && rapid.Bool().Draw(t, "source runs") {
		w.Source = w.Engines[0]
	}
	return w
}

func anyReplica(t *rapid.T, name string) *v1beta2.Replica {
	r := &v1beta2.Replica{ObjectMeta: anyMeta(t, name)}
	r.Spec.NodeID, r.Spec.DesireState = any1(t, "node", somewhere), any1(t, "desire", desires)
	r.Spec.FailedAt, r.Spec.HealthyAt, r.Spec.LastHealthyAt = any1(t, "failed", times), any1(t, "healthy", times),
		any1(t, "was healthy", times)
	r.Spec.SalvageRequested = rarely(t, "salvaged")
	r.Spec.Active, r.Spec.EngineName = rapid.Bool().Draw(t, "active"), any1(t, "of engine", []string{"", "vol-e-0", "vol-e-1"})
	r.Spec.DataDirectoryName = any1(t, "directory", []string{"", name, "shared", "shared"})
	r.Status.CurrentState, r.Status.Conditions, r.Status.Port = any1(t, "is", instanceStates), anyConditions(t),
		rapid.IntRange(0, 1).Draw(t, "port")
	return r
}

func anyEngine(t *rapid.T, name string, replicas []*v1beta2.Replica) *v1beta2.Engine {
	e := &v1beta2.Engine{ObjectMeta: anyMeta(t, name)}
	e.Spec.Active, e.Spec.NodeID, e.Spec.DesireState = rapid.Bool().Draw(t, "active"), any1(t, "node", somewhere),
		any1(t, "desire", desires)
	e.Spec.LookRequestedAt, e.Status.LookedAt = any1(t, "asked", times), any1(t, "polled", times)
	e.Status.CurrentState, e.Status.Conditions, e.Status.UUID = any1(t, "is", instanceStates), anyConditions(t),
		any1(t, "uuid", []string{"", "run"})
	e.Status.StorageIP, e.Status.Port = "ip-"+name, rapid.IntRange(0, 1).Draw(t, "engine's port")
	e.Spec.ReplicaAddressMap, e.Status.ReplicaModeMap = map[string]string{}, map[string]string{}
	for _, r := range replicas {
		if rapid.Bool().Draw(t, "mapped") {
			e.Spec.ReplicaAddressMap[r.Name] = "ip:1"
		}
		if mode := any1(t, "mode", modes); mode != "" {
			e.Status.ReplicaModeMap[r.Name] = mode
		}
	}
	return e
}

func inWords(t require.TestingT, w World) string {
	raw, err := json.Marshal(w)
	require.NoError(t, err)
	return string(raw)
}

// Decide has an answer to everything, always the same one, and leaves what it reads alone.
func TestDecideIsTotalDeterministicAndChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		before := inWords(t, w)
		first := Decide(w)
		require.Equal(t, first, Decide(w))
		require.Equal(t, before, inWords(t, w))
	})
}

func TestNoVerdictBreaksWhatMustHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		verdict := Decide(w)
		seen := map[string]bool{}
		for _, one := range verdict.Writes {
			require.False(t, seen[key(one.Object)], "%s is written twice", key(one.Object))
			seen[key(one.Object)] = true
		}
		noEngineBesideALiveOne(t, w, verdict)
		theLastCopyStays(t, w, verdict)
		reasonsAreDocumented(t, verdict)
		if state, said := verdict.Status["state"]; said && state == v1beta2.VolumeStateDetached {
			require.Contains(t, []any{nil, ""}, verdict.Status["currentNodeID"])
		}
	})
}

// reasonsAreDocumented demands that the contract of a Volume's condition lists its reason: one of another kind is no reason here.
func reasonsAreDocumented(t *rapid.T, verdict Verdict) {
	contracts := v1beta2.ConditionContracts()
	for _, c := range verdict.Conditions {
		i := slices.IndexFunc(contracts, func(x v1beta2.ConditionContract) bool { return x.Kind == "Volume" && x.Type == c.Type })
		require.GreaterOrEqual(t, i, 0, "condition %s has no contract", c.Type)
		reasons := contracts[i].False
		if c.Status == v1beta2.ConditionTrue {
			reasons = contracts[i].True
		}
		require.Contains(t, reasons, c.Reason, "of %s=%s", c.Type, c.Status)
	}
}

// noEngineBesideALiveOne is ATT-1: nothing is started by this pass while another engine may live, but for a migration.
func noEngineBesideALiveOne(t *rapid.T, w World, verdict Verdict) {
	for _, one := range verdict.Writes {
		e, engine := one.Object.(*v1beta2.Engine)
		if !engine || one.Spec["desireState"] != v1beta2.InstanceStateRunning {
			continue
		}
		for _, other := range w.Engines {
			if i := ofEngine(other); other != e {
				require.Contains(t, []string{v1beta2.InstanceStateStopped, v1beta2.InstanceStateTerminated}, w.stateOf(i), "%s starts beside %s",
					e.Name, other.Name)
			}
		}
	}
}

// theLastCopyStays is UPG-1: a pass that marks replicas leaves one that is healthy.
func theLastCopyStays(t *rapid.T, w World, verdict Verdict) {
	facts := factsOf(&w)
	healthy, marked := 0, 0
	for _, r := range w.Replicas {
		one := findWrite(verdict, r)
		if !facts.healthy(r) {
			if one != nil && one.Spec["healthyAt"] != nil && one.Spec["healthyAt"] != "" && r.Spec.FailedAt == "" {
				healthy++ // its rebuild had just ended
			}
			continue
		}
		healthy++
		if one != nil && one.Spec["failedAt"] != nil && one.Spec["failedAt"] != "" {
			marked++
		}
	}
	require.False(t, healthy > 0 && marked == healthy, "all %d healthy replicas are marked", healthy)
}

// Once everybody has done their part, nothing is written any more, wherever it began.
func TestWhatSettledIsLeftAlone(t *testing.T) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		for _, wanted := range []string{"", "x", "y"} {
			s := newFixture(dataEngine, "x", "y", "z")
			s.Volume.Spec.NodeID = wanted
			require.True(t, s.settle())
			verdict := Decide(s.World)
			require.Empty(t, verdict.Writes)
			require.Empty(t, verdict.Status)
			require.Empty(t, verdict.Events)
			require.Equal(t, s.Volume.Status.Conditions, verdict.Conditions)
		}
	}
}

// UPG-3: while a volume stays attached, the engine that its frontend leads to is neither stopped nor deleted.
func TestTheTargetOfAnAttachedVolumeStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		v := w.Volume
		v.Spec.DataEngine, v.Spec.DisableFrontend, v.Spec.MigrationNodeID, v.DeletionTimestamp = v1beta2.DataEngineV2, false, "", nil
		v.Spec.NodeID, v.Status.CurrentNodeID, v.Status.State, v.Status.CurrentMigrationNodeID = "x", "x", v1beta2.VolumeStateAttached, ""
		verdict := Decide(w)
		facts := factsOf(&w)
		served := facts.servingEngine()
		_, leaves := verdict.Status["state"]
		if leaves || verdict.Status["robustness"] == v1beta2.VolumeRobustnessFaulted || !facts.targetMovable("x") || served == nil ||
			!ofEngine(served).wanted || served.DeletionTimestamp != nil {
			return
		}
		if served.Spec.NodeID == "" {
			return // it runs nowhere
		}
		for _, one := range verdict.Writes {
			if key(one.Object) == key(served) {
				require.NotEqual(t, Delete, one.Kind)
				require.NotEqual(t, v1beta2.InstanceStateStopped, one.Spec["desireState"])
			}
		}
	})
}
