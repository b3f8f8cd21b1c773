package instancemanagercontroller

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
)

// slow is an inventory of a server on which nothing runs. While its list is begun, something else happens.
type slow struct {
	inventory.Store
	snapshot  inventory.Snapshot
	meanwhile func()
}

func (s slow) Fresh(context.Context, string) (*inventory.Snapshot, error) {
	s.meanwhile()
	return &s.snapshot, nil
}

func (s slow) Latest(string) (*inventory.Snapshot, bool) { return &s.snapshot, true }

func (slow) Set(inventory.Target) {}

func (slow) Client(string) (imclient.Client, inventory.Epoch, bool) {
	return nil, inventory.Epoch{}, false
}

// An upgrade that is rolled back while lists are read does not end the pod any more.
func TestAReplacedPodIsDeletedForTheUpgradeThatWasEvaluated(t *testing.T) {
	admin := testkit.Admin(t)
	set := func(t *testing.T, u *v1beta2.NodeDataEngineUpgrade, state string) {
		t.Helper()
		u.Status.State = state
		require.NoError(t, admin.Status().Update(t.Context(), u))
	}
	for name, c := range map[string]struct {
		meanwhile func(*testing.T, *v1beta2.NodeDataEngineUpgrade)
		deleted   bool
	}{
		"nothing changes": {func(*testing.T, *v1beta2.NodeDataEngineUpgrade) {}, true},
		"it rolls back": {func(t *testing.T, u *v1beta2.NodeDataEngineUpgrade) {
			set(t, u, v1beta2.UpgradeStateRollingBack)
		}, false},
		"it ends": {func(t *testing.T, u *v1beta2.NodeDataEngineUpgrade) { set(t, u, v1beta2.UpgradeStateError) }, false},
		"it is gone": {func(t *testing.T, u *v1beta2.NodeDataEngineUpgrade) {
			require.NoError(t, admin.Delete(t.Context(), u))
		}, false},
		"another has its name": {func(t *testing.T, u *v1beta2.NodeDataEngineUpgrade) {
			require.NoError(t, admin.Delete(t.Context(), u))
			another := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: u.Name}, Spec: u.Spec}
			require.NoError(t, admin.Create(t.Context(), another))
			another.Status = u.Status
			require.NoError(t, admin.Status().Update(t.Context(), another))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			named := metav1.ObjectMeta{Namespace: testkit.Namespace(t), Name: "im-1"}
			im := &v1beta2.InstanceManager{ObjectMeta: named, Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", Image: "old",
				DataEngine: v1beta2.DataEngineV2, Type: v1beta2.InstanceManagerTypeAIO}}
			require.NoError(t, admin.Create(t.Context(), im))
			pod := &corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			require.NoError(t, admin.Create(t.Context(), pod))
			u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: named.Namespace, Name: "upgrade-node-1"},
				Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1", DataEngine: v1beta2.DataEngineV2, InstanceManagerImage: "new",
					DataEngineUpgradeManager: "upgrade"}}
			require.NoError(t, admin.Create(t.Context(), u))
			u.Status.OldInstanceManager = &v1beta2.InstanceManagerReference{Name: im.Name, UID: string(im.UID)}
			set(t, u, v1beta2.UpgradeStateUpgradingInstanceManager)

			server := slow{snapshot: inventory.Snapshot{Target: inventory.Target{PodUID: pod.UID}, Settled: true},
				meanwhile: func() { c.meanwhile(t, u) }}
			s := &reconciler{rt: &runkit.Runtime{Client: admin, Uncached: admin, Namespace: named.Namespace, Clock: clock.RealClock{},
				Recorder: events.NewFakeRecorder(9), Log: logr.Discard()},
				store: server, written: kube.Written{Clock: clock.RealClock{}}}
			w := instancemanager.World{Now: time.Now(), Options: instancemanager.DefaultOptions(), InstanceManager: im, Pod: pod,
				Kubernetes: &node.Kubernetes{Ready: true}, Node: &v1beta2.Node{Spec: v1beta2.NodeSpec{UpgradeRequested: true}},
				Upgrade: upgradeFrom(u)}
			w.Pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1",
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
			w.Inventory = s.inventoryOf(w, &server.snapshot, true)
			result, err := s.carryOut(t.Context(), w)
			require.NoError(t, err)
			err = admin.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{})
			require.NoError(t, client.IgnoreNotFound(err))
			require.Equal(t, c.deleted, err != nil)
			require.Equal(t, c.deleted, result.RequeueAfter == 0, "it is decided again soon")
		})
	}
}
