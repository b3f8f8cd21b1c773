package shelltest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testkit.Main(m)
}

const image = "longhornio/longhorn-instance-manager:v1.12.0"

// manager waits until the instance manager of a node is in a state, and returns it.
func (e *Env) manager(name, state string) *v1beta2.InstanceManager {
	e.t.Helper()
	var im v1beta2.InstanceManager
	e.Eventually(func() bool {
		im = v1beta2.InstanceManager{}
		return e.Get(name, &im) && im.Status.CurrentState == state
	}, "instance manager %s never became %s", name, state)
	return &im
}

func (e *Env) ready(node string, status v1beta2.ConditionStatus, reason string) {
	e.t.Helper()
	e.Eventually(func() bool {
		var n v1beta2.Node
		if !e.Get(node, &n) {
			return false
		}
		c := conditions.Get(n.Status.Conditions, v1beta2.NodeReady)
		return c != nil && c.Status == status && c.Reason == reason
	}, "node %s never became %s/%s", node, status, reason)
}

func TestANodeGetsItsInstanceManagerAndItsInstancesAreShown(t *testing.T) {
	e := Start(t)
	e.KubernetesNode("life-1", map[string]string{corev1.LabelTopologyZone: "a"})
	e.ready("life-1", v1beta2.ConditionFalse, v1beta2.ReasonManagerPodMissing)
	var n v1beta2.Node
	require.True(t, e.Get("life-1", &n))
	require.Contains(t, conditions.Get(n.Status.Conditions, v1beta2.NodeReady).Message, setting.DefaultInstanceManagerImage)
	require.Equal(t, "a", n.Status.Zone)

	e.Set(setting.DefaultInstanceManagerImage, image)
	name := v1beta2.InstanceManagerName("life-1", image, v1beta2.DataEngineV1)
	im := e.manager(name, v1beta2.InstanceManagerStateRunning)
	require.NotEmpty(t, im.Status.IP)
	require.Equal(t, n.UID, im.OwnerReferences[0].UID)
	e.ready("life-1", v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	e.Eventually(func() bool {
		return e.Get(name, im) && im.Status.APIVersion == 7 && im.Status.OwnerID == "life-1"
	}, "API version and owner were never written")

	e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: "v1", State: "running", UUID: "u1",
		PortStart: 10000, PortEnd: 10009})
	e.Eventually(func() bool {
		return e.Get(name, im) && im.Status.InstanceReplicas["vol-1-r-aabbccdd"].Status.UUID == "u1"
	}, "the replica never showed up")
	e.Servers.Drop(name, "vol-1-r-aabbccdd")
	e.Eventually(func() bool { return e.Get(name, im) && len(im.Status.InstanceReplicas) == 0 }, "the replica never went")
}

func TestAFailedPodIsReplacedAndItsInstancesAreGone(t *testing.T) {
	e, name := oneNode(t, "failed-1", v1beta2.DataEngineV1)
	e.Servers.Put(name, inventory.Instance{Name: "vol-1-e-0", Type: "engine", DataEngine: "v1", State: "running", UUID: "u1"})
	im := e.manager(name, v1beta2.InstanceManagerStateRunning)
	e.Eventually(func() bool { return e.Get(name, im) && len(im.Status.InstanceEngines) == 1 }, "the engine never showed up")

	var pod corev1.Pod
	require.True(t, e.Get(name, &pod))
	before := pod.UID
	e.Servers.Drop(name, "vol-1-e-0")
	pod.Status.Phase = corev1.PodFailed
	require.NoError(t, e.Admin.Status().Update(t.Context(), &pod))
	e.Eventually(func() bool {
		pod = corev1.Pod{}
		return e.Get(name, &pod) && pod.UID != before
	}, "the pod was never replaced")
	e.manager(name, v1beta2.InstanceManagerStateRunning)
	e.Eventually(func() bool { return e.Get(name, im) && len(im.Status.InstanceEngines) == 0 }, "the engine stayed")
}

func TestANodeThatGoesDownAndComesBack(t *testing.T) {
	e, name := oneNode(t, "down-1", v1beta2.DataEngineV1)
	const other = "down-2"
	e.addNode(other, v1beta2.DataEngineV1)
	replicas := map[string]string{"rep-1": "down-1", "rep-2": other, "rep-3": ""}
	for replica, node := range replicas {
		require.NoError(t, e.Admin.Create(t.Context(), &v1beta2.Replica{
			ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: replica}, Spec: v1beta2.ReplicaSpec{NodeID: node}}))
	}
	owner := func(replica, want string) {
		t.Helper()
		e.Eventually(func() bool {
			var r v1beta2.Replica
			return e.Get(replica, &r) && r.Status.OwnerID == want
		}, "replica %s never had owner %q", replica, want)
	}
	owner("rep-1", "down-1")
	owner("rep-2", other)
	var untouched v1beta2.Replica
	e.Eventually(func() bool {
		return e.Get("rep-2", &untouched) && untouched.Status.CurrentState == v1beta2.InstanceStateStopped
	}, "rep-2 was never looked after")

	e.NodeReady("down-1", corev1.ConditionUnknown)
	e.ready("down-1", v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)
	e.manager(name, v1beta2.InstanceManagerStateUnknown)
	owner("rep-1", other)

	e.NodeReady("down-1", corev1.ConditionTrue)
	e.ready("down-1", v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	e.manager(name, v1beta2.InstanceManagerStateRunning)
	owner("rep-1", "down-1")
	var after v1beta2.Replica
	require.True(t, e.Get("rep-2", &after))
	require.Equal(t, untouched.ResourceVersion, after.ResourceVersion, "another node's flap touches nothing here")
}

func TestSilenceIsToldAndConcludesNothing(t *testing.T) {
	e, name := oneNode(t, "silent-1", v1beta2.DataEngineV1)
	e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: "v1", State: "running", UUID: "u1"})
	im := e.manager(name, v1beta2.InstanceManagerStateRunning)
	e.Eventually(func() bool { return e.Get(name, im) && len(im.Status.InstanceReplicas) == 1 }, "the replica never showed up")
	e.Servers.Shut(name, true)
	e.ready("silent-1", v1beta2.ConditionFalse, v1beta2.ReasonInstanceManagerUnreachable)
	require.True(t, e.Get(name, im))
	require.Equal(t, v1beta2.InstanceManagerStateRunning, im.Status.CurrentState)
	require.Len(t, im.Status.InstanceReplicas, 1, "unknown is not empty")
	e.Servers.Shut(name, false)
	e.ready("silent-1", v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
}

func TestANewDefaultImage(t *testing.T) {
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		t.Run(engine, func(t *testing.T) {
			e, name := oneNode(t, "image-"+engine, engine)
			e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: engine, State: "running",
				UUID: "u1"})
			im := e.manager(name, v1beta2.InstanceManagerStateRunning)
			e.Eventually(func() bool { return e.Get(name, im) && len(im.Status.InstanceReplicas) == 1 }, "the replica never showed up")

			const newImage = "longhornio/longhorn-instance-manager:v1.12.1"
			e.Set(setting.DefaultInstanceManagerImage, newImage)
			next := v1beta2.InstanceManagerName("image-"+engine, newImage, engine)
			if engine == v1beta2.DataEngineV2 {
				e.manager(next, v1beta2.InstanceManagerStateStopped)
			} else {
				e.manager(next, v1beta2.InstanceManagerStateRunning)
			}
			e.manager(name, v1beta2.InstanceManagerStateRunning)

			if engine == v1beta2.DataEngineV2 {
				e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: engine, State: "stopped",
					UUID: "u1"})
			} else {
				e.Servers.Drop(name, "vol-1-r-aabbccdd")
			}
			e.Eventually(func() bool { return !e.Get(name, &v1beta2.InstanceManager{}) }, "the old one never went")
			e.manager(next, v1beta2.InstanceManagerStateRunning)
		})
	}
}

// A18.
func TestADefaultImageThatCannotBePulledLeavesTheInstanceManagerThatRuns(t *testing.T) {
	const missing = "longhornio/longhorn-instance-manager" + MissingTag
	e, name := oneNode(t, "missing-1", v1beta2.DataEngineV1)
	e.manager(name, v1beta2.InstanceManagerStateRunning)
	e.Set(setting.DefaultInstanceManagerImage, missing)
	next := v1beta2.InstanceManagerName("missing-1", missing, v1beta2.DataEngineV1)
	says := func(name, kind, words string) {
		t.Helper()
		var im v1beta2.InstanceManager
		e.Eventually(func() bool {
			if !e.Get(name, &im) {
				return false
			}
			c := conditions.Get(im.Status.Conditions, kind)
			return c != nil && strings.Contains(c.Message, words)
		}, "%s never reported %q", name, words)
	}
	says(next, v1beta2.InstanceManagerPodReady, "image "+missing+" cannot be pulled")
	says(name, v1beta2.InstanceManagerSettingSynced, "new v1 instances run here until one does")
	e.manager(name, v1beta2.InstanceManagerStateRunning)

	e.Set(setting.DefaultInstanceManagerImage, image)
	e.Eventually(func() bool { return !e.Get(next, &v1beta2.InstanceManager{}) && !e.Get(next, &corev1.Pod{}) },
		"what never ran did not go")
	e.manager(name, v1beta2.InstanceManagerStateRunning)
}

// A node's huge pages and disks serve one v2 server, whether or not its InstanceManager exists.
func TestAV2PodWaitsForTheOneThatADeletedInstanceManagerLeft(t *testing.T) {
	const after = "longhornio/longhorn-instance-manager:v1.12.1"
	e, old := oneNode(t, "left-1", v1beta2.DataEngineV2)
	e.Servers.Put(old, inventory.Instance{Name: "vol-1-e-0", Type: "engine", DataEngine: "v2", State: "running"})
	im := e.manager(old, v1beta2.InstanceManagerStateRunning)
	e.Eventually(func() bool { return e.Get(old, im) && len(im.Status.InstanceEngines) == 1 }, "the engine never showed up")
	e.Set(setting.DefaultInstanceManagerImage, after)
	name := v1beta2.InstanceManagerName("left-1", after, v1beta2.DataEngineV2)
	blocked := func() bool {
		if !e.Get(name, im) {
			return false
		}
		c := conditions.Get(im.Status.Conditions, v1beta2.InstanceManagerPodReady)
		return c != nil && c.Reason == v1beta2.ReasonPodBlocked && strings.Contains(c.Message, old+" was deleted")
	}

	require.NoError(t, e.Admin.Delete(t.Context(), &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: old}}))
	e.Eventually(blocked, "the next one never reported what it waits for")
	var pod corev1.Pod
	require.True(t, e.Get(old, &pod))
	require.False(t, e.Get(name, &corev1.Pod{}))
	pod.Status.Phase = corev1.PodFailed // no one deletes it
	require.NoError(t, e.Admin.Status().Update(t.Context(), &pod))
	e.manager(name, v1beta2.InstanceManagerStateRunning)
}

func TestADeletedNodeGoesWhenItIsEmptyAndOutOfService(t *testing.T) {
	e, name := oneNode(t, "removed-1", v1beta2.DataEngineV1)
	waits := func(reason string) {
		t.Helper()
		e.Eventually(func() bool {
			var n v1beta2.Node
			return e.Get("removed-1", &n) && conditions.Reason(n.Status.Conditions, v1beta2.NodeRemoved) == reason
		}, "the node never reported %s", reason)
	}
	e.Servers.Put(name, inventory.Instance{Name: "vol-1-r-aabbccdd", Type: "replica", DataEngine: "v1", State: "running", UUID: "u1"})
	var n v1beta2.Node
	require.True(t, e.Get("removed-1", &n))
	require.NoError(t, e.Admin.Delete(t.Context(), &n))
	waits(v1beta2.ReasonKubernetesNodeInService)
	var k corev1.Node
	require.NoError(t, e.Admin.Get(t.Context(), client.ObjectKey{Name: "removed-1"}, &k))
	k.Spec.Unschedulable = true
	require.NoError(t, e.Admin.Update(t.Context(), &k))
	waits(v1beta2.ReasonInstanceManagersRemain)
	e.Servers.Drop(name, "vol-1-r-aabbccdd")
	e.Eventually(func() bool { return !e.Get("removed-1", &v1beta2.Node{}) }, "the node never went")
	require.False(t, e.Get(name, &v1beta2.InstanceManager{}))
}

func TestQuietMeansNoWrites(t *testing.T) {
	e, name := oneNode(t, "quiet-1", v1beta2.DataEngineV1)
	e.ready("quiet-1", v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	im := e.manager(name, v1beta2.InstanceManagerStateRunning)
	e.Eventually(func() bool { return e.Get(name, im) && im.Status.APIVersion == 7 && im.Status.OwnerID != "" }, "never complete")
	// Everything is reported once the Node's event of readiness was; from here on a heartbeat is the only thing that happens.
	before := settled(e)
	for range 5 {
		e.NodeReady("quiet-1", corev1.ConditionTrue)
	}
	<-time.After(time.Second)
	require.Equal(t, before, e.Writes(), "something was written")
}

// settled waits until no write was made for half a second, and returns all of them.
func settled(e *Env) []string {
	e.t.Helper()
	var last []string
	since := time.Now()
	e.Eventually(func() bool {
		if now := e.Writes(); len(now) != len(last) {
			last, since = now, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	}, "writes never ended")
	return last
}

func TestABadSettingKeepsTheLastOneAndIsTold(t *testing.T) {
	e, name := oneNode(t, "setting-1", v1beta2.DataEngineV1)
	e.manager(name, v1beta2.InstanceManagerStateRunning)
	e.Set(setting.TaintToleration, "storage=yes:Never")
	e.Eventually(func() bool {
		var list eventsv1.EventList
		require.NoError(t, e.Admin.List(t.Context(), &list, client.InNamespace(e.Namespace)))
		return slices.ContainsFunc(list.Items, func(one eventsv1.Event) bool {
			return one.Reason == "SettingInvalid" && one.Regarding.Name == setting.TaintToleration
		})
	}, "no one was reported")
	e.manager(name, v1beta2.InstanceManagerStateRunning)
}

// oneNode is a node whose instance manager of that data engine is wanted.
func oneNode(t *testing.T, node, engine string) (*Env, string) {
	e := Start(t)
	e.Set(setting.V1DataEngine, strconv.FormatBool(engine == v1beta2.DataEngineV1))
	e.Set(setting.V2DataEngine, strconv.FormatBool(engine == v1beta2.DataEngineV2))
	e.Set(setting.DefaultInstanceManagerImage, image)
	return e, e.addNode(node, engine)
}

func (e *Env) addNode(node, engine string) string {
	e.KubernetesNode(node, nil)
	e.ready(node, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	return v1beta2.InstanceManagerName(node, image, engine)
}

func TestV2DisksAreShownAndV1DisksAreLeftAlone(t *testing.T) {
	e, _ := oneNode(t, "disk-1", v1beta2.DataEngineV2)
	agents := map[string]any{"diskStatus": map[string]any{"hdd": map[string]any{"diskType": "filesystem", "diskUUID": "agent"}}}
	var n v1beta2.Node
	require.True(t, e.Get("disk-1", &n))
	require.NoError(t, status.MergeStatus(t.Context(), e.Admin, &n, agents))
	e.Servers.PutDisk(imclient.Disk{Name: "nvme", UUID: "lvs-1", Driver: "aio", TotalBytes: 100, FreeBytes: 60})
	require.NoError(t, status.MergeSpec(t.Context(), e.Admin, &n, map[string]any{"disks": map[string]any{
		"hdd":  map[string]any{"diskType": "filesystem", "path": "/data"},
		"nvme": map[string]any{"diskType": "block", "path": "/dev/nvme0n1", "initialize": "new"},
	}}))
	e.Eventually(func() bool {
		return e.Get("disk-1", &n) && n.Status.DiskStatus["nvme"].DiskUUID == "lvs-1" &&
			conditions.IsTrue(n.Status.DiskStatus["nvme"].Conditions, v1beta2.DiskReady)
	}, "the disk never showed up")
	require.Equal(t, "agent", n.Status.DiskStatus["hdd"].DiskUUID)
	require.NoError(t, status.MergeSpec(t.Context(), e.Admin, &n, map[string]any{"disks": map[string]any{"nvme": nil}}))
	e.Eventually(func() bool {
		var after v1beta2.Node
		if !e.Get("disk-1", &after) {
			return false
		}
		_, there := after.Status.DiskStatus["nvme"]
		return !there && after.Status.DiskStatus["hdd"].DiskUUID == "agent"
	}, "the disk never went")
}
