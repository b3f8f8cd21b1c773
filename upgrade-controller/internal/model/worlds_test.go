package model

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

var (
	worlds = flag.Int("worlds", 600, "how many random worlds are played; make model plays 15,000")
	seed   = flag.Int64("seed", 0, "runs this world only, and logs it")
)

var nodeNames = []string{"node-1", "node-2", "node-3"}

// game is one random world, played by its seed.
type game struct {
	*Controller
	random  *rand.Rand
	excused map[string]bool
	bad     string
	report  func(string, ...any)
}

func newGame(seed int64, report func(string, ...any)) *game {
	random := rand.New(rand.NewSource(seed))
	g := &game{random: random, excused: map[string]bool{}, report: report}
	g.Controller = &Controller{World: New(), Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Random: random, Kill: 0.1, Refuse: 0.05}
	for _, name := range nodeNames {
		g.World.AddNode(name)
		g.World.Broken[name] = random.Intn(8) == 0
	}
	for i := range 1 + random.Intn(3) {
		at := random.Perm(3)
		var replicas []string
		for _, n := range at[:min(3, 1+random.Intn(12))] {
			replicas = append(replicas, nodeNames[n])
		}
		holder := ""
		if random.Intn(5) > 0 {
			holder = nodeNames[random.Intn(3)]
		}
		g.World.AddVolume(fmt.Sprintf("vol-%d", i), holder, replicas...)
	}
	m := &v1beta2.DataEngineUpgradeManager{ObjectMeta: g.World.Meta("upgrade")}
	m.Spec = v1beta2.DataEngineUpgradeManagerSpec{DataEngine: v1beta2.DataEngineV2, MaxRetries: random.Intn(2)}
	if random.Intn(2) == 0 {
		m.Spec.OnFailure = "Continue"
	}
	g.World.Plans[m.Name] = m
	return g
}

// play returns what went wrong in the world, "" where nothing did, and how many nodes' upgrades ended how.
func play(seed int64, report func(string, ...any)) (string, map[string]int) {
	g := newGame(seed, report)
	ended := map[string]int{}
	what := g.play()
	for _, u := range g.World.Upgrades {
		ended[u.Status.State]++
	}
	return what, ended
}

func (g *game) play() string {
	faults := g.random.Intn(3) > 0
	each := 6 + g.random.Intn(50)
	for range 240 {
		if faults && g.random.Intn(each) == 0 && (!g.idle() || g.random.Intn(4) == 0) {
			g.fault()
		}
		g.step()
		if g.bad != "" {
			return g.bad
		}
	}
	g.Kill, g.Refuse = 0, 0
	if m := g.World.Plans["upgrade"]; m != nil {
		m.Spec.Paused = false
	}
	for _, name := range nodeNames {
		if g.random.Intn(3) > 0 {
			g.up(name)
		}
	}
	g.check()
	for round := range 120 {
		if round%6 == 5 {
			g.Now = g.Now.Add(11 * time.Minute)
		}
		g.Pass()
		g.check()
		for _, v := range of(g.World.Volumes, all[v1beta2.Volume]) {
			g.World.Attach(v.Name)
			g.check()
		}
		for _, name := range nodeNames {
			g.World.Monitor(name)
			g.check()
		}
		if g.bad != "" {
			return g.bad
		}
		if round >= 30 && g.unexplained() == "" && g.idle() {
			return ""
		}
	}
	return g.unexplained()
}

func (g *game) step() {
	g.Now = g.Now.Add(time.Duration(g.random.Intn(8)) * time.Second)
	switch g.random.Intn(3) {
	case 0:
		g.Pass()
	case 1:
		g.World.Attach(fmt.Sprintf("vol-%d", g.random.Intn(len(g.World.Volumes))))
	default:
		g.World.Monitor(nodeNames[g.random.Intn(3)])
	}
	g.check()
	g.reported()
}

func (g *game) check() {
	if g.bad == "" {
		if g.bad = cmp.Or(g.Wrong, g.World.Violation(g.excused)); g.bad != "" {
			g.report("!! %s", g.bad)
		}
	}
}

func (g *game) reported() {
	if *seed == 0 {
		return
	}
	for _, u := range of(g.World.Upgrades, all[v1beta2.NodeDataEngineUpgrade]) {
		progressing := conditions.Get(u.Status.Conditions, v1beta2.UpgradeProgressing)
		if progressing != nil {
			g.report("%s %s %s: %s", g.Now.Format(time.TimeOnly), u.Name, u.Status.State, progressing.Message)
		}
	}
}

// fault is an injected failure.
func (g *game) fault() {
	switch g.random.Intn(7) {
	case 0, 1:
		name := g.likely()
		if v1beta2.IsNodeDown(g.World.Nodes[name]) {
			g.up(name)
		} else {
			g.down(name)
		}
	case 2:
		g.person()
	case 3:
		g.move(fmt.Sprintf("vol-%d", g.random.Intn(len(g.World.Volumes))))
	case 4:
		g.replicaFails(fmt.Sprintf("vol-%d", g.random.Intn(len(g.World.Volumes))))
	case 6:
		g.move("vol-0")
	case 5:
		for _, name := range nodeNames {
			g.World.Broken[name] = false
		}
	}
	for name := range g.World.Volumes {
		if !g.World.Serving(name) {
			g.excused[name] = true
		}
	}
	g.check()
}

// likely is any node, but more often one that holds a target meanwhile: there the death of a node matters most.
func (g *game) likely() string {
	if g.random.Intn(2) == 0 {
		for _, u := range of(g.World.Upgrades, all[v1beta2.NodeDataEngineUpgrade]) {
			for _, v := range of(g.World.Volumes, all[v1beta2.Volume]) {
				if at := u.Status.Volumes[v.Name].TemporaryNodeID; at != "" && !nodeupgrade.Ended(u.Status.State) {
					return at
				}
			}
		}
	}
	return nodeNames[g.random.Intn(3)]
}

// person does what people do to an upgrade.
func (g *game) person() {
	m := g.World.Plans["upgrade"]
	if m == nil {
		return
	}
	m.Generation++
	switch g.random.Intn(5) {
	case 0, 1:
		m.Spec.Paused = !m.Spec.Paused
		g.report("paused: %v", m.Spec.Paused)
	case 2:
		m.Spec.Abort = true
		g.report("aborted")
	case 3:
		m.DeletionTimestamp = &metav1.Time{Time: g.Now}
		g.report("deleted")
	case 4:
		for _, u := range of(g.World.Upgrades, all[v1beta2.NodeDataEngineUpgrade]) {
			u.DeletionTimestamp = &metav1.Time{Time: g.Now}
		}
		g.report("upgrades of nodes deleted")
	}
}

// move detaches a volume, or attaches it where that is possible.
func (g *game) move(name string) {
	if g.World.Volumes[name].Status.State == v1beta2.VolumeStateAttached {
		g.World.DetachVolume(name)
		g.report("%s is detached", name)
		return
	}
	node := nodeNames[g.random.Intn(3)]
	if g.World.serves(node) && !g.World.Nodes[node].Spec.UpgradeRequested {
		g.report("%s is attached to %s: %v", name, node, g.World.AttachVolume(name, node))
	}
}

func (g *game) replicaFails(volume string) {
	for _, r := range g.World.replicasOf(volume) {
		if g.World.Usable(volume, r.Spec.NodeID) > 0 && r.Spec.FailedAt == "" {
			g.drop(volume, r)
			g.report("%s fails", r.Name)
			return
		}
	}
}

func (g *game) drop(volume string, r *v1beta2.Replica) {
	r.Spec.FailedAt, r.Spec.DesireState, r.Status.CurrentState = "then", v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	for _, e := range g.World.enginesOf(volume) {
		delete(e.Spec.ReplicaAddressMap, r.Name)
		delete(e.Status.ReplicaModeMap, r.Name)
	}
}

func (g *game) down(node string) {
	g.report("%s goes down", node)
	g.World.Nodes[node].Status.Conditions[0] = v1beta2.Condition{
		Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonKubernetesNodeNotReady}
	for _, r := range of(g.World.Replicas, all[v1beta2.Replica]) {
		volume := r.Spec.VolumeName
		if r.Spec.NodeID == node && g.World.Volumes[volume].Status.State == v1beta2.VolumeStateAttached &&
			g.World.Usable(volume, node) > 0 {
			g.drop(volume, r)
		}
	}
	for _, e := range g.World.Engines {
		if e.Spec.NodeID == node {
			e.Status.CurrentState = v1beta2.InstanceStateError
		}
	}
}

func (g *game) up(node string) {
	g.report("%s is up", node)
	g.World.Nodes[node].Status.Conditions[0] = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonNodeReady}
}

// idle reports whether no upgrade is under way.
func (g *game) idle() bool {
	return len(of(g.World.Upgrades, func(u *v1beta2.NodeDataEngineUpgrade) bool { return !nodeupgrade.Ended(u.Status.State) })) == 0
}

// unexplained states what was left behind without a reason (UPG-4), or got stuck.
func (g *game) unexplained() string {
	stalled := map[string]bool{}
	for _, u := range g.World.Upgrades {
		if !nodeupgrade.Ended(u.Status.State) {
			if !conditions.IsTrue(u.Status.Conditions, v1beta2.UpgradeStalled) {
				return "stuck in " + u.Status.State + " without being stalled"
			}
			stalled[u.Spec.NodeID] = true
		}
	}
	for name, n := range g.World.Nodes {
		if n.Spec.UpgradeRequested && !stalled[name] {
			return "UPG-4: a node is left closed"
		}
	}
	for name, v := range g.World.Volumes {
		holder := v.Status.CurrentNodeID
		if v.Spec.TargetNodeID != "" && !stalled[holder] {
			return "UPG-4: the target of a volume is left away, volume state " + v.Status.State
		}
		if v.Status.State == v1beta2.VolumeStateAttached && g.World.serves(holder) && len(stalled) == 0 {
			if !g.World.Serving(name) && g.World.Usable(name, "") > 0 {
				return "stuck: a volume does not serve"
			}
		}
	}
	if name := g.forgotten(); name != "" {
		return "stuck: " + name + " has no target, and another node could hold it"
	}
	if m := g.World.Plans["upgrade"]; m != nil && len(stalled) == 0 {
		if !slices.Contains([]string{v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError}, m.Status.State) ||
			m.DeletionTimestamp != nil {
			return "stuck: the upgrade is " + m.Status.State
		}
	}
	return ""
}

// forgotten is a volume without a serving engine although its user's node is up and a node that takes engines has a replica of it.
func (g *game) forgotten() string {
	for _, v := range of(g.World.Volumes, all[v1beta2.Volume]) {
		holder := v.Status.CurrentNodeID
		if v.Status.State != v1beta2.VolumeStateAttached || v1beta2.IsNodeDown(g.World.Nodes[holder]) || g.World.Serving(v.Name) {
			continue
		}
		for _, r := range g.World.replicasOf(v.Name) {
			if r.Spec.FailedAt == "" && r.Status.CurrentState == v1beta2.InstanceStateRunning && g.World.takesEngine(r.Spec.NodeID) {
				return "a volume"
			}
		}
	}
	return ""
}

// UPG-1, UPG-2, UPG-3 after every step, UPG-4 at the end.
func TestRandomWorldsKeepTheInvariants(t *testing.T) {
	if *seed != 0 {
		what, _ := play(*seed, t.Logf)
		require.Empty(t, what)
		return
	}
	var next atomic.Int64
	if testing.Short() {
		*worlds = min(*worlds, 300)
	}
	var mutex sync.Mutex
	bad := map[string][]int64{}
	var upgraded, failed atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for s := next.Add(1); s <= int64(*worlds); s = next.Add(1) {
				what, ended := play(s, func(string, ...any) {})
				upgraded.Add(int64(ended[v1beta2.UpgradeStateCompleted]))
				failed.Add(int64(ended[v1beta2.UpgradeStateError]))
				if what != "" {
					mutex.Lock()
					bad[what] = append(bad[what], s)
					mutex.Unlock()
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d worlds: %d nodes upgraded, %d failed", *worlds, upgraded.Load(), failed.Load())
	for _, what := range slices.Sorted(maps.Keys(bad)) {
		t.Errorf("%d of %d worlds: %s; -seed %d", len(bad[what]), *worlds, what, slices.Min(bad[what]))
	}
}

// An ordinary world ends with every node upgraded and every volume healthy, and reports it.
func TestAWorldWithoutFaultsIsUpgraded(t *testing.T) {
	g := newGame(1, t.Logf)
	g.World = New()
	g.Kill, g.Refuse = 0, 0
	for _, name := range nodeNames {
		g.World.AddNode(name)
	}
	for i, name := range nodeNames {
		g.World.AddVolume(fmt.Sprintf("vol-%d", i), name, nodeNames...)
	}
	m := &v1beta2.DataEngineUpgradeManager{ObjectMeta: g.World.Meta("upgrade")}
	m.Spec.DataEngine = v1beta2.DataEngineV2
	g.World.Plans[m.Name] = m
	for range 2000 {
		g.step()
	}
	require.Empty(t, g.bad)
	require.Equal(t, v1beta2.UpgradeStateCompleted, m.Status.State, "%+v", m.Status)
	require.Equal(t, nodeNames, m.Status.UpgradedNodes)
	for name, v := range g.World.Volumes {
		require.Equal(t, v1beta2.VolumeRobustnessHealthy, v.Status.Robustness, name)
		require.Empty(t, v.Spec.TargetNodeID, name)
	}
	require.Empty(t, g.World.Snapshots)
}
