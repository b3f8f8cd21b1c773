package instancecontroller_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testkit.Main(m)
}

const (
	image       = "longhornio/longhorn-instance-manager:v1.12.0"
	engineImage = "longhornio/longhorn-engine:v1.10.0"
	disk        = "99999999-0000-0000-0000-000000000001"
	gib         = 1 << 30
)

// world is a cluster of im-monitor's own controllers with nodes whose instance managers run. The test plays attach-controller.
type world struct {
	*shelltest.Env
	t         *testing.T
	unemitted records
}

func newWorld(t *testing.T, nodes ...string) *world {
	return newWorldWith(t, cut.Point{}, func(*instancecontroller.Options) {}, nodes...)
}

func newWorldWith(t *testing.T, at cut.Point, change func(*instancecontroller.Options), nodes ...string) *world {
	t.Helper()
	w := &world{Env: shelltest.StartWith(t, at, change), t: t}
	w.Set(setting.DefaultInstanceManagerImage, image)
	w.Set(setting.V2DataEngine, "true")
	for _, n := range nodes {
		w.KubernetesNode(n, nil)
	}
	w.engineImage(12, nodes...)
	for _, n := range nodes {
		for _, engine := range []string{"v1", "v2"} {
			w.Eventually(func() bool {
				var im v1beta2.InstanceManager
				return w.Get(manager(n, engine), &im) && im.Status.CurrentState == v1beta2.InstanceManagerStateRunning &&
					im.Status.APIVersion != 0
			}, "%s of %s never ran", engine, n)
		}
		own := &v1beta2.Node{ObjectMeta: w.meta(n)}
		w.Servers.PutDisk(imclient.Disk{Name: "nvme", UUID: disk, Driver: "aio", TotalBytes: 100 * gib, FreeBytes: 100 * gib})
		w.spec(own, map[string]any{"disks": map[string]any{"nvme": map[string]any{"diskType": "block", "path": "/dev/nvme0n1",
			"initialize": "new"}}})
		w.Eventually(func() bool { return w.Get(n, own) && own.Status.DiskStatus["nvme"].DiskUUID == disk },
			"the disk of %s never showed up", n)
	}
	return w
}

func manager(node, engine string) string { return v1beta2.InstanceManagerName(node, image, engine) }

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.Namespace, Name: name}
}

func (w *world) labelled(name, volume string) metav1.ObjectMeta {
	m := w.meta(name)
	m.Labels = map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
	m.Finalizers = []string{v1beta2.Finalizer}
	return m
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.Admin.Create(w.t.Context(), o))
}

// volume creates a Volume with the fields that the executor reads.
func (w *world) volume(name, engine string) {
	w.haveVolume(name, engine)
}

// engineImage makes the EngineImage of every v1 process, deployed on the nodes.
func (w *world) engineImage(cli int, nodes ...string) {
	w.t.Helper()
	i := &v1beta2.EngineImage{ObjectMeta: w.meta(v1beta2.EngineImageName(engineImage)), Spec: v1beta2.EngineImageSpec{Image: engineImage}}
	w.create(i)
	deployed := map[string]any{}
	for _, n := range nodes {
		deployed[n] = true
	}
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.Admin, i, map[string]any{"cliAPIVersion": cli, "nodeDeploymentMap": deployed}))
}

// haveVolume makes the Volume of an object that the test did not make itself.
func (w *world) haveVolume(name, engine string) {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.labelled(name, name), Spec: v1beta2.VolumeSpec{Size: gib, DataEngine: engine, NumberOfReplicas: 1}}
	require.NoError(w.t, client.IgnoreAlreadyExists(w.Admin.Create(w.t.Context(), v)))
}

func (w *world) replica(name, volume, node, engine string) *v1beta2.Replica {
	w.t.Helper()
	w.haveVolume(volume, engine)
	r := &v1beta2.Replica{ObjectMeta: w.labelled(name, volume), Spec: v1beta2.ReplicaSpec{
		VolumeName: volume, NodeID: node, DataEngine: engine, DesireState: v1beta2.InstanceStateStopped, Image: engineImage,
		VolumeSize: gib,
		DiskID:     disk, DiskPath: "/var/lib/longhorn", DataDirectoryName: name + "-dir"}}
	w.create(r)
	return r
}

func (w *world) engine(name, volume, node, engine string) *v1beta2.Engine {
	w.t.Helper()
	w.haveVolume(volume, engine)
	e := &v1beta2.Engine{ObjectMeta: w.labelled(name, volume), Spec: v1beta2.EngineSpec{
		VolumeName: volume, NodeID: node, DataEngine: engine, DesireState: v1beta2.InstanceStateStopped, Image: engineImage,
		VolumeSize: gib,
		Active:     true, Frontend: "blockdev", ReplicaAddressMap: map[string]string{volume + "-r-00000001": "10.0.0.9:10010"}}}
	w.create(e)
	return e
}

func (w *world) frontend(name, volume, node string) *v1beta2.EngineFrontend {
	w.t.Helper()
	w.haveVolume(volume, "v2")
	f := &v1beta2.EngineFrontend{ObjectMeta: w.labelled(name, volume), Spec: v1beta2.EngineFrontendSpec{
		VolumeName: volume, NodeID: node, DataEngine: "v2", DesireState: v1beta2.InstanceStateStopped, Size: gib, Active: true,
		Frontend:   "blockdev",
		EngineName: volume + "-e-0", TargetIP: "10.0.0.9", TargetPort: 20001}}
	w.create(f)
	return f
}

// spec merges fields into an object's spec, as attach-controller does.
func (w *world) spec(o client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.Admin, o, fields))
}

func (w *world) run(o client.Object) {
	w.spec(o, map[string]any{"desireState": v1beta2.InstanceStateRunning})
}

func (w *world) stop(o client.Object) {
	w.spec(o, map[string]any{"desireState": v1beta2.InstanceStateStopped})
}

// engineIs, replicaIs and frontendIs wait for a state and return the object.
func (w *world) engineIs(name, state string) *v1beta2.Engine {
	w.t.Helper()
	var e v1beta2.Engine
	w.Eventually(func() bool {
		now := v1beta2.Engine{}
		if !w.Get(name, &now) {
			return false
		}
		e = now
		return e.Status.CurrentState == state
	}, "engine %s never became %s; at last %+v", name, state, &e.Status)
	return &e
}

func (w *world) replicaIs(name, state string) *v1beta2.Replica {
	w.t.Helper()
	var r v1beta2.Replica
	w.Eventually(func() bool {
		now := v1beta2.Replica{}
		if !w.Get(name, &now) {
			return false
		}
		r = now
		return r.Status.CurrentState == state
	}, "replica %s never became %s; at last %+v", name, state, &r.Status)
	return &r
}

func (w *world) frontendIs(name, state string) *v1beta2.EngineFrontend {
	w.t.Helper()
	var f v1beta2.EngineFrontend
	w.Eventually(func() bool {
		now := v1beta2.EngineFrontend{}
		if !w.Get(name, &now) {
			return false
		}
		f = now
		return f.Status.CurrentState == state
	}, "frontend %s never became %s; at last %+v", name, state, &f.Status)
	return &f
}

// holds reports whether a server has an instance.
func (w *world) holds(manager, name string) bool {
	_, ok := w.Servers.Instance(manager, name)
	return ok
}

// creations and deletions are the calls about one name.
func (w *world) creations(name string) (out []imclient.CreateRequest) {
	for _, c := range w.Servers.Calls() {
		if c.Create != nil && c.Create.Name == name {
			out = append(out, *c.Create)
		}
	}
	return out
}

func (w *world) deletions(name string) (out []imclient.DeleteRequest) {
	for _, c := range w.Servers.Calls() {
		if c.Delete != nil && c.Delete.Name == name {
			out = append(out, *c.Delete)
		}
	}
	return out
}

// never fails when something happens within a moment that must not.
func (w *world) never(happens func() bool, what string) {
	w.t.Helper()
	require.Never(w.t, happens, 500*time.Millisecond, 20*time.Millisecond, what)
}

// goesDown lets Kubernetes report that a node is not ready, and its instance managers fall silent.
func (w *world) goesDown(node string) {
	for _, engine := range []string{"v1", "v2"} {
		w.Servers.Shut(manager(node, engine), true)
	}
	w.NodeReady(node, corev1.ConditionUnknown)
}

func (w *world) comesBack(node string) {
	for _, engine := range []string{"v1", "v2"} {
		w.Servers.Shut(manager(node, engine), false)
	}
	w.NodeReady(node, corev1.ConditionTrue)
}

// onCall lets a test decide about a kind of call.
func failing(err error, which func(shelltest.Call) bool) shelltest.Hook {
	return func(_ context.Context, call shelltest.Call) error {
		if which(call) {
			return err
		}
		return nil
	}
}
