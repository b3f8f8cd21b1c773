package replicacontroller

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// on creates a replica of 10 bytes on a disk of the node, which must run or not.
func on(name, node string, desire string) *v1beta2.Replica {
	return &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta2.ReplicaSpec{
		NodeID: node, DiskID: "disk-of-" + node, VolumeSize: 10, DesireState: desire,
	}}
}

// noVolumes has no volume.
type noVolumes struct{}

func (noVolumes) accepted(string) int64 { return 0 }
func (noVolumes) data(string) int64     { return 0 }

// sizes are volumes of 7 bytes of data, whose replicas may get 25 bytes.
type sizes struct{}

func (sizes) accepted(string) int64 { return 25 }
func (sizes) data(string) int64     { return 7 }

// L3: the data of a rebuild takes its room from the choice of the replica to the end of the rebuild, also while it waits at its engine.
func TestTheDataOfARebuildIsCountedFromItsChoiceToItsEnd(t *testing.T) {
	l := newReservations(sizes{})
	r := on("r", "a", v1beta2.InstanceStateStopped)
	l.reserve(r)
	require.EqualValues(t, 7, l.copies("a", "disk-of-a"))
	s := on("s", "a", v1beta2.InstanceStateRunning)
	l.see(s)
	require.EqualValues(t, 14, l.copies("a", "disk-of-a"))
	r.Spec.DesireState = v1beta2.InstanceStateRunning
	require.Equal(t, freed{}, l.see(r))
	require.True(t, l.wait("r", true))
	require.EqualValues(t, 14, l.copies("a", "disk-of-a"), "it will be copied later")
	r.Spec.HealthyAt = "now"
	require.Equal(t, freed{room: true}, l.see(r), "it has left its slot before")
	s.Spec.FailedAt = "now"
	require.Equal(t, freed{slot: true, room: true}, l.see(s))
	require.Empty(t, l.copied)
	u := on("u", "a", v1beta2.InstanceStateStopped)
	l.reserve(u)
	require.True(t, l.cancel("u"))
	require.Empty(t, l.copied)
	l.reserve(u)
	l.forget("u")
	require.Empty(t, l.copied)
}

// A larger size takes the room of other volumes once it is accepted, before the replicas have it.
func TestAnAcceptedSizeIsCountedBeforeTheReplicasHaveIt(t *testing.T) {
	l := newReservations(sizes{})
	r := on("r", "a", v1beta2.InstanceStateRunning)
	r.Spec.HealthyAt = "now"
	l.see(r)
	require.EqualValues(t, 25, l.bytes("a", "disk-of-a"), "an earlier process accepted it")
	l.promise([]*v1beta2.Replica{r}, 40)
	l.see(r)
	l.wait("r", true)
	l.cancel("r")
	l.see(r)
	require.EqualValues(t, 40, l.bytes("a", "disk-of-a"))
	l.promise([]*v1beta2.Replica{r}, 25)
	require.EqualValues(t, 25, l.bytes("a", "disk-of-a"), "it could not be written")
	r.Spec.VolumeSize = 25
	l.see(r)
	require.EqualValues(t, 25, l.bytes("a", "disk-of-a"))
	require.Empty(t, l.accepted)
	l.promise([]*v1beta2.Replica{r}, 50)
	l.forget("r")
	require.Empty(t, l.accepted)
	require.Empty(t, l.scheduled)
}

func TestReservationsAddUpExistingReplicas(t *testing.T) {
	l := newReservations(noVolumes{})
	r := on("r", "a", v1beta2.InstanceStateStopped)
	l.see(r)
	l.see(r)
	l.see(on("s", "a", v1beta2.InstanceStateStopped))
	require.EqualValues(t, 20, l.bytes("a", "disk-of-a"), "seen twice is counted once")
	r.Spec.VolumeSize = 30
	l.see(r)
	require.EqualValues(t, 40, l.bytes("a", "disk-of-a"), "it grew")
	l.forget("r")
	l.forget("r")
	require.EqualValues(t, 10, l.bytes("a", "disk-of-a"))
	l.forget("s")
	require.Empty(t, l.scheduled)
	require.Empty(t, l.entries)
}

// A device was copied to another node, or it moved there while the Replicas of its old node stayed.
func TestDisksOfTwoNodesWithOneUUIDAreTwo(t *testing.T) {
	l := newReservations(noVolumes{})
	one, two := on("r", "a", v1beta2.InstanceStateStopped), on("s", "b", v1beta2.InstanceStateStopped)
	two.Spec.DiskID = one.Spec.DiskID
	l.see(one)
	l.see(two)
	require.EqualValues(t, 10, l.bytes("a", one.Spec.DiskID))
	require.EqualValues(t, 10, l.bytes("b", one.Spec.DiskID))
	l.forget("r")
	require.Zero(t, l.bytes("a", one.Spec.DiskID))
	require.EqualValues(t, 10, l.bytes("b", one.Spec.DiskID))
}

func TestARebuildIsCountedFromItsChoiceToItsEnd(t *testing.T) {
	ends := map[string]func(*v1beta2.Replica){
		"it is healthy":   func(r *v1beta2.Replica) { r.Spec.HealthyAt = "now" },
		"it failed":       func(r *v1beta2.Replica) { r.Spec.FailedAt = "now" },
		"it is deleted":   func(r *v1beta2.Replica) { r.DeletionTimestamp = &metav1.Time{} },
		"it must not run": func(r *v1beta2.Replica) { r.Spec.DesireState = v1beta2.InstanceStateStopped },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			l := newReservations(noVolumes{})
			r := on("r", "a", v1beta2.InstanceStateStopped)
			l.reserve(r)
			require.Equal(t, 1, l.rebuilds("a"))
			require.False(t, l.see(r).slot, "its object is seen")
			require.Equal(t, 1, l.rebuilds("a"))
			r.Spec.DesireState = v1beta2.InstanceStateRunning
			require.False(t, l.see(r).slot, "it is started")
			require.Equal(t, 1, l.rebuilds("a"))
			end(r)
			require.True(t, l.see(r).slot, "its place is free")
			require.Zero(t, l.rebuilds("a"))
			require.EqualValues(t, 10, l.bytes("a", "disk-of-a"), "its room is not")
		})
	}
}

// Events come after the cache shows an object: the one of a failure may come when the replica was taken back already.
func TestAReservationOutlastsTheEventsOfWhatItWasDecidedOn(t *testing.T) {
	at := func(version, failed string) *v1beta2.Replica {
		r := on("r", "a", v1beta2.InstanceStateStopped)
		r.ResourceVersion, r.Spec.FailedAt = version, failed
		return r
	}
	l := newReservations(noVolumes{})
	l.reserve(at("99", "yesterday"))
	for _, version := range []string{"98", "99"} {
		require.False(t, l.see(at(version, "yesterday")).slot)
		require.Equal(t, 1, l.rebuilds("a"))
	}
	require.False(t, l.see(at("100", "")).slot, "it is taken back")
	require.Equal(t, 1, l.rebuilds("a"))
	require.True(t, l.see(at("101", "today")).slot, "it failed again")
	require.Zero(t, l.rebuilds("a"))
}

// B8: a replica that waits at its engine takes no slot. Once the engine copies to it, it takes a slot, even beyond the limit.
func TestARebuildThatWaitsAtItsEngineTakesNoSlot(t *testing.T) {
	l := newReservations(noVolumes{})
	r := on("r", "a", v1beta2.InstanceStateStopped)
	l.reserve(r)
	r.Spec.DesireState = v1beta2.InstanceStateRunning
	l.see(r)
	require.Equal(t, 1, l.rebuilds("a"))
	require.True(t, l.wait("r", true))
	require.False(t, l.wait("r", true))
	require.Zero(t, l.rebuilds("a"))
	require.False(t, l.see(r).slot, "an event about it changes nothing")
	require.Zero(t, l.rebuilds("a"))
	require.False(t, l.wait("r", false), "it continues")
	require.Equal(t, 1, l.rebuilds("a"))
	require.True(t, l.wait("r", true))
	r.Spec.FailedAt = "now"
	require.False(t, l.see(r).slot)
	r.Spec.FailedAt = ""
	l.reserve(r)
	require.Equal(t, 1, l.rebuilds("a"), "the next attempt begins from the start")
	require.False(t, l.wait("unknown", true))
	require.EqualValues(t, 10, l.bytes("a", "disk-of-a"))
}

// After any events in any order, the slots of a node are taken by the replicas to which an engine copies, or is about to copy.
func TestEverySlotIsHeldByARebuildThatMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newReservations(noVolumes{})
		version := 0
		type one struct{ lacks, runs, chosen, waits, there bool }
		all := map[string]*one{"r": {}, "s": {}, "u": {}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"r", "s", "u"}).Draw(t, "replica")
			is := all[name]
			replica := func() *v1beta2.Replica {
				version++
				r := on(name, "a", v1beta2.InstanceStateStopped)
				r.ResourceVersion = strconv.Itoa(version)
				if is.runs {
					r.Spec.DesireState = v1beta2.InstanceStateRunning
				}
				if !is.lacks {
					r.Spec.HealthyAt = "now"
				}
				return r
			}
			switch rapid.SampledFrom([]string{"choose", "start", "end", "wait", "continue", "cancel", "forget"}).Draw(t, "step") {
			case "choose":
				if is.runs {
					continue
				}
				*is = one{lacks: true, chosen: true, there: true}
				l.reserve(replica())
			case "start":
				if !is.chosen {
					continue
				}
				is.runs, is.chosen = true, false
				l.see(replica())
			case "end":
				*is = one{there: true}
				l.see(replica())
			case "wait":
				if !is.runs {
					continue
				}
				is.waits = true
				l.wait(name, true)
			case "continue":
				is.waits = false
				l.wait(name, false)
			case "cancel":
				is.chosen = false
				l.cancel(name)
			case "forget":
				*is = one{}
				l.forget(name)
			}
			moving := 0
			for _, is := range all {
				if (is.runs || is.chosen) && !is.waits {
					moving++
				}
			}
			require.Equal(t, moving, l.rebuilds("a"))
		}
	})
}

func TestAReservationIsCancelledOnce(t *testing.T) {
	l := newReservations(noVolumes{})
	l.reserve(on("r", "a", v1beta2.InstanceStateStopped))
	require.True(t, l.cancel("r"))
	require.False(t, l.cancel("r"))
	require.Zero(t, l.rebuilds("a"))
	l.reserve(on("r", "a", v1beta2.InstanceStateStopped))
	require.Equal(t, "a", l.forget("r"))
	require.Empty(t, l.forget("r"), "it is gone already")
	require.False(t, l.cancel("r"))
	require.False(t, l.see(on("r", "a", v1beta2.InstanceStateRunning)).slot)
	require.False(t, l.cancel("r"), "what runs is no reservation")
	require.Equal(t, 1, l.rebuilds("a"))
}

func TestReservationsAreFilledOnceTheListSucceeds(t *testing.T) {
	l := newReservations(noVolumes{})
	list := func() ([]v1beta2.Replica, error) {
		return []v1beta2.Replica{*on("r", "a", v1beta2.InstanceStateRunning)}, nil
	}
	require.Error(t, l.fill(func() ([]v1beta2.Replica, error) { return nil, errors.New("no") }))
	require.NoError(t, l.fill(list))
	require.EqualValues(t, 10, l.bytes("a", "disk-of-a"))
	require.Equal(t, 1, l.rebuilds("a"))
	l.forget("r")
	require.NoError(t, l.fill(list))
	require.Zero(t, l.bytes("a", "disk-of-a"), "later, events count")
}

func TestWhoWaitsLongestIsNext(t *testing.T) {
	w := newWaitlist()
	require.Equal(t, []string{"one"}, w.set("one", []string{"a"}), "a slot may have become free since it was decided on")
	require.Equal(t, []string{"two", "two"}, w.set("two", []string{"a", "b"}))
	require.Empty(t, w.set("two", []string{"a", "b"}))
	require.Equal(t, "one", w.first("a"))
	require.Equal(t, "two", w.first("b"))
	require.Equal(t, []string{"two"}, w.set("one", nil), "whoever is behind is asked when one waits no longer")
	require.Equal(t, "two", w.first("a"))
	require.Empty(t, w.set("two", []string{"b"}), "no other volume waits")
	require.Empty(t, w.first("a"))
	require.Empty(t, w.set("two", nil))
	require.Empty(t, w.byNode)
}
