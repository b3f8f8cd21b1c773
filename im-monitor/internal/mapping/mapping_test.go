package mapping_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
)

const replica = "vol-r-1"

func TestUsesAreRunningEnginesOnly(t *testing.T) {
	maps := map[string]string{replica: "10.0.0.1:20001"}
	engines := []mapping.Engine{
		{Name: "stopped", Replicas: maps}, {Name: "other", Running: true, Replicas: map[string]string{"vol-r-2": ""}},
		{Name: "running", Running: true, Replicas: maps},
	}
	places := []mapping.Place{{Node: "node-1", Known: true},
		{Node: "node-2", Known: true, MappedBy: "forgotten", MappedAddress: "10.0.0.1:20001"}}
	require.Equal(t, []mapping.Use{
		{Engine: "running", Address: "10.0.0.1:20001"},
		{Engine: "forgotten", Node: "node-2", Address: "10.0.0.1:20001"},
	}, mapping.Uses(replica, engines, places))
	require.Empty(t, mapping.Uses("vol-r-3", engines, places[:1]))
}

func TestUnaskedNamesThePlacesThatMatterAndAreSilent(t *testing.T) {
	require.Empty(t, mapping.Unasked(replica, []mapping.Place{
		{Node: "known", Needed: true, Known: true}, {Node: "down", Needed: true, Down: true}, {Node: "elsewhere"},
		{Node: "answers", Needed: true, MappedBy: "e"},
	}))
	require.Contains(t, mapping.Unasked(replica,
		[]mapping.Place{{Node: "b", Needed: true}, {Node: "a", Needed: true}, {Node: "a", Needed: true}}), "run on a, b,")
	var many []mapping.Place
	for _, node := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		many = append(many, mapping.Place{Node: node, Needed: true})
	}
	require.Contains(t, mapping.Unasked(replica, many), "a, b, c, d, e and 2 more nodes")
}

func TestAnEngineObjectMapsWhatAnyOfItsFieldsNames(t *testing.T) {
	e := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "vol-e-0"},
		Spec: v1beta2.EngineSpec{ReplicaAddressMap: map[string]string{"a": "1"}, UpgradedReplicaAddressMap: map[string]string{"b": "2"}},
		Status: v1beta2.EngineStatus{CurrentState: v1beta2.InstanceStateStopped, ReplicaModeMap: map[string]string{"a": "RW", "d": "ERR"},
			CurrentReplicaAddressMap: map[string]string{"c": "3"}}}
	want := mapping.Engine{Name: "vol-e-0", Replicas: map[string]string{"a": "1", "b": "2", "c": "3", "d": ""}}
	require.Equal(t, want, mapping.EngineOf(e))
	e.Spec.DesireState = v1beta2.InstanceStateRunning
	require.True(t, mapping.EngineOf(e).Running, "it must run")
	e.Spec.DesireState, e.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateUnknown
	require.True(t, mapping.EngineOf(e).Running, "no one knows that it is stopped")
}

func TestAUseReportsWhereItsEngineIs(t *testing.T) {
	require.Equal(t, "Engine e maps replica vol-r-1; it is deleted once no running engine does.", mapping.Use{Engine: "e"}.Sentence(replica))
	require.Contains(t, mapping.Use{Engine: "e", Node: "node-2"}.Sentence(replica), "Engine e on node node-2 maps replica vol-r-1")
}

func TestPlacesAreInTheOrderOfTheirNames(t *testing.T) {
	places := []mapping.Place{{InstanceManager: "b"}, {InstanceManager: "c"}, {InstanceManager: "a"}}
	mapping.Order(places)
	require.Equal(t, []mapping.Place{{InstanceManager: "a"}, {InstanceManager: "b"}, {InstanceManager: "c"}}, places)
}

func TestAnEngineObjectGivesTheAddressInUseBeforeTheWantedOnes(t *testing.T) {
	e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{ReplicaAddressMap: map[string]string{replica: "wanted"}}}
	address := func() string { return mapping.EngineOf(e).Replicas[replica] }
	require.Equal(t, "wanted", address())
	e.Spec.UpgradedReplicaAddressMap = map[string]string{replica: "upgraded"}
	require.Equal(t, "upgraded", address(), "an upgrade replaces the address")
	e.Status.CurrentReplicaAddressMap = map[string]string{replica: "current"}
	require.Equal(t, "current", address(), "the engine that runs is the one that writes")
}

func TestOnlyAStoppedEngineThatMustBeStoppedMapsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SampledFrom([]string{"", v1beta2.InstanceStateStopped, v1beta2.InstanceStateStarting, v1beta2.InstanceStateRunning,
			v1beta2.InstanceStateStopping, v1beta2.InstanceStateError, v1beta2.InstanceStateUnknown})
		e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{DesireState: states.Draw(t, "wanted"),
			ReplicaAddressMap: map[string]string{replica: "1"}}}
		e.Status.CurrentState = states.Draw(t, "current")
		atRest := e.Status.CurrentState == v1beta2.InstanceStateStopped && e.Spec.DesireState != v1beta2.InstanceStateRunning
		require.Equal(t, atRest, len(mapping.Uses(replica, []mapping.Engine{mapping.EngineOf(e)}, nil)) == 0)
	})
}

func TestUnaskedNamesUpToFiveNodesAndCountsTheOthers(t *testing.T) {
	var places []mapping.Place
	for _, node := range []string{"a", "b", "c", "d", "e"} {
		places = append(places, mapping.Place{Node: node, Needed: true})
	}
	require.Equal(t, "An engine that maps replica vol-r-1 may run on a, b, c, d, e, whose instance manager does not answer.",
		mapping.Unasked(replica, places))
	require.Contains(t, mapping.Unasked(replica, append(places, mapping.Place{Node: "f", Needed: true})), "a, b, c, d, e and 1 more nodes")
}

func TestUnaskedReportsASilentPlaceInWhateverOrderPlacesAreListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) mapping.Place {
			return mapping.Place{Node: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "node"), Down: rapid.Bool().Draw(t, "down"),
				Needed: rapid.Bool().Draw(t, "needed"), Known: rapid.Bool().Draw(t, "known"),
				MappedBy: rapid.SampledFrom([]string{"", "vol-e-0"}).Draw(t, "mapped by")}
		}), 0, 6).Draw(t, "places")
		why := mapping.Unasked(replica, places)
		silent := slices.ContainsFunc(places, func(p mapping.Place) bool { return p.Needed && !p.Known && !p.Down && p.MappedBy == "" })
		require.Equal(t, silent, why != "")
		require.Equal(t, why, mapping.Unasked(replica, rapid.Permutation(places).Draw(t, "another order")))
	})
}

// Whoever reads why a replica stays finds the replica, the engine, its node and what ends the wait.
func TestASentenceHasTheNextStepWhereThereIsOne(t *testing.T) {
	require.Equal(t, "Engine e on node node-2 maps replica vol-r-1; it is deleted once no running engine does. If that engine is an Orphan, "+
		"delete the Orphan.", mapping.Use{Engine: "e", Node: "node-2", Address: "10.0.0.1:1"}.Sentence(replica))
	require.NotContains(t, mapping.Use{Engine: "e", Address: "10.0.0.1:1"}.Sentence(replica), "Orphan", "an engine with an object is none")
}

func TestWhatIsKnownOfAPlaceIsStrongerThanThatItIsDown(t *testing.T) {
	down := mapping.Place{Node: "node-1", Down: true, Needed: true, Known: true, MappedBy: "e"}
	require.Equal(t, []mapping.Use{{Engine: "e", Node: "node-1"}}, mapping.Uses(replica, nil, []mapping.Place{down}))
	elsewhere := mapping.Place{Node: "node-2", Known: true, MappedBy: "e"}
	require.Len(t, mapping.Uses(replica, nil, []mapping.Place{elsewhere}), 1, "also where no engine of the volume should run")
	require.Empty(t, mapping.EngineOf(&v1beta2.Engine{}).Replicas)
	require.True(t, mapping.EngineOf(&v1beta2.Engine{}).Running, "an engine without a state is not known to be stopped")
}

// What is read comes from a cache: a map of the object that becomes the result's own would be written into by the next address.
func TestAnEngineObjectStaysAsItWasRead(t *testing.T) {
	e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{ReplicaAddressMap: map[string]string{"a": "1"}},
		Status: v1beta2.EngineStatus{ReplicaModeMap: map[string]string{"m": "RW"}, CurrentReplicaAddressMap: map[string]string{"a": "2"}}}
	was := e.DeepCopy()
	mapping.EngineOf(e).Replicas["later"] = "3"
	require.Equal(t, was, e)
}

func TestAnEngineThatAnObjectAndAnInventoryShowIsNamedByBoth(t *testing.T) {
	engines := []mapping.Engine{{Name: "e", Running: true, Replicas: map[string]string{replica: "of-object"}}}
	places := []mapping.Place{{Node: "node-2", MappedBy: "e", MappedAddress: "of-list"}, {Node: "node-1", MappedBy: "e"}}
	require.Equal(t, []mapping.Use{{Engine: "e", Address: "of-object"}, {Engine: "e", Node: "node-2", Address: "of-list"},
		{Engine: "e", Node: "node-1"}}, mapping.Uses(replica, engines, places), "the address that a server uses may be another one")
	require.Empty(t, mapping.Uses("", engines, nil), "no replica is mapped by no name")
}

func TestANodeIsNamedOnceHoweverManyOfItsInstanceManagersAreSilent(t *testing.T) {
	var places []mapping.Place
	for _, node := range []string{"e", "d", "c", "b", "a", "a", "a"} {
		places = append(places, mapping.Place{InstanceManager: "im-" + node, Node: node, Needed: true})
	}
	require.Contains(t, mapping.Unasked(replica, places), "may run on a, b, c, d, e, whose", "five nodes are named, not counted")
}
