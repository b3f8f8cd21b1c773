package disruption

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

type change func(*World)

// cordoned is a cordoned node with one running v1 instance manager, and a whole replica whose copy elsewhere is protected, under the
// default policy.
func cordoned(changes ...change) World {
	w := World{
		Node: "node-1", Cordoned: true, Policy: setting.BlockIfContainsLastReplica,
		Managers: []v1beta2.InstanceManager{manager("im-1", v1beta2.InstanceManagerStateRunning)},
		Replicas: []Replica{{Replica: replica("vol-r-1"), Others: []Other{{Replica: replica("vol-r-2"), Guarded: true}}}},
	}
	for _, c := range changes {
		c(&w)
	}
	return w
}

func manager(name, state string) v1beta2.InstanceManager {
	return v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{v1beta2.LabelNodeOfComponent: "node-1"}},
		Status: v1beta2.InstanceManagerStatus{CurrentState: state}}
}

func replica(name string) *v1beta2.Replica {
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name}}
	r.Spec.VolumeName, r.Spec.HealthyAt, r.Spec.LastHealthyAt = "vol", "2026-08-01T00:00:00Z", "2026-08-01T00:00:00Z"
	r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateRunning
	return r
}

func policy(p setting.DrainPolicy) change { return func(w *World) { w.Policy = p } }
func state(s string) change               { return func(w *World) { w.Managers[0].Status.CurrentState = s } }
func other(c func(*Other)) change         { return func(w *World) { c(&w.Replicas[0].Others[0]) } }
func own(c func(*v1beta2.Replica)) change { return func(w *World) { c(w.Replicas[0].Replica) } }
func uncordoned(w *World)                 { w.Cordoned = false }
func autoscaled(w *World)                 { w.Autoscaled = true }
func alone(w *World)                      { w.Replicas[0].Others = nil }
func deleting(w *World)                   { w.Managers[0].DeletionTimestamp = &metav1.Time{} }
func stoppedReplica(w *World) {
	w.Replicas[0].Spec.DesireState, w.Replicas[0].Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
}

func TestABudgetStandsExactlyAsLongAsThePolicySays(t *testing.T) {
	engine := func(w *World) {
		w.Managers[0].Status.InstanceEngines = map[string]v1beta2.InstanceProcess{"vol-e-0": {}}
	}
	frontendElsewhere := func(w *World) {
		second := manager("im-2", v1beta2.InstanceManagerStateRunning)
		second.Status.InstanceEngineFrontends = map[string]v1beta2.InstanceProcess{"vol-ef-0": {}}
		w.Managers = append(w.Managers, second)
	}
	instance := func(state string) change {
		return func(w *World) { w.Instances = []Instance{{"Engine", "vol-e-0", state}} }
	}
	never := own(func(r *v1beta2.Replica) {
		r.Spec.HealthyAt, r.Spec.LastHealthyAt, r.Spec.DesireState = "", "", v1beta2.InstanceStateStopped
	})
	for sentence, c := range map[string]struct {
		w    World
		want Budget
	}{
		"a node that takes pods":                                  {cordoned(uncordoned), Wanted},
		"a node that takes pods, and any policy":                  {cordoned(uncordoned, policy(setting.AlwaysAllow)), Wanted},
		"cordoned, and its replica has a protected copy":          {cordoned(), GivenUp},
		"an autoscaler may take any node":                         {cordoned(uncordoned, autoscaled), GivenUp},
		"an engine runs, whatever the policy":                     {cordoned(engine, policy(setting.AlwaysAllow)), Wanted},
		"a frontend runs in another instance manager of the node": {cordoned(frontendElsewhere, policy(setting.AlwaysAllow)), Wanted},
		"an engine runs that no list has yet":                     {cordoned(instance(v1beta2.InstanceStateRunning)), Wanted},
		"nothing is known of an engine":                           {cordoned(instance(v1beta2.InstanceStateUnknown)), Wanted},
		"an engine has stopped":                                   {cordoned(instance(v1beta2.InstanceStateStopped)), GivenUp},
		"an engine has failed":                                    {cordoned(instance(v1beta2.InstanceStateError)), GivenUp},
		"an engine never ran":                                     {cordoned(instance("")), GivenUp},
		"the last replica":                                        {cordoned(alone), Wanted},
		"the last replica, and all is allowed":                    {cordoned(alone, policy(setting.AlwaysAllow)), GivenUp},
		"the last replica is stopped":                             {cordoned(alone, stoppedReplica), Wanted},
		"the last replica is stopped, which is allowed": {cordoned(alone, stoppedReplica,
			policy(setting.AllowIfReplicaIsStopped)), GivenUp},
		"the last replica runs, stopped ones are allowed": {cordoned(alone, policy(setting.AllowIfReplicaIsStopped)), Wanted},
		"the last replica, under the policy of evictions": {cordoned(alone, policy(setting.BlockForEvictionIfContainsLastReplica)),
			Wanted},
		"a replica with a copy waits for its eviction": {cordoned(policy(setting.BlockForEviction)), Wanted},
		"no replica is left": {cordoned(policy(setting.BlockForEviction),
			func(w *World) { w.Replicas = nil }), GivenUp},
		"a replica that never started does not count": {cordoned(alone, never), GivenUp},
		"the copy was never whole":                    {cordoned(other(func(o *Other) { o.Spec.HealthyAt = "" })), Wanted},
		"the copy failed": {cordoned(other(func(o *Other) { o.Spec.FailedAt = "2026-08-01T00:00:00Z" })),
			Wanted},
		"the copy's node is cordoned too, and comes later": {cordoned(other(func(o *Other) { o.Cordoned, o.Spec.NodeID = true, "node-2" })),
			GivenUp},
		"the copy's node is cordoned too, and comes first": {cordoned(other(func(o *Other) { o.Cordoned, o.Spec.NodeID = true, "node-0" })),
			Wanted},
		"the copy's node is cordoned too, and has no budget": {cordoned(other(func(o *Other) {
			o.Cordoned, o.Guarded, o.Spec.NodeID = true, false, "node-2"
		})), Wanted},
		"the copy's node is gone":   {cordoned(other(func(o *Other) { o.NodeGone, o.Spec.NodeID = true, "node-2" })), Wanted},
		"the copy is being deleted": {cordoned(other(func(o *Other) { o.DeletionTimestamp = &metav1.Time{} })), Wanted},
		"the replica was whole once": {cordoned(alone, never, own(func(r *v1beta2.Replica) {
			r.Spec.LastHealthyAt = "2026-08-01T00:00:00Z"
		})), Wanted},
		"the replica is whole, whatever was before": {cordoned(alone, never, own(func(r *v1beta2.Replica) {
			r.Spec.HealthyAt = "2026-08-01T00:00:00Z"
		})), Wanted},
		"the replica is about to get its first data": {cordoned(alone, never, own(func(r *v1beta2.Replica) {
			r.Spec.DesireState = v1beta2.InstanceStateRunning
		})), Wanted},
		"the last replica is being stopped, stopped ones are allowed": {cordoned(alone, stoppedReplica,
			policy(setting.AllowIfReplicaIsStopped), own(func(r *v1beta2.Replica) {
				r.Status.CurrentState = v1beta2.InstanceStateRunning
			})), Wanted},
		"the last replica is to start, stopped ones are allowed": {cordoned(alone, stoppedReplica,
			policy(setting.AllowIfReplicaIsStopped), own(func(r *v1beta2.Replica) {
				r.Spec.DesireState = v1beta2.InstanceStateRunning
			})), Wanted},
		"one of two copies is protected": {cordoned(func(w *World) {
			bad := Other{Replica: replica("vol-r-0"), Cordoned: true, Guarded: true}
			w.Replicas[0].Others = append([]Other{bad}, w.Replicas[0].Others...)
		}), GivenUp},
		"the instance manager failed":               {cordoned(uncordoned, state(v1beta2.InstanceManagerStateError)), GivenUp},
		"the instance manager is being deleted":     {cordoned(uncordoned, deleting), GivenUp},
		"the copy's node is cordoned, too":          {cordoned(other(func(o *Other) { o.Cordoned = true })), Wanted},
		"the copy's instance manager has no budget": {cordoned(other(func(o *Other) { o.Guarded = false })), Wanted},
		"the instance manager is stopped": {cordoned(uncordoned, state(v1beta2.InstanceManagerStateStopped)),
			GivenUp},
		"nothing is known of the instance manager": {cordoned(state(v1beta2.InstanceManagerStateUnknown)), AsItIs},
		"the instance manager starts": {cordoned(uncordoned, state(v1beta2.InstanceManagerStateStarting)),
			AsItIs},
		"a budget without labels would choose every pod": {cordoned(uncordoned, func(w *World) { w.Managers[0].Labels = nil }),
			AsItIs},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, v := range Decide(c.w) {
				require.Equal(t, c.want, v.Budget, v.Why)
				require.NotEmpty(t, v.Why)
			}
		})
	}
}

func TestWhatABudgetProtectsIsSaid(t *testing.T) {
	require.Contains(t, Decide(cordoned(alone))[0].Why, "Replica vol-r-1 on node node-1 may be the last one of volume vol")
	require.Equal(t, "Replica vol-r-1 is on node node-1; block-for-eviction waits until it was evicted.",
		Decide(cordoned(policy(setting.BlockForEviction)))[0].Why)
}

// What the annotation reports does not depend on the order in which objects were listed: each other text would be a write.
func TestTheOrderOfListsDoesNotMatter(t *testing.T) {
	w := cordoned(alone)
	for _, name := range []string{"vol-r-9", "vol-r-0", "vol-r-5"} {
		w.Replicas = append(w.Replicas, Replica{Replica: replica(name)})
	}
	w.Managers = append(w.Managers, manager("im-0", v1beta2.InstanceManagerStateRunning))
	first := Decide(w)
	require.Contains(t, first[0].Why, "Replica vol-r-0 ")
	slices.Reverse(w.Replicas)
	slices.Reverse(w.Managers)
	require.Equal(t, first, Decide(w))
}

func TestAVerdictNamesWhatKeepsTheBudgetOrThatNothingDoes(t *testing.T) {
	lists := func(engines, frontends []string) change {
		return func(w *World) {
			status := &w.Managers[0].Status
			status.InstanceEngines, status.InstanceEngineFrontends = processes(engines), processes(frontends)
		}
	}
	instances := func(list ...Instance) change { return func(w *World) { w.Instances = list } }
	for name, c := range map[string]struct {
		w   World
		why string
	}{
		"in service": {cordoned(uncordoned), "Node node-1 takes pods."},
		"not needed": {cordoned(), "Nothing on node node-1 needs the instance manager."},
		"stopped":    {cordoned(state(v1beta2.InstanceManagerStateStopped)), "The instance manager does not run."},
		"starting":   {cordoned(state(v1beta2.InstanceManagerStateStarting)), `The instance manager is "starting".`},
		"without labels": {cordoned(func(w *World) { w.Managers[0].Labels = nil }),
			"The instance manager has no labels, by which a budget could choose its pod."},
		"engines":    {cordoned(lists([]string{"vol-e-9", "vol-e-1"}, nil)), "Engine vol-e-1 runs on node node-1."},
		"a frontend": {cordoned(lists(nil, []string{"vol-ef-0"})), "EngineFrontend vol-ef-0 runs on node node-1."},
		"both":       {cordoned(lists([]string{"vol-e-0"}, []string{"a"})), "Engine vol-e-0 runs on node node-1."},
		"an object alone": {cordoned(instances(Instance{"EngineFrontend", "vol-ef-3", v1beta2.InstanceStateStarting})),
			"EngineFrontend vol-ef-3 runs on node node-1."},
		"a list before an object": {cordoned(lists([]string{"vol-e-1"}, nil),
			instances(Instance{"Engine", "vol-e-2", v1beta2.InstanceStateRunning})), "Engine vol-e-1 runs on node node-1."},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.why, Decide(c.w)[0].Why) })
	}
}

func processes(names []string) map[string]v1beta2.InstanceProcess {
	out := map[string]v1beta2.InstanceProcess{}
	for _, name := range names {
		out[name] = v1beta2.InstanceProcess{}
	}
	return out
}

func TestVerdictsFollowTheNamesOfTheInstanceManagers(t *testing.T) {
	w := cordoned()
	w.Managers = []v1beta2.InstanceManager{manager("c", ""), manager("a", ""), manager("b", "")}
	var names []string
	for _, v := range Decide(w) {
		names = append(names, v.Manager.Name)
	}
	require.Equal(t, []string{"a", "b", "c"}, names)
	require.Equal(t, "c", w.Managers[0].Name, "the list comes from a cache and stays as it is")
}

func TestABudgetChoosesAPodByTheLabelsThatItWasMadeWith(t *testing.T) {
	m := manager("im-1", "")
	m.Labels = map[string]string{"team": "storage"}
	want := map[string]string{}
	for _, key := range []string{v1beta2.LabelComponent, v1beta2.LabelManagedBy, v1beta2.LabelNodeOfComponent, v1beta2.LabelDataEngine,
		v1beta2.LabelInstanceManagerType, v1beta2.LabelInstanceManagerImage} {
		m.Labels[key], want[key] = "of "+key, "of "+key
	}
	require.Equal(t, want, Selector(&m), "the pod lacks what somebody else put on the object")
	m.Labels = map[string]string{"team": "storage"}
	require.Empty(t, Selector(&m))
}

// From the laxest to the strictest.
var policies = []setting.DrainPolicy{setting.AlwaysAllow, setting.AllowIfReplicaIsStopped, setting.BlockIfContainsLastReplica,
	setting.BlockForEviction}

func drawReplica(t *rapid.T) *v1beta2.Replica {
	states := rapid.SampledFrom([]string{v1beta2.InstanceStateStopped, v1beta2.InstanceStateRunning})
	times := rapid.SampledFrom([]string{"", "2026-08-01T00:00:00Z"})
	r := replica("vol-r-" + rapid.StringMatching("[0-9a-f]{4}").Draw(t, "name"))
	r.Spec.HealthyAt, r.Spec.LastHealthyAt, r.Spec.FailedAt = times.Draw(t, "healthy"), times.Draw(t, "healthy last"), times.Draw(t, "failed")
	r.Spec.DesireState, r.Status.CurrentState = states.Draw(t, "wanted"), states.Draw(t, "current")
	return r
}

func drawWorld(t *rapid.T) World {
	w := cordoned(func(w *World) {
		w.Cordoned, w.Autoscaled = rapid.Bool().Draw(t, "cordoned"), rapid.Bool().Draw(t, "autoscaled")
		w.Policy = rapid.SampledFrom(policies).Draw(t, "policy")
	})
	w.Replicas = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Replica {
		others := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Other {
			o := Other{Replica: drawReplica(t), Cordoned: rapid.Bool().Draw(t, "cordoned"), NodeGone: rapid.Bool().Draw(t, "gone"),
				Guarded: rapid.Bool().Draw(t, "guarded")}
			o.Spec.NodeID = rapid.SampledFrom([]string{"node-0", "node-2"}).Draw(t, "node")
			return o
		}), 0, 2).Draw(t, "others")
		return Replica{Replica: drawReplica(t), Others: others}
	}), 0, 3, func(r Replica) string { return r.Name }).Draw(t, "replicas")
	w.Instances = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Instance {
		return Instance{"Engine", "vol-e-0", rapid.SampledFrom([]string{"", v1beta2.InstanceStateStopped, v1beta2.InstanceStateRunning,
			v1beta2.InstanceStateError}).Draw(t, "state")}
	}), 0, 1).Draw(t, "instances")
	return w
}

func TestAStricterPolicyKeepsEveryBudgetThatALaxerOneKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, kept := drawWorld(t), false
		for _, w.Policy = range policies {
			wanted := Decide(w)[0].Budget == Wanted
			require.True(t, wanted || !kept, "%s gives a budget up that a laxer policy keeps", w.Policy)
			kept = wanted
		}
	})
}

func TestAnotherReplicaOfTheNodeGivesNoBudgetUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		wanted := Decide(w)[0].Budget == Wanted
		w.Replicas = append(w.Replicas, Replica{Replica: drawReplica(t)})
		require.True(t, !wanted || Decide(w)[0].Budget == Wanted)
	})
}

// Tools cordon all nodes before they drain the first. Each node with a replica of the volume may be emptied but the last: no two nodes wait
// for each other, and one replica stays.
func TestOfCordonedNodesOnlyTheLastKeepsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfNDistinct(rapid.StringMatching("node-[a-f]"), 2, 4, rapid.ID).Draw(t, "nodes")
		var goes []string
		for _, node := range nodes {
			w := cordoned(func(w *World) { w.Node, w.Replicas[0].Others = node, nil })
			for _, elsewhere := range nodes {
				if elsewhere != node {
					o := Other{Replica: replica("vol-r-" + elsewhere), Cordoned: true, Guarded: true}
					o.Spec.NodeID = elsewhere
					w.Replicas[0].Others = append(w.Replicas[0].Others, o)
				}
			}
			if Decide(w)[0].Budget == GivenUp {
				goes = append(goes, node)
			}
		}
		slices.Sort(nodes)
		slices.Sort(goes)
		require.Equal(t, nodes[:len(nodes)-1], goes)
	})
}

func TestANodeThatWaitsForAnotherCordonedNodeNamesIt(t *testing.T) {
	w := cordoned(other(func(o *Other) { o.Cordoned, o.Spec.NodeID = true, "node-0" }))
	require.Equal(t, "Replica vol-r-1 on node node-1 may be the last one of volume vol: replica vol-r-2 is on node node-0, which is cordoned "+
		"as well and is emptied first. Uncordon node node-0, or wait until the volume has another replica; block-if-contains-last-replica "+
		"waits for one.", Decide(w)[0].Why)
}
