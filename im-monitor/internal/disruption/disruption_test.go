package disruption

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
