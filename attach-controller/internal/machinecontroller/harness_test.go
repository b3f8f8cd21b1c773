package machinecontroller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
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
	gib      = int64(1) << 30
)

// world is a namespace of a real API server with the volume machine in it, as attach-controller's ServiceAccount with its
// generated roles. The test plays who writes tickets into Volume.spec and who places replicas; a plane plays im-monitor.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	plane     *plane
	// unseen are volumes that the controller's cache does not show.
	unseen []string

	run shell.Slot
}

// newWorld has three nodes that are ready, and a data plane.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.identity = testkit.BinaryIdentity(t, w.namespace, account)
	w.plane = newPlane(w)
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		w.create(&v1beta2.Node{ObjectMeta: w.meta(name)})
		w.ready(name)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.picture())
		}
		w.stop()
	})
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
			if len(w.unseen) > 0 {
				rt.Client = blind{rt.Client, w.unseen}
			}
			if err := abandonedcontroller.Setup(ctx, rt); err != nil {
				return err
			}
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

// ready and down write im-monitor's condition of a node, and notify the data plane.
func (w *world) ready(name string) { w.nodeIs(name, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady) }

func (w *world) down(name string) {
	w.nodeIs(name, v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeGone)
}

func (w *world) nodeIs(name string, s v1beta2.ConditionStatus, reason string) {
	w.t.Helper()
	w.plane.change(func(p *plane) { p.down[name] = s != v1beta2.ConditionTrue })
	list := []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: s, Reason: reason}}
	w.status(&v1beta2.Node{ObjectMeta: w.meta(name)}, map[string]any{"conditions": status.ConditionsField(list)})
}

// volume creates one as a user does.
func (w *world) volume(name string, change func(*v1beta2.VolumeSpec)) *v1beta2.Volume {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta(name), Spec: v1beta2.VolumeSpec{Size: gib, NumberOfReplicas: 2}}
	if change != nil {
		change(&v.Spec)
	}
	w.create(v)
	return v
}

// replica creates one as its placement does.
func (w *world) replica(v *v1beta2.Volume, name, node string) *v1beta2.Replica {
	w.t.Helper()
	r := &v1beta2.Replica{ObjectMeta: w.meta(name), Spec: v1beta2.ReplicaSpec{
		VolumeName: v.Name, NodeID: node, DiskID: "disk-of-" + node, DesireState: v1beta2.InstanceStateStopped,
		DataEngine: v.Spec.DataEngine, VolumeSize: v.Spec.Size, Active: true, DataDirectoryName: name + "-dir",
	}}
	r.Finalizers = []string{v1beta2.Finalizer}
	w.create(r)
	return r
}

// placed creates a volume with a replica on node-1 and one on node-2.
func (w *world) placed(dataEngine string) *v1beta2.Volume {
	w.t.Helper()
	v := w.volume(vol, func(s *v1beta2.VolumeSpec) { s.DataEngine = dataEngine })
	w.replica(v, "r-1", "node-1")
	w.replica(v, "r-2", "node-2")
	return v
}

// wanted writes what tickets lead to.
func (w *world) wanted(v *v1beta2.Volume, node string) {
	w.t.Helper()
	w.spec(v, map[string]any{"nodeID": node})
}

// attached starts from a volume that is attached to the node and healthy.
func (w *world) attached(dataEngine, node string) *v1beta2.Volume {
	w.t.Helper()
	v := w.placed(dataEngine)
	w.wanted(v, node)
	w.reaches(v, v1beta2.VolumeStateAttached, node)
	return w.robustness(v, v1beta2.VolumeRobustnessHealthy)
}
