package inventory

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheMetricsTellWhatIsKnown(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.server.change(false, func(m map[string]Instance) { m["r-1"], m["r-2"] = running("r-1", "u1"), running("r-2", "u2") })
		b.Set(b.target)
		b.after(time.Second)
		require.NoError(t, testutil.CollectAndCompare(b.Inventory, strings.NewReader(`
# HELP drover_im_monitor_instance_managers Instance managers by whether their inventory is known: known, unknown.
# TYPE drover_im_monitor_instance_managers gauge
drover_im_monitor_instance_managers{inventory="known"} 1
drover_im_monitor_instance_managers{inventory="unknown"} 0
# HELP drover_im_monitor_instances Runtime instances in all known inventories.
# TYPE drover_im_monitor_instances gauge
drover_im_monitor_instances 2
`)))
		b.server.crash(true)
		b.after(time.Second)
		require.NoError(t, testutil.CollectAndCompare(b.Inventory, strings.NewReader(`
# HELP drover_im_monitor_instance_managers Instance managers by whether their inventory is known: known, unknown.
# TYPE drover_im_monitor_instance_managers gauge
drover_im_monitor_instance_managers{inventory="known"} 0
drover_im_monitor_instance_managers{inventory="unknown"} 1
`), "drover_im_monitor_instance_managers"))
	})
}
