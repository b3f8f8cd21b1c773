package instancecontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
)

// V2: an upgrade whose new server does not find the frontend's record does not wait for it: people are reported, and it is created again.
func TestAFrontendThatAnUpgradeLosesIsReportedAndCreatedAnew(t *testing.T) {
	w := newWorld(t, "lost-1", "lost-2")
	r, e, f := w.openV2("vol", "lost-1")
	require.NoError(t, status.MergeStatus(t.Context(), w.Admin, &v1beta2.Volume{ObjectMeta: w.meta("vol")},
		map[string]any{"kubernetesStatus": map[string]any{
			"namespace": "shop", "workloadsStatus": []any{map[string]any{"podName": "db-0"}}}}))
	second := w.target("vol-e-1", "vol", "lost-2", e)
	w.moveTo(f, second)
	w.moved(f, second)
	w.Set(setting.DefaultInstanceManagerImage, imageAfter)
	w.upgrade("lost-1")
	w.stop(e)
	w.engineIs(e.Name, v1beta2.InstanceStateStopped)
	w.spec(second, map[string]any{"replicaAddressMap": map[string]any{r.Name: nil, "vol-r-00000002": "10.0.0.9:10010"}})
	w.stop(r)
	w.replicaIs(r.Name, v1beta2.InstanceStateStopped)
	after := v1beta2.InstanceManagerName("lost-1", imageAfter, "v2")
	w.Eventually(func() bool { return w.holds(after, f.Name) }, "the frontend was never created again")
	f = w.frontendIs(f.Name, v1beta2.InstanceStateRunning)
	require.Equal(t, after, f.Status.InstanceManagerName)
	require.Equal(t, second.Status.StorageIP, f.Status.TargetIP, "where the volume's target is by now")
	c := conditions.Get(f.Status.Conditions, v1beta2.FrontendDeviceLost)
	require.NotNil(t, c)
	require.Equal(t, v1beta2.ReasonCreatedAnew, c.Reason)
	require.Contains(t, c.Message, "shop/db-0")
	w.stop(f)
	w.Eventually(func() bool {
		own := &v1beta2.EngineFrontend{}
		return w.Get(f.Name, own) && conditions.Get(own.Status.Conditions, v1beta2.FrontendDeviceLost) == nil
	}, "detached, it still reports it")
}

// V7: a node that was partitioned comes back with an engine and a frontend of a volume that runs elsewhere by now. Servers that tell no
// UUID leave both to im-monitor: no Orphan is made, and while they are there the node's instance manager is never replaced.
func TestWhatAReturningNodeBringsBackEndsInOrder(t *testing.T) {
	w := newWorld(t, "here-1", "back-1")
	w.Servers.Today(true)
	_, e, f := w.openV2("vol", "here-1")
	back := manager("back-1", "v2")
	w.Servers.Put(back, imclient.Instance{Name: e.Name, Type: v1beta2.InstanceTypeEngine, DataEngine: "v2",
		State: v1beta2.InstanceStateRunning, PortStart: 20001})
	w.Servers.Put(back, imclient.Instance{Name: f.Name, Type: v1beta2.InstanceTypeEngineFrontend, DataEngine: "v2",
		State:    v1beta2.InstanceStateRunning,
		Frontend: &imclient.Frontend{EngineName: e.Name, Kind: "spdk-tcp-blockdev", ActivePath: "10.0.0.7:20001"}})
	w.Eventually(func() bool { return !w.holds(back, f.Name) && !w.holds(back, e.Name) }, "what the node brought back never ended")
	var order []string
	for _, c := range w.Servers.Calls() {
		if c.Delete != nil {
			require.Equal(t, back, c.Manager, "what serves is not touched")
			order = append(order, c.Delete.Name)
		}
	}
	require.Equal(t, []string{f.Name, e.Name}, order)
	require.True(t, w.holds(manager("here-1", "v2"), e.Name) && w.holds(manager("here-1", "v2"), f.Name))
	var orphans v1beta2.OrphanList
	require.NoError(t, w.Admin.List(t.Context(), &orphans))
	for _, o := range orphans.Items {
		require.NotEqual(t, e.Name, o.Spec.Parameters[v1beta2.OrphanParameterInstanceName])
	}
}
