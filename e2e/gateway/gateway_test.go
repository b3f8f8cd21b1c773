package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Attach: true, Snapshots: true, Gateway: true, Flags: flags},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// plugin is a client that sends what the CSI plugin sends.
type plugin struct {
	t    *testing.T
	ctx  context.Context
	base string
}

func newPlugin(t *testing.T) plugin {
	t.Helper()
	ctx := harness.Empty(t, here, 4*time.Minute)
	p := plugin{t: t, ctx: ctx, base: here.Process(world.APIGateway).REST()}
	require.NoError(t, here.Wait(ctx, "the gateway", patience, func(context.Context) (string, error) {
		_, _, err := p.try(http.MethodGet, "/v1/schemas", nil)
		if err != nil {
			return err.Error(), nil
		}
		return "", nil
	}))
	return p
}

// try sends one request. The plugin gives up after ten seconds.
func (p plugin) try(method, path string, body any) (int, map[string]any, error) {
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || len(text) == 0 {
		return response.StatusCode, nil, err
	}
	answer := map[string]any{}
	if err := json.Unmarshal(text, &answer); err != nil {
		return response.StatusCode, nil, fmt.Errorf("%s: %w", text, err)
	}
	return response.StatusCode, answer, nil
}

// call sends a request that must succeed.
func (p plugin) call(method, path string, body any) map[string]any {
	p.t.Helper()
	code, answer, err := p.try(method, path, body)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, code, "%s %s: %v", method, path, answer["message"])
	return answer
}

// wait polls a volume until it is as wanted, as the plugin does.
func (p plugin) wait(volume, what string, holds func(map[string]any) bool) map[string]any {
	p.t.Helper()
	var last map[string]any
	require.NoError(p.t, here.Wait(p.ctx, what+" of "+volume, patience, func(context.Context) (string, error) {
		code, answer, err := p.try(http.MethodGet, "/v1/volumes/"+volume, nil)
		if err != nil || code == http.StatusNotFound {
			return "it is not there", err
		}
		if last = answer; holds(answer) {
			return "", nil
		}
		return fmt.Sprintf("it is %v on %v, ready %v %v", answer["state"], answer["controllers"], answer["ready"], answer["notReadyMessage"]), nil
	}))
	return last
}

// create is CreateVolume.
func (p plugin) create(name, engine string, more map[string]any) {
	p.t.Helper()
	code, _, err := p.try(http.MethodGet, "/v1/volumes/"+name, nil)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusNotFound, code)
	body := map[string]any{"name": name, "size": fmt.Sprint(world.VolumeSize), "accessMode": "rwo", "staleReplicaTimeout": 2880,
		"revisionCounterDisabled": true, "dataEngine": engine, "numberOfReplicas": 2, "links": nil, "actions": nil}
	for key, value := range more {
		body[key] = value
	}
	p.call(http.MethodPost, "/v1/volumes", body)
	p.wait(name, "a state", func(v map[string]any) bool { return v["state"] != "" && v["state"] != "creating" })
}

func ticketOf(volume, node string) string {
	sum := sha256.Sum256([]byte(volume + v1beta2.CSIDriver + node))
	return "csi-" + hex.EncodeToString(sum[:])
}

// publish is ControllerPublishVolume: it returns the volume once its device is on the node. Kubernetes' VolumeAttachment is there before: a
// ticket without one would be removed.
func (p plugin) publish(volume, node string) map[string]any {
	p.t.Helper()
	p.call(http.MethodGet, "/v1/nodes/"+node, nil)
	v := p.wait(volume, "readiness", func(v map[string]any) bool { return v["ready"] == true })
	require.Equal(p.t, "blockdev", v["frontend"])
	id := ticketOf(volume, node)
	require.NoError(p.t, here.AskAttachment(p.ctx, id, volume, node))
	p.call(http.MethodPost, "/v1/volumes/"+volume+"?action=attach",
		map[string]any{"hostId": node, "attacherType": v1beta2.AttacherCSI, "attachmentID": id})
	return p.wait(volume, "its device on "+node, func(v map[string]any) bool {
		return isSatisfied(v, id) && v["state"] == "attached" && deviceOn(v, node) != ""
	})
}

func isSatisfied(v map[string]any, id string) bool {
	attachments := v["volumeAttachment"].(map[string]any)["attachments"].(map[string]any)
	ticket, there := attachments[id].(map[string]any)
	return there && ticket["satisfied"] == true
}

// deviceOn returns the block device that a volume has on a node.
func deviceOn(v map[string]any, node string) string {
	for _, c := range v["controllers"].([]any) {
		controller := c.(map[string]any)
		if controller["hostId"] == node {
			return controller["endpoint"].(string)
		}
	}
	return ""
}

// unpublish is ControllerUnpublishVolume.
func (p plugin) unpublish(volume, node string) {
	p.t.Helper()
	id := ticketOf(volume, node)
	p.call(http.MethodPost, "/v1/volumes/"+volume+"?action=detach", map[string]any{"attachmentID": id, "hostId": node})
	p.wait(volume, "no ticket", func(v map[string]any) bool {
		_, there := v["volumeAttachment"].(map[string]any)["attachments"].(map[string]any)[id]
		return !there
	})
	require.NoError(p.t, here.EndAttachment(p.ctx, id))
}

// remove is DeleteVolume.
func (p plugin) remove(volume string) {
	p.t.Helper()
	p.call(http.MethodDelete, "/v1/volumes/"+volume, nil)
	require.NoError(p.t, here.Wait(p.ctx, "the end of "+volume, patience, func(context.Context) (string, error) {
		code, v, err := p.try(http.MethodGet, "/v1/volumes/"+volume, nil)
		if err != nil || code == http.StatusNotFound {
			return "", err
		}
		return fmt.Sprintf("it is %v", v["state"]), nil
	}))
}

// A claim's whole life as far as controllers take part: created, published, written, moved, expanded, copied, deleted.
func TestAVolumeLivesByTheCallsOfTheCSIPlugin(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		p := newPlugin(t)
		name := world.Unique("pvc")
		p.create(name, engine, nil)
		v := p.publish(name, near)
		require.NotEmpty(t, deviceOn(v, near))
		require.NoError(t, here.Write(p.ctx, name, 1, "before the move"))

		p.unpublish(name, near)
		p.publish(name, far)
		require.NoError(t, here.Verify(p.ctx, name))
		text, err := here.Read(p.ctx, name, 1)
		require.NoError(t, err)
		require.Equal(t, "before the move", text)

		// ControllerExpandVolume: it needs exactly one controller, and waits for its size.
		size := fmt.Sprint(2 * world.VolumeSize)
		require.Equal(t, size, p.call(http.MethodPost, "/v1/volumes/"+name+"?action=expand", map[string]any{"size": size})["size"])
		p.wait(name, "the larger size", func(v map[string]any) bool {
			controllers := v["controllers"].([]any)
			c := controllers[0].(map[string]any)
			return len(controllers) == 1 && v["size"] == size && c["size"] == size && c["isExpanding"] == false
		})

		// CreateSnapshot of type snap, and a volume from it.
		snapshot := world.Unique("snapshot")
		p.call(http.MethodPost, "/v1/volumes/"+name+"?action=snapshotCRCreate", map[string]any{"name": snapshot})
		require.NoError(t, here.Wait(p.ctx, "snapshot "+snapshot, patience, func(context.Context) (string, error) {
			s := p.call(http.MethodPost, "/v1/volumes/"+name+"?action=snapshotCRGet", map[string]any{"name": snapshot})
			if s["readyToUse"] == true && s["creationTime"] != "" {
				return "", nil
			}
			return fmt.Sprintf("ready %v, error %v", s["readyToUse"], s["error"]), nil
		}))
		copied := world.Unique("copy")
		p.create(copied, engine, map[string]any{"dataSource": "snap://" + name + "/" + snapshot, "size": size})
		p.publish(copied, near)
		text, err = here.Read(p.ctx, copied, 1)
		require.NoError(t, err)
		require.Equal(t, "before the move", text)
		p.unpublish(copied, near)
		p.remove(copied)

		p.call(http.MethodPost, "/v1/volumes/"+name+"?action=snapshotCRDelete", map[string]any{"name": snapshot})
		p.unpublish(name, far)
		p.remove(name)
	})
}

// The plugin expands a volume that is detached: it needs its one controller all the same.
func TestADetachedVolumeHasItsControllerAndExpands(t *testing.T) {
	p := newPlugin(t)
	name := world.Unique("pvc")
	p.create(name, v1beta2.DataEngineV1, nil)
	v := p.wait(name, "one controller", func(v map[string]any) bool { return len(v["controllers"].([]any)) == 1 })
	require.Equal(t, "detached", v["state"])
	size := fmt.Sprint(2 * world.VolumeSize)
	p.call(http.MethodPost, "/v1/volumes/"+name+"?action=expand", map[string]any{"size": size})
	p.wait(name, "the larger size", func(v map[string]any) bool {
		c := v["controllers"].([]any)[0].(map[string]any)
		return v["size"] == size && c["size"] == size && c["isExpanding"] == false
	})
	p.remove(name)
}
