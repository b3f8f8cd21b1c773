package instancecontroller_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

const imageAfter = "longhornio/longhorn-instance-manager:v1.12.1"

// upgrade brings a live upgrade of a node's instance manager to where that is replaced, as upgrade-controller does.
func (w *world) upgrade(node string) {
	w.t.Helper()
	w.spec(&v1beta2.Node{ObjectMeta: w.meta(node)}, map[string]any{"upgradeRequested": true})
	u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: w.meta("upgrade-" + node),
		Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: node, DataEngine: "v2",
			InstanceManagerImage: imageAfter, DataEngineUpgradeManager: "upgrade"}}
	w.create(u)
	var im v1beta2.InstanceManager
	require.True(w.t, w.Get(manager(node, "v2"), &im))
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.Admin, u, map[string]any{"state": v1beta2.UpgradeStateUpgradingInstanceManager,
		"oldInstanceManager": map[string]any{"name": im.Name, "uid": string(im.UID)}}))
}

// states are those that a frontend was ever seen in.
type states struct {
	mu   sync.Mutex
	seen []string
}

func (w *world) follow(f *v1beta2.EngineFrontend) *states {
	w.t.Helper()
	s := &states{}
	watching, err := client.NewWithWatch(testkit.Cluster().AdminConfig(), client.Options{Scheme: w.Admin.Scheme()})
	require.NoError(w.t, err)
	events, err := watching.Watch(w.t.Context(), &v1beta2.EngineFrontendList{}, client.InNamespace(w.Namespace),
		client.MatchingFields{"metadata.name": f.Name})
	require.NoError(w.t, err)
	go func() {
		for e := range events.ResultChan() {
			if f, ok := e.Object.(*v1beta2.EngineFrontend); ok {
				s.mu.Lock()
				s.seen = append(s.seen, f.Status.CurrentState)
				s.mu.Unlock()
			}
		}
	}()
	return s
}

func (s *states) ever(state string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.seen, " "), state)
}

// U1, UPG-1, UPG-3: the instance manager goes only when no engine needs it any more, and its frontends outlive it.
func TestALiveUpgradeReplacesAnInstanceManagerUnderItsFrontends(t *testing.T) {
	w := newWorld(t, "up-1", "up-2")
	r, e, f := w.openV2("vol", "up-1")
	second := w.target("vol-e-1", "vol", "up-2", e)
	w.moveTo(f, second)
	w.moved(f, second)
	w.Set(setting.DefaultInstanceManagerImage, imageAfter)
	old, after := manager("up-1", "v2"), v1beta2.InstanceManagerName("up-1", imageAfter, "v2")
	w.upgrade("up-1")
	holds := func(why string) {
		t.Helper()
		w.Eventually(func() bool {
			var im v1beta2.InstanceManager
			c := &v1beta2.Condition{}
			if w.Get(old, &im) {
				c = conditions.Get(im.Status.Conditions, v1beta2.InstanceManagerSettingSynced)
			}
			return c != nil && strings.Contains(c.Message, why)
		}, "it never reported %q", why)
		var pod corev1.Pod
		require.True(t, w.Get(old, &pod) && pod.DeletionTimestamp == nil)
	}
	holds("engine vol-e-0 is on it")
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	holds("engine vol-e-1 maps replica " + r.Name)
	seen := w.follow(f)
	before, listed := w.Servers.Instance(old, f.Name)
	require.True(t, listed)
	before.State = "pending" // the next server finds its record
	w.Servers.Put(after, before)
	w.spec(second, map[string]any{"replicaAddressMap": map[string]any{r.Name: nil, "vol-r-00000002": "10.0.0.9:10010"}})
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	w.Eventually(func() bool { return !w.Get(old, &v1beta2.InstanceManager{}) && !w.Get(old, &corev1.Pod{}) },
		"the old instance manager never went")
	var im v1beta2.InstanceManager
	w.Eventually(func() bool {
		return w.Get(after, &im) && im.Status.CurrentState == v1beta2.InstanceManagerStateRunning && im.Status.APIVersion != 0
	}, "the new one never ran")
	w.frontendIs(f.Name, v1beta2.InstanceStateUnknown)
	w.never(func() bool { return seen.ever(v1beta2.InstanceStateStopped) || seen.ever(v1beta2.InstanceStateError) },
		"the frontend was thought to be gone")
	before.State = v1beta2.InstanceStateRunning
	w.Servers.Put(after, before)
	f = w.frontendIs(f.Name, v1beta2.InstanceStateRunning)
	require.Equal(t, after, f.Status.InstanceManagerName)
	require.Equal(t, second.Status.StorageIP, f.Status.TargetIP)
	require.Empty(t, w.deletions(f.Name))
	require.Len(t, w.creations(f.Name), 1)
}
