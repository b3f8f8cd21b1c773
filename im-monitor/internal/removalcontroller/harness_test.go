package removalcontroller_test

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/removalcontroller"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testkit.Main(m)
}

const (
	image        = "longhornio/longhorn-instance-manager:v1.12.0"
	disk         = "99999999-0000-0000-0000-000000000001"
	uuid1, uuid2 = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-000000000000"
)

// world is a cluster of im-monitor's own controllers with nodes whose v2 instance managers run. The test plays
// attach-controller, and the polls of engines.
type world struct {
	*shelltest.Env
	t *testing.T
}

func newWorld(t *testing.T, nodes ...string) *world {
	return newWorldWith(t, cut.Point{}, removalcontroller.Options{}, nodes...)
}

func newWorldWith(t *testing.T, at cut.Point, options removalcontroller.Options, nodes ...string) *world {
	t.Helper()
	w := &world{Env: shelltest.StartRemoving(t, at, options), t: t}
	w.Set(setting.DefaultInstanceManagerImage, image)
	w.Set(setting.V2DataEngine, "true")
	for _, n := range nodes {
		w.KubernetesNode(n, nil)
	}
	for _, n := range nodes {
		w.Eventually(func() bool {
			var im v1beta2.InstanceManager
			return w.Get(manager(n), &im) && im.Status.CurrentState == v1beta2.InstanceManagerStateRunning && im.Status.APIVersion != 0
		}, "the v2 instance manager of %s never ran", n)
		w.Servers.PutDisk(imclient.Disk{Name: "nvme", UUID: disk, Driver: "aio", TotalBytes: 100 << 30, FreeBytes: 100 << 30})
		own := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: n}}
		require.NoError(t, status.MergeSpec(t.Context(), w.Admin, own,
			map[string]any{"disks": map[string]any{"nvme": map[string]any{"diskType": "block", "path": "/dev/nvme0n1",
				"initialize": "new"}}}))
		w.Eventually(func() bool { return w.Get(n, own) && own.Status.DiskStatus["nvme"].DiskUUID == disk },
			"the disk of %s never showed up", n)
	}
	return w
}

func manager(node string) string { return v1beta2.InstanceManagerName(node, image, "v2") }

func (w *world) labelled(name, volume string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.Namespace, Name: name, Finalizers: []string{v1beta2.Finalizer},
		Labels: map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}}
}

func (w *world) volume(name string) *v1beta2.Volume {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.labelled(name, name), Spec: v1beta2.VolumeSpec{Size: 1 << 30, DataEngine: "v2", NumberOfReplicas: 2}}
	require.NoError(w.t, w.Admin.Create(w.t.Context(), v))
	return v
}

// replica makes a stopped Replica of the volume that is a good copy, with its data on the node; none where the UUID is "".
func (w *world) replica(name string, v *v1beta2.Volume, node, uuid string, change ...func(*v1beta2.ReplicaSpec)) *v1beta2.Replica {
	w.t.Helper()
	r := &v1beta2.Replica{ObjectMeta: w.labelled(name, v.Name), Spec: v1beta2.ReplicaSpec{VolumeName: v.Name, VolumeSize: 1 << 30,
		NodeID: node, DataEngine: "v2", DesireState: v1beta2.InstanceStateStopped, DiskID: disk, HealthyAt: "2026-01-01T00:00:00Z"}}
	r.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: v.Name, UID: v.UID}}
	if uuid != "" {
		w.Servers.Put(manager(node), lvol(name, uuid, v1beta2.InstanceStateStopped))
	}
	for _, f := range change {
		f(&r.Spec)
	}
	require.NoError(w.t, w.Admin.Create(w.t.Context(), r))
	return r
}

// running is replica that runs.
func (w *world) running(name string, v *v1beta2.Volume, node, uuid string) *v1beta2.Replica {
	w.t.Helper()
	r := w.replica(name, v, node, uuid)
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.Admin, r, map[string]any{"desireState": v1beta2.InstanceStateRunning}))
	w.Eventually(func() bool { return w.Get(name, r) && r.Status.CurrentState == v1beta2.InstanceStateRunning }, "replica %s never ran",
		name)
	return r
}

func lvol(name, uuid, state string) inventory.Instance {
	return inventory.Instance{Name: name, Type: "replica", DataEngine: "v2", State: state, UUID: uuid,
		UUIDSource: imclient.UUIDFromInstanceStatus, DiskUUID: disk}
}

// engine makes an Engine that runs on the node and uses the replicas, according to its polls.
func (w *world) engine(name string, v *v1beta2.Volume, node string, modes map[string]string) *v1beta2.Engine {
	w.t.Helper()
	addresses := map[string]string{}
	for replica := range modes {
		addresses[replica] = "10.0.0.9:20001"
	}
	e := &v1beta2.Engine{ObjectMeta: w.labelled(name, v.Name), Spec: v1beta2.EngineSpec{VolumeName: v.Name, NodeID: node, DataEngine: "v2",
		DesireState: v1beta2.InstanceStateRunning, VolumeSize: 1 << 30, Active: true, ReplicaAddressMap: addresses}}
	require.NoError(w.t, w.Admin.Create(w.t.Context(), e))
	w.Eventually(func() bool { return w.Get(name, e) && e.Status.CurrentState == v1beta2.InstanceStateRunning }, "engine %s never ran",
		name)
	w.polled(e, modes)
	return e
}

// polled is what the engine answers from now on.
func (w *world) polled(e *v1beta2.Engine, modes map[string]string) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.Admin, e, map[string]any{"replicaModeMap": modes}))
}

func (w *world) delete(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		require.NoError(w.t, w.Admin.Delete(w.t.Context(), o))
	}
}

// approve plays attach-controller.
func (w *world) approve(r *v1beta2.Replica, reason string) {
	w.t.Helper()
	w.reports(r, v1beta2.Condition{Type: v1beta2.ReplicaDataRemovalApproved, Status: v1beta2.ConditionTrue, Reason: reason, Message: "Go."})
}

func (w *world) reports(r *v1beta2.Replica, c v1beta2.Condition) {
	w.t.Helper()
	fields := map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{c})}
	require.NoError(w.t, status.Apply(w.t.Context(), w.Admin, r, "attach-controller.replicas", fields))
}

// removed waits until DataRemoved is as reported.
func (w *world) removed(r *v1beta2.Replica, want v1beta2.ConditionStatus, reason string) {
	w.t.Helper()
	var now v1beta2.Replica
	w.Eventually(func() bool {
		now = v1beta2.Replica{}
		c := (*v1beta2.Condition)(nil)
		if w.Get(r.Name, &now) {
			c = conditions.Get(now.Status.Conditions, v1beta2.ReplicaDataRemoved)
		}
		return c != nil && c.Status == want && c.Reason == reason
	}, "replica %s never reported %s/%s", r.Name, want, reason)
	require.Contains(w.t, now.Finalizers, v1beta2.Finalizer, "the finalizer is attach-controller's")
}

// gone waits until InstanceGone is as reported, for the present generation of the Replica if it is True.
func (w *world) gone(r *v1beta2.Replica, want v1beta2.ConditionStatus, reason string) {
	w.t.Helper()
	w.Eventually(func() bool {
		var now v1beta2.Replica
		if !w.Get(r.Name, &now) {
			return false
		}
		c := conditions.Get(now.Status.Conditions, v1beta2.ReplicaInstanceGone)
		return c != nil && c.Status == want && c.Reason == reason && (want != v1beta2.ConditionTrue || c.ObservedGeneration == now.Generation)
	}, "the instance of %s was never reported as %s/%s", r.Name, want, reason)
}

// destroyed are the calls that destroy data, by name.
func (w *world) destroyed(names ...string) (out []imclient.DeleteRequest) {
	for _, c := range w.Servers.Calls() {
		if c.Delete == nil || !c.Delete.CleanupRequired || c.Delete.Type != "replica" {
			continue
		}
		for _, name := range names {
			if c.Delete.Name == name {
				out = append(out, *c.Delete)
			}
		}
	}
	return out
}

func (w *world) holds(node, name string) bool {
	_, ok := w.Servers.Instance(manager(node), name)
	return ok
}

// keeps fails when the replica's data goes within a moment.
func (w *world) keeps(name string) {
	w.t.Helper()
	w.never(func() bool { return len(w.destroyed(name)) > 0 }, "the data of "+name+" must stay")
}

// silent fails when DataRemoved reports anything within a moment.
func (w *world) silent(r *v1beta2.Replica) {
	w.t.Helper()
	w.never(func() bool {
		var now v1beta2.Replica
		return w.Get(r.Name, &now) && conditions.Get(now.Status.Conditions, v1beta2.ReplicaDataRemoved) != nil
	}, "nothing is to be reported about "+r.Name)
}

// never fails when something happens within a moment. It reads in the test's own goroutine: no read outlives the test.
func (w *world) never(happens func() bool, message string) {
	w.t.Helper()
	moment := time.After(700 * time.Millisecond)
	for ticker := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-moment:
			ticker.Stop()
			return
		case <-ticker.C:
			require.False(w.t, happens(), message)
		}
	}
}

// events counts those about a Replica with a reason.
func (w *world) events(r *v1beta2.Replica, reason string) (n int) {
	w.t.Helper()
	var list eventsv1.EventList
	require.NoError(w.t, w.Admin.List(w.t.Context(), &list, client.InNamespace(w.Namespace)))
	for _, e := range list.Items {
		if e.Regarding.UID == r.UID && e.Reason == reason {
			n++
		}
	}
	return n
}

// end is the reason of DataRemoved where that is True.
func (w *world) end(r *v1beta2.Replica) string {
	w.t.Helper()
	var now v1beta2.Replica
	if !w.Get(r.Name, &now) || !conditions.IsTrue(now.Status.Conditions, v1beta2.ReplicaDataRemoved) {
		return ""
	}
	return conditions.Reason(now.Status.Conditions, v1beta2.ReplicaDataRemoved)
}
