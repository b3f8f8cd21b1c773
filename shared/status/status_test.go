package status_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func condition(conditionType, reason string) v1beta2.Condition {
	return v1beta2.Condition{Type: conditionType, Status: v1beta2.ConditionTrue, Reason: reason, LastTransitionTime: "2026-08-01T12:00:00Z"}
}

func apply(t *testing.T, obj client.Object, owner string, list []v1beta2.Condition, opts ...status.Option) error {
	t.Helper()
	return status.Apply(t.Context(), testkit.Admin(t), obj, owner, map[string]any{"conditions": status.ConditionsField(list)}, opts...)
}

func newEngine(t *testing.T) *v1beta2.Engine {
	t.Helper()
	engine := &v1beta2.Engine{
		ObjectMeta: metav1.ObjectMeta{Name: "vol-e-0", Namespace: testkit.Namespace(t),
			Finalizers: []string{v1beta2.Finalizer, "example.com/other"}},
		Spec: v1beta2.EngineSpec{VolumeName: "vol", DataEngine: v1beta2.DataEngineV1},
	}
	require.NoError(t, testkit.Admin(t).Create(t.Context(), engine))
	return engine
}

func read(t *testing.T, engine *v1beta2.Engine) *v1beta2.Engine {
	t.Helper()
	now := &v1beta2.Engine{}
	require.NoError(t, testkit.Admin(t).Get(t.Context(), client.ObjectKeyFromObject(engine), now))
	return now
}

// Two controllers share one list of conditions; neither may remove the other's.
func TestEachOwnerAppliesItsConditionsBesideTheOthers(t *testing.T) {
	engine := newEngine(t)
	require.NoError(t, apply(t, engine, "one", []v1beta2.Condition{condition("A", "X"), condition("B", "X")}))
	require.NoError(t, apply(t, engine, "two", []v1beta2.Condition{condition("C", "X")}))
	require.NoError(t, apply(t, engine, "one", []v1beta2.Condition{condition("A", "Y")}))
	list := read(t, engine).Status.Conditions
	require.Equal(t, "Y", conditions.Reason(list, "A"))
	require.Equal(t, "X", conditions.Reason(list, "C"), "the other owner's condition stays")
	require.Nil(t, conditions.Get(list, "B"), "what an owner leaves out of its full set is gone")
}

func TestAWriteAtAVersionFailsOnceTheObjectChanged(t *testing.T) {
	engine := newEngine(t)
	require.NoError(t, apply(t, engine, "one", []v1beta2.Condition{condition("A", "X")}, status.AtVersion()))
	err := apply(t, engine, "one", []v1beta2.Condition{condition("A", "Y")}, status.AtVersion())
	require.True(t, status.IsConflict(err), "%v", err)

	err = status.MergeSpec(t.Context(), testkit.Admin(t), engine, map[string]any{"nodeID": "n1"}, status.AtVersion())
	require.True(t, status.IsConflict(err), "%v", err)
	require.NoError(t, status.MergeSpec(t.Context(), testkit.Admin(t), read(t, engine), map[string]any{"nodeID": "n1"}, status.AtVersion()))
	require.Equal(t, "n1", read(t, engine).Spec.NodeID)
}

func TestTheWriterOfAStatusMayHaveTheObjectWithIt(t *testing.T) {
	engine := newEngine(t)
	var written client.Object
	write := func(state string) error {
		return status.MergeStatus(t.Context(), testkit.Admin(t), engine, map[string]any{"currentState": state}, status.AtVersion(),
			status.Written(&written))
	}
	require.NoError(t, write("running"))
	require.Equal(t, read(t, engine).ResourceVersion, written.GetResourceVersion())
	require.Equal(t, "running", written.(*v1beta2.Engine).Status.CurrentState)
	require.Empty(t, engine.Status.CurrentState, "what was evaluated stays as it was")

	before := written
	require.True(t, status.IsConflict(write("stopped")))
	require.Same(t, before, written)

	running := read(t, engine)
	gone := map[string]any{"currentState": nil}
	require.NoError(t, status.MergeStatus(t.Context(), testkit.Admin(t), running, gone, status.Written(&written)))
	require.Empty(t, written.(*v1beta2.Engine).Status.CurrentState, "of what was removed nothing is left over")
}

// A name that was used again must not get what was meant for its predecessor.
func TestAWriteAtAVersionNeverMeetsANamesake(t *testing.T) {
	old := newEngine(t)
	admin := testkit.Admin(t)
	for _, f := range []string{v1beta2.Finalizer, "example.com/other"} {
		require.NoError(t, status.DropFinalizer(t.Context(), admin, read(t, old), f))
	}
	require.NoError(t, admin.Delete(t.Context(), old))
	again := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: old.Name, Namespace: old.Namespace,
		Finalizers: []string{v1beta2.Finalizer}}}
	require.NoError(t, admin.Create(t.Context(), again))

	require.True(t, status.IsConflict(apply(t, old, "one", []v1beta2.Condition{condition("A", "X")}, status.AtVersion())))
	require.True(t, status.IsConflict(status.Delete(t.Context(), admin, old)))
	require.True(t, status.IsConflict(status.DropFinalizer(t.Context(), admin, old, v1beta2.Finalizer)))
	require.Empty(t, read(t, again).Status.Conditions)
}

func TestFieldsThatWeDoNotKnowSurviveOurWrites(t *testing.T) {
	engine := newEngine(t)
	admin := testkit.Admin(t)
	foreign := `{"spec":{"fromTheFuture":{"deep":[1,2]}},"status":{"fromTheFuture":"kept"}}`
	require.NoError(t, admin.Patch(t.Context(), engine.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(foreign))))
	require.NoError(t, admin.Status().Patch(t.Context(), engine.DeepCopy(),
		client.RawPatch("application/merge-patch+json", []byte(foreign))))

	require.NoError(t, apply(t, engine, "one", []v1beta2.Condition{condition("A", "X")}))
	require.NoError(t, status.MergeStatus(t.Context(), admin, engine, map[string]any{"ownerID": "n1"}))
	require.NoError(t, status.MergeSpec(t.Context(), admin, engine, map[string]any{"nodeID": "n1"}))

	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("Engine"))
	require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(engine), raw))
	deep, _, err := unstructured.NestedSlice(raw.Object, "spec", "fromTheFuture", "deep")
	require.NoError(t, err)
	require.Len(t, deep, 2)
	kept, _, err := unstructured.NestedString(raw.Object, "status", "fromTheFuture")
	require.NoError(t, err)
	require.Equal(t, "kept", kept)
}

func TestDroppingAFinalizerLeavesTheOthersAndIsIdempotent(t *testing.T) {
	engine := newEngine(t)
	admin := testkit.Admin(t)
	require.NoError(t, status.DropFinalizer(t.Context(), admin, engine, v1beta2.Finalizer))
	require.Equal(t, []string{"example.com/other"}, read(t, engine).Finalizers)
	require.Contains(t, engine.Finalizers, v1beta2.Finalizer, "the evaluated object, which a cache may share, is not modified")
	require.NoError(t, status.DropFinalizer(t.Context(), admin, read(t, engine), v1beta2.Finalizer))
}

func TestWhatIsGoneIsDeletedAlready(t *testing.T) {
	gone := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "gone", Namespace: testkit.Namespace(t), UID: "x", ResourceVersion: "1",
		Finalizers: []string{v1beta2.Finalizer}}}
	require.NoError(t, status.Delete(t.Context(), testkit.Admin(t), gone))
	err := status.DropFinalizer(t.Context(), testkit.Admin(t), gone, v1beta2.Finalizer)
	require.True(t, apierrors.IsNotFound(err), "whoever reports it does so once: %v", err)
}

func TestAnApplyNeverMakesAnObject(t *testing.T) {
	gone := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "gone", Namespace: testkit.Namespace(t)}}
	err := apply(t, gone, "one", []v1beta2.Condition{condition("A", "X")})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.ErrorContains(t, err, "gone")
}

func TestMetadataIsMergedIntoTheVersionThatWasJudged(t *testing.T) {
	engine := newEngine(t)
	admin := testkit.Admin(t)
	require.NoError(t, status.MergeMetadata(t.Context(), admin, engine, map[string]any{"labels": map[string]any{"a": "b"}}))
	now := read(t, engine)
	require.Equal(t, "b", now.Labels["a"])
	require.Equal(t, engine.Finalizers, now.Finalizers, "what is not named stays")
	require.True(t, status.IsConflict(status.MergeMetadata(t.Context(), admin, engine, map[string]any{"labels": map[string]any{"a": "c"}})))
}

func TestATicketIsWrittenWhollyAndNoOtherTouched(t *testing.T) {
	admin := testkit.Admin(t)
	other := v1beta2.AttachmentTicket{ID: "other", Type: v1beta2.AttacherLonghornAPI, NodeID: "node-1"}
	a := &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "vol", Namespace: testkit.Namespace(t)}}
	a.Spec.Volume, a.Spec.AttachmentTickets = "vol", map[string]v1beta2.AttachmentTicket{"other": other}
	require.NoError(t, admin.Create(t.Context(), a))
	mine := &v1beta2.AttachmentTicket{ID: "mine", Type: v1beta2.AttacherSnapshot, NodeID: "node-2", Parameters: map[string]string{"a": "b"},
		Generation: 1}
	written := func(ticket *v1beta2.AttachmentTicket) map[string]v1beta2.AttachmentTicket {
		require.NoError(t, status.MergeTickets(t.Context(), admin, a, map[string]*v1beta2.AttachmentTicket{"mine": ticket}))
		now := &v1beta2.VolumeAttachment{}
		require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(a), now))
		require.Equal(t, other, now.Spec.AttachmentTickets["other"])
		return now.Spec.AttachmentTickets
	}
	require.Equal(t, *mine, written(mine)["mine"])
	mine.Parameters, mine.Generation = nil, 0
	require.Equal(t, *mine, written(mine)["mine"], "an empty field is emptied")
	require.NotContains(t, written(nil), "mine")
}
