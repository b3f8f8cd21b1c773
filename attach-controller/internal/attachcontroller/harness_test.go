package attachcontroller

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	account  = "attach-controller"
	patience = 60 * time.Second
	poll     = testkit.Poll
	vol      = "vol-1"
)

// world is a namespace of a real API server with the controller that answers tickets in it, as attach-controller's
// ServiceAccount with its generated roles. The test plays who puts tickets, and the volume machine.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config

	run shell.Slot
}

// newWorld has three nodes that are ready.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.identity = testkit.BinaryIdentity(t, w.namespace, account)
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		w.create(&v1beta2.Node{ObjectMeta: w.meta(name)})
		w.up(name)
	}
	t.Cleanup(w.stop)
	return w
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) start() *shell.Process { return w.startCut(cut.Point{}, nil) }

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	p := shell.Start(w.t, shell.Options{Identity: w.identity, Namespace: w.namespace, Owner: account, At: at, OnCut: onCut}, Setup)
	w.run.Hold(p)
	return p
}

func (w *world) stop() { w.run.End(w.t) }

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

func (w *world) delete(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Delete(w.t.Context(), obj))
}

func (w *world) spec(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, obj, fields))
}

func (w *world) status(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, obj, fields))
}

// nodeIs writes im-monitor's conditions of a node.
func (w *world) nodeIs(name string, list ...v1beta2.Condition) {
	w.t.Helper()
	w.status(&v1beta2.Node{ObjectMeta: w.meta(name)}, map[string]any{"conditions": status.ConditionsField(list)})
}

var isReady = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady}

func (w *world) up(name string) { w.nodeIs(name, isReady) }

func (w *world) down(name string) {
	w.nodeIs(name, v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonKubernetesNodeGone})
}

// volume creates a volume that the machine has detached.
func (w *world) volume(name string, change func(*v1beta2.VolumeSpec)) *v1beta2.Volume {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta(name),
		Spec: v1beta2.VolumeSpec{Size: 10, NumberOfReplicas: 1, AccessMode: v1beta2.AccessModeReadWriteOnce}}
	if change != nil {
		change(&v.Spec)
	}
	w.create(v)
	w.machine(name, v1beta2.VolumeStateDetached, "")
	return v
}

// machine plays the volume machine: this is where the volume is now.
func (w *world) machine(name, state, node string) {
	w.t.Helper()
	w.status(&v1beta2.Volume{ObjectMeta: w.meta(name)},
		map[string]any{"state": state, "currentNodeID": node, "robustness": v1beta2.VolumeRobustnessUnknown})
}

func (w *world) attached(name, node string) { w.machine(name, v1beta2.VolumeStateAttached, node) }

func (w *world) detached(name string) { w.machine(name, v1beta2.VolumeStateDetached, "") }

// put writes somebody's ticket, his own key only; parameters come in pairs.
func (w *world) put(volume, id, attacher, node string, parameters ...string) {
	w.t.Helper()
	require.NoError(w.t, w.tryPut(volume, id, attacher, node, 1, parameters...))
}

func (w *world) tryPut(volume, id, attacher, node string, generation int, parameters ...string) error {
	named := map[string]string{}
	for i := 0; i < len(parameters); i += 2 {
		named[parameters[i]] = parameters[i+1]
	}
	t := map[string]any{"id": id, "type": attacher, "nodeID": node, "parameters": named, "generation": generation}
	return status.MergeSpec(w.t.Context(), w.admin, w.ofTickets(volume), map[string]any{"attachmentTickets": map[string]any{id: t}})
}

func (w *world) drop(volume, id string) {
	w.t.Helper()
	w.spec(w.ofTickets(volume), map[string]any{"attachmentTickets": map[string]any{id: nil}})
}

// ofTickets names the VolumeAttachment of a volume.
func (w *world) ofTickets(volume string) *v1beta2.VolumeAttachment {
	return &v1beta2.VolumeAttachment{ObjectMeta: w.meta(volume)}
}

func (w *world) now(volume string) (*v1beta2.Volume, *v1beta2.VolumeAttachment) {
	v, a := &v1beta2.Volume{}, &v1beta2.VolumeAttachment{}
	key := client.ObjectKey{Namespace: w.namespace, Name: volume}
	require.NoError(w.t, client.IgnoreNotFound(w.admin.Get(w.t.Context(), key, v)))
	require.NoError(w.t, client.IgnoreNotFound(w.admin.Get(w.t.Context(), key, a)))
	return v, a
}

// said is the volume in short: its wanted node, and each ticket's answer, in order.
func (w *world) said(volume string) string {
	v, a := w.now(volume)
	out := []string{strings.TrimSpace("→" + v.Spec.NodeID + " " + v.Spec.MigrationNodeID)}
	for _, id := range slices.Sorted(maps.Keys(a.Status.AttachmentTicketStatuses)) {
		answer := a.Status.AttachmentTicketStatuses[id]
		out = append(out, id+" "+conditions.Reason(answer.Conditions, v1beta2.TicketSatisfied))
	}
	return strings.Join(out, ", ")
}

// shows waits until the volume is wanted on the node, and the tickets have exactly these answers.
func (w *world) shows(volume, node string, answers ...string) {
	w.t.Helper()
	wanted := strings.Join(append([]string{"→" + node}, answers...), ", ")
	require.EventuallyWithT(w.t, func(c *assert.CollectT) { require.Equal(c, wanted, w.said(volume)) }, patience, poll)
}

// ready waits until the VolumeAttachment's own condition has the reason, and returns its message.
func (w *world) ready(volume, reason string) string {
	w.t.Helper()
	var message string
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		_, a := w.now(volume)
		is := conditions.Get(a.Status.Conditions, v1beta2.VolumeAttachmentReady)
		require.NotNil(c, is)
		require.Equal(c, reason, is.Reason)
		require.Equal(c, a.Generation, a.Status.ObservedGeneration)
		message = is.Message
	}, patience, poll)
	return message
}

// quiet reports whether the process writes nothing for a while.
func (w *world) quiet(p *shell.Process) {
	w.t.Helper()
	writes := p.Client.Writes()
	require.Never(w.t, func() bool { return len(p.Client.Writes()) != len(writes) }, 300*time.Millisecond, 50*time.Millisecond,
		"writes: %v", writes)
}

// event waits until an event of that reason was emitted on the object.
func (w *world) event(kind, reason string) string {
	w.t.Helper()
	var note string
	require.Eventually(w.t, func() bool {
		var list eventsv1.EventList
		require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
		i := slices.IndexFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason == reason && e.Regarding.Kind == kind })
		if i >= 0 {
			note = list.Items[i].Note
		}
		return i >= 0
	}, patience, poll, "no event %s", reason)
	return note
}
