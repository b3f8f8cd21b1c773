package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

func snap(change ...func(*v1beta2.Snapshot)) *v1beta2.Snapshot {
	s := &v1beta2.Snapshot{
		ObjectMeta: metav1.ObjectMeta{Name: "snap-1", Labels: map[string]string{v1beta2.LabelVolume: "vol-1"}},
		Spec:       v1beta2.SnapshotSpec{Volume: "vol-1", CreateSnapshot: true},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func vol() *v1beta2.Volume {
	return &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1", UID: "1"}}
}

func goingVol() *v1beta2.Volume {
	v := vol()
	v.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	return v
}

func label(value string) func(*v1beta2.Snapshot) {
	return func(s *v1beta2.Snapshot) { s.Labels = map[string]string{v1beta2.LabelVolume: value} }
}

func withdrawn(s *v1beta2.Snapshot) {
	s.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotWithdrawn, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonSnapshotGone}}
}

func TestWhatIsRefused(t *testing.T) {
	for sentence, c := range map[string]struct {
		world World
		shows string
	}{
		"a snapshot of a volume is welcome": {World{Operation: Create, New: snap(), Volume: vol()}, ""},
		"one of no volume is refused":       {World{Operation: Create, New: snap()}, "there is no volume vol-1"},
		"so is one of a volume that goes":   {World{Operation: Create, New: snap(), Volume: goingVol()}, "is being deleted"},
		"and one that would be the volume's head": {World{Operation: Create,
			New: snap(func(s *v1beta2.Snapshot) { s.Name = "volume-head" }), Volume: vol()}, "choose another name"},
		"the spec stays": {World{Operation: Update, Old: snap(),
			New: snap(func(s *v1beta2.Snapshot) { s.Spec.Volume = "vol-2" })}, "spec cannot be changed"},
		"labels of the spec, too": {World{Operation: Update, Old: snap(),
			New: snap(func(s *v1beta2.Snapshot) { s.Spec.Labels = map[string]string{"a": "b"} })}, "spec cannot be changed"},
		"an empty list of labels is none": {World{Operation: Update, Old: snap(),
			New: snap(func(s *v1beta2.Snapshot) { s.Spec.Labels = map[string]string{} })}, ""},
		"the label of the volume stays": {World{Operation: Update, Old: snap(), New: snap(label("vol-2"))},
			"cannot be changed"},
		"it cannot be taken off": {World{Operation: Update, Old: snap(),
			New: snap(func(s *v1beta2.Snapshot) { s.Labels = nil })}, "cannot be changed"},
		"a wrong one may be put right": {World{Operation: Update, Old: snap(label("x")), New: snap()}, ""},
		"and stay wrong for a while":   {World{Operation: Update, Old: snap(label("x")), New: snap(label("x"))}, ""},
		"other labels are people's": {World{Operation: Update, Old: snap(),
			New: snap(func(s *v1beta2.Snapshot) { s.Labels["team"] = "a" })}, ""},
		"a snapshot may be deleted": {World{Operation: Delete, Old: snap(), Volume: vol()}, ""},
		"but not one whose data a clone shares": {World{Operation: Delete, Old: snap(), Volume: vol(),
			Clones: []string{"c1", "c2"}}, "c1, c2; delete linked clones first"},
		"unless the engine lost it anyway": {World{Operation: Delete, Old: snap(withdrawn), Volume: vol(),
			Clones: []string{"c1"}}, ""},
		"unless the volume goes": {World{Operation: Delete, Old: snap(), Volume: goingVol(),
			Clones: []string{"c1"}}, ""},
		"or went": {World{Operation: Delete, Old: snap(), Clones: []string{"c1"}}, ""},
		"or it is being deleted already": {World{Operation: Delete,
			Old: snap(func(s *v1beta2.Snapshot) { s.DeletionTimestamp = &metav1.Time{} }), Volume: vol(), Clones: []string{"c1"}}, ""},
		"of an operation of another day nothing is known": {World{Operation: "CONNECT"}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if c.shows == "" {
				require.Empty(t, Refusal(c.world))
				return
			}
			require.Contains(t, Refusal(c.world), c.shows)
		})
	}
}

// The controllers' own writes pass: what they put right is right, and a finalizer that goes changes neither spec nor label.
func TestNothingThatKeepsSpecAndLabelIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := snap(label(rapid.SampledFrom([]string{"vol-1", "wrong", ""}).Draw(t, "label")))
		after := before.DeepCopy()
		after.Finalizers = rapid.SliceOf(rapid.String()).Draw(t, "finalizers")
		after.OwnerReferences = []metav1.OwnerReference{{Kind: "Volume", Name: "vol-1"}}
		if rapid.Bool().Draw(t, "repaired") {
			after.Labels[v1beta2.LabelVolume] = "vol-1"
		}
		require.Empty(t, Refusal(World{Operation: Update, Old: before, New: after}))
	})
}

// No labels and an empty list of them are the same in either direction, but neither hides another change.
func TestAnEmptyListOfLabelsHidesNothing(t *testing.T) {
	labels := func(l map[string]string) func(*v1beta2.Snapshot) {
		return func(s *v1beta2.Snapshot) { s.Spec.Labels = l }
	}
	none, empty, one := labels(nil), labels(map[string]string{}), labels(map[string]string{"a": "b"})
	volume := func(s *v1beta2.Snapshot) { s.Spec.CreateSnapshot = false }
	for sentence, c := range map[string]struct {
		before, after *v1beta2.Snapshot
		refused       bool
	}{
		"none to empty":                    {snap(none), snap(empty), false},
		"empty to none":                    {snap(empty), snap(none), false},
		"the same one":                     {snap(one), snap(one), false},
		"one is taken off":                 {snap(one), snap(none), true},
		"one is taken off to an empty one": {snap(one), snap(empty), true},
		"one is added to an empty one":     {snap(empty), snap(one), true},
		"another field with them":          {snap(empty), snap(none, volume), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			why := Refusal(World{Operation: Update, Old: c.before, New: c.after})
			require.Equal(t, c.refused, why == "spec cannot be changed: delete this Snapshot and create another", why)
		})
	}
}

func TestARefusalNamesTheObjectAndWhatToDo(t *testing.T) {
	require.Equal(t, "there is no volume vol-1: create it first, or name another in spec.volume",
		Refusal(World{Operation: Create, New: snap()}))
	require.Equal(t, "clones share or copy the data of snapshot snap-1: c1; delete linked clones first, and wait for copies",
		Refusal(World{Operation: Delete, Old: snap(), Volume: vol(), Clones: []string{"c1"}}))
	require.Contains(t, Refusal(World{Operation: Update, Old: snap(), New: snap(label("vol-2"))}), `it is "vol-1"`, "what it must be")
}
