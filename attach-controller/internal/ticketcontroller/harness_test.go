package ticketcontroller

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
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

// world is a namespace of a real API server with the controller of tickets in it, as attach-controller's ServiceAccount
// with its generated roles. The test plays everybody else.
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
		w.ready(name)
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
	p := shell.Start(w.t, shell.Options{Identity: w.identity, Namespace: w.namespace, Owner: account, At: at, OnCut: onCut},
		func(ctx context.Context, rt *runkit.Runtime) error {
			return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, w.namespace, setting.Catalogue))
		})
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

func (w *world) ready(name string) { w.nodeIs(name, isReady) }

func (w *world) down(name string) {
	w.nodeIs(name, v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonKubernetesNodeGone})
}

func (w *world) cordon(name string) {
	w.nodeIs(name, isReady, v1beta2.Condition{Type: v1beta2.NodeSchedulable, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonKubernetesNodeCordoned})
}

func (w *world) setting(name, value string) {
	w.t.Helper()
	s := &v1beta2.Setting{ObjectMeta: w.meta(name), Value: value}
	err := w.admin.Create(w.t.Context(), s)
	if apierrors.IsAlreadyExists(err) {
		body, _ := json.Marshal(map[string]string{"value": value})
		err = w.admin.Patch(w.t.Context(), s, client.RawPatch("application/merge-patch+json", body))
	}
	require.NoError(w.t, err)
}

// volume creates a detached volume with its engine, a healthy replica on node-1 and node-2, and a VolumeAttachment with answers, as
// attach-controller's other parts do.
func (w *world) volume(name string, change func(*v1beta2.VolumeSpec)) *v1beta2.Volume {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta(name), Spec: v1beta2.VolumeSpec{Size: 10, NumberOfReplicas: 2, AccessMode: "rwo"}}
	if change != nil {
		change(&v.Spec)
	}
	w.create(v)
	engine := &v1beta2.Engine{ObjectMeta: w.meta(name + "-e-0"), Spec: v1beta2.EngineSpec{VolumeName: name, VolumeSize: 10, Active: true}}
	w.create(engine)
	w.status(engine, map[string]any{"currentSize": "10"})
	for _, node := range []string{"node-1", "node-2"} {
		w.create(&v1beta2.Replica{ObjectMeta: w.meta(name + "-r-" + node), Spec: v1beta2.ReplicaSpec{
			VolumeName: name, NodeID: node, DiskID: "disk-of-" + node, HealthyAt: "2026-09-01T00:00:00Z",
		}})
	}
	w.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "robustness": v1beta2.VolumeRobustnessUnknown})
	w.attachment(name)
	return v
}

func (w *world) attachment(name string) *v1beta2.VolumeAttachment {
	w.t.Helper()
	a := &v1beta2.VolumeAttachment{ObjectMeta: w.meta(name),
		Spec: v1beta2.VolumeAttachmentSpec{Volume: name, AttachmentTickets: map[string]v1beta2.AttachmentTicket{}}}
	w.create(a)
	w.status(a, map[string]any{"observedGeneration": 1})
	return a
}

// attached plays the rest of attach-controller: the volume is up on the node.
func (w *world) attached(v *v1beta2.Volume, node string) {
	w.t.Helper()
	w.spec(v, map[string]any{"nodeID": node})
	w.status(v, map[string]any{"state": v1beta2.VolumeStateAttached, "currentNodeID": node, "robustness": v1beta2.VolumeRobustnessHealthy})
}

func (w *world) detached(v *v1beta2.Volume) {
	w.t.Helper()
	w.spec(v, map[string]any{"nodeID": ""})
	w.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "currentNodeID": "", "robustness": v1beta2.VolumeRobustnessUnknown})
}

// put writes somebody's ticket; parameters come in pairs.
func (w *world) put(volume, id, attacher, node string, parameters ...string) {
	w.t.Helper()
	named := map[string]string{}
	for i := 0; i < len(parameters); i += 2 {
		named[parameters[i]] = parameters[i+1]
	}
	t := map[string]any{"id": id, "type": attacher, "nodeID": node, "parameters": named, "generation": 1}
	w.spec(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(volume)}, map[string]any{"attachmentTickets": map[string]any{id: t}})
}

func (w *world) drop(volume, id string) {
	w.t.Helper()
	w.spec(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(volume)}, map[string]any{"attachmentTickets": map[string]any{id: nil}})
}

func (w *world) tickets(volume string) map[string]v1beta2.AttachmentTicket {
	a := &v1beta2.VolumeAttachment{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: volume}, a))
	return a.Spec.AttachmentTickets
}

// said is the volume's tickets in short: "id @node frontend", in order.
func (w *world) said(volume string) string {
	tickets := w.tickets(volume)
	var out []string
	for _, id := range slices.Sorted(maps.Keys(tickets)) {
		frontend := tickets[id].Parameters[v1beta2.TicketDisableFrontend]
		out = append(out, strings.TrimSpace(id+" @"+tickets[id].NodeID+" "+frontend))
	}
	return strings.Join(out, ", ")
}

// shows waits until the volume has exactly these tickets.
func (w *world) shows(volume string, want ...string) {
	w.t.Helper()
	wanted := strings.Join(want, ", ")
	require.EventuallyWithT(w.t, func(c *assert.CollectT) { require.Equal(c, wanted, w.said(volume)) }, patience, poll)
}

// stays reports whether the tickets do not change for a while.
func (w *world) stays(volume string) {
	w.t.Helper()
	a := &v1beta2.VolumeAttachment{}
	key := client.ObjectKey{Namespace: w.namespace, Name: volume}
	require.NoError(w.t, w.admin.Get(w.t.Context(), key, a))
	require.Never(w.t, func() bool {
		found := &v1beta2.VolumeAttachment{}
		return w.admin.Get(context.Background(), key, found) == nil && found.ResourceVersion != a.ResourceVersion
	}, 300*time.Millisecond, 50*time.Millisecond)
}

// event waits until an event of that reason was emitted.
func (w *world) event(reason string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		var list eventsv1.EventList
		require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
		return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason == reason })
	}, patience, poll, "no event %s", reason)
}
