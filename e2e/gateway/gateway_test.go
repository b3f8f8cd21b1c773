package gateway

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	near     = scenarios.Near
	far      = scenarios.Far
	patience = scenarios.Patience
)

// here is the one World of this test binary; every test leaves it empty.
var here *world.World

func TestMain(m *testing.M) {
	// Kubernetes' csi-attacher calls the plugin; the test plays both, so that attach-controller does not attach for Kubernetes.
	flags := map[string][]string{world.AttachController: {"--csi-attach=false"},
		world.APIGateway: {"--shutdown-delay=4s", "--requests-per-second=100000", "--request-burst=100000"}}
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Attach: true, Snapshots: true, Gateway: true, Disks: true, Flags: flags},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// plugin is a client that sends what the CSI plugin sends; a call that fails ends its test.
type plugin struct {
	Client
	t   *testing.T
	ctx context.Context
}

func newPlugin(t *testing.T) plugin {
	t.Helper()
	p := plugin{Client: Client{World: here, Within: patience}, t: t, ctx: harness.Empty(t, here, 4*time.Minute)}
	require.NoError(t, here.Wait(p.ctx, "the gateway", patience, func(ctx context.Context) (string, error) {
		if _, _, err := p.Try(ctx, http.MethodGet, "/v1/schemas", nil); err != nil {
			return err.Error(), nil
		}
		return "", nil
	}))
	return p
}

func (p plugin) act(volume, action string, input map[string]any) Resource {
	p.t.Helper()
	answer, err := p.Act(p.ctx, volume, action, input)
	require.NoError(p.t, err)
	return answer
}

func (p plugin) create(name, engine string, more map[string]any) {
	p.t.Helper()
	require.NoError(p.t, p.Create(p.ctx, name, engine, more))
}

// publish plays Kubernetes as well, which makes the VolumeAttachment before it lets its csi-attacher call the plugin.
func (p plugin) publish(volume, node string) Resource {
	p.t.Helper()
	require.NoError(p.t, here.AskAttachment(p.ctx, TicketOf(volume, node), volume, node))
	v, err := p.Publish(p.ctx, volume, node)
	require.NoError(p.t, err)
	require.Equal(p.t, "blockdev", v["frontend"])
	return v
}

func (p plugin) unpublish(volume, node string) {
	p.t.Helper()
	require.NoError(p.t, p.Unpublish(p.ctx, volume, node))
	require.NoError(p.t, here.EndAttachment(p.ctx, TicketOf(volume, node)))
}

func (p plugin) remove(volume string) {
	p.t.Helper()
	require.NoError(p.t, p.Remove(p.ctx, volume))
}

// A claim's whole life as far as controllers take part: created, published, written, moved, expanded, copied, deleted.
func TestAVolumeLivesByTheCallsOfTheCSIPlugin(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		p := newPlugin(t)
		name := world.Unique("pvc")
		p.create(name, engine, nil)
		v := p.publish(name, near)
		require.NotEmpty(t, DeviceOn(v, near))
		require.NoError(t, here.Write(p.ctx, name, 1, "before the move"))

		p.unpublish(name, near)
		p.publish(name, far)
		require.NoError(t, here.Verify(p.ctx, name))
		text, err := here.Read(p.ctx, name, 1)
		require.NoError(t, err)
		require.Equal(t, "before the move", text)

		require.NoError(t, p.Expand(p.ctx, name, 2*world.VolumeSize))

		// CreateSnapshot of type snap, and a volume from it.
		snapshot := world.Unique("snapshot")
		p.act(name, "snapshotCRCreate", map[string]any{"name": snapshot})
		require.NoError(t, here.Wait(p.ctx, "snapshot "+snapshot, patience, func(context.Context) (string, error) {
			s := p.act(name, "snapshotCRGet", map[string]any{"name": snapshot})
			if s["readyToUse"] == true && s["creationTime"] != "" {
				return "", nil
			}
			return fmt.Sprintf("ready %v, error %v", s["readyToUse"], s["error"]), nil
		}))
		copied := world.Unique("copy")
		p.create(copied, engine, map[string]any{"dataSource": "snap://" + name + "/" + snapshot,
			"size": fmt.Sprint(2 * world.VolumeSize)})
		p.publish(copied, near)
		text, err = here.Read(p.ctx, copied, 1)
		require.NoError(t, err)
		require.Equal(t, "before the move", text)
		p.unpublish(copied, near)
		p.remove(copied)

		p.act(name, "snapshotCRDelete", map[string]any{"name": snapshot})
		p.unpublish(name, far)
		p.remove(name)
	})
}

// The plugin expands a volume that is detached: it needs its one controller all the same.
func TestADetachedVolumeHasItsControllerAndExpands(t *testing.T) {
	p := newPlugin(t)
	name := world.Unique("pvc")
	p.create(name, v1beta2.DataEngineV1, nil)
	v, err := p.Wait(p.ctx, name, "one controller", func(v Resource) bool { return len(v["controllers"].([]any)) == 1 })
	require.NoError(t, err)
	require.Equal(t, "detached", v["state"])
	require.NoError(t, p.Expand(p.ctx, name, 2*world.VolumeSize))
	p.remove(name)
}
