package instancecontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// V7: a node that was cut off comes back with an engine and a frontend of a volume that runs elsewhere by now. Servers that tell no UUID leave both to
// im-monitor: no Orphan is made, and while they are there the node's instance manager is never replaced.
func TestWhatAReturningNodeBringsBackEndsInOrder(t *testing.T) {
	w := newWorld(t, "here-1", "back-1")
	w.Servers.Today(true)
	_, e, f := w.openV2("vol", "here-1")
	back := manager("back-1", "v2")
	w.Servers.Put(back, imclient.Instance{Name: e.Name, Type: v1beta2.InstanceTypeEngine, DataEngine: "v2", State: v1beta2.InstanceStateRunning, PortStart: 20001})
	w.Servers.Put(back, imclient.Instance{Name: f.Name, Type: v1beta2.InstanceTypeEngineFrontend, DataEngine: "v2", State: v1beta2.InstanceStateRunning,
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
