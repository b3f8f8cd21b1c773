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
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Resource is an answer of the API.
type Resource map[string]any

// Client sends what Longhorn's CSI plugin sends, and waits as the plugin does.
type Client struct {
	World *world.World
	// Within is how long anything may take that is waited for.
	Within time.Duration
}

// Try sends one request. The plugin gives up after ten seconds.
func (c Client) Try(ctx context.Context, method, path string, body any) (int, Resource, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return 0, nil, fmt.Errorf("encoding a request: %w", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.World.Process(world.APIGateway).REST()+path, bytes.NewReader(content))
	if err != nil {
		return 0, nil, fmt.Errorf("making a request: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("asking the gateway: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	if len(text) == 0 {
		return response.StatusCode, nil, nil
	}
	answer := Resource{}
	if err := json.Unmarshal(text, &answer); err != nil {
		return response.StatusCode, nil, fmt.Errorf("%s: %w", text, err)
	}
	return response.StatusCode, answer, nil
}

// Call sends a request that has to succeed.
func (c Client) Call(ctx context.Context, method, path string, body any) (Resource, error) {
	code, answer, err := c.Try(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if code != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %d: %v", method, path, code, answer["message"])
	}
	return answer, nil
}

// Act calls an action of a volume.
func (c Client) Act(ctx context.Context, volume, action string, input map[string]any) (Resource, error) {
	return c.Call(ctx, http.MethodPost, "/v1/volumes/"+volume+"?action="+action, input)
}

// Wait polls a volume until it is as wanted, and returns it.
func (c Client) Wait(ctx context.Context, volume, what string, holds func(Resource) bool) (Resource, error) {
	var last Resource
	err := c.World.Wait(ctx, what+" of "+volume, c.Within, func(ctx context.Context) (string, error) {
		code, answer, err := c.Try(ctx, http.MethodGet, "/v1/volumes/"+volume, nil)
		if err != nil || code == http.StatusNotFound {
			return "it is not there", err
		}
		if last = answer; holds(answer) {
			return "", nil
		}
		return fmt.Sprintf("it is %v on %v, ready %v %v", answer["state"], answer["controllers"], answer["ready"],
			answer["notReadyMessage"]), nil
	})
	return last, err
}

// Create is CreateVolume; more has further keys of the new volume.
func (c Client) Create(ctx context.Context, name, engine string, more map[string]any) error {
	code, _, err := c.Try(ctx, http.MethodGet, "/v1/volumes/"+name, nil)
	if err != nil {
		return err
	}
	if code != http.StatusNotFound {
		return fmt.Errorf("volume %s was there before: %d", name, code)
	}
	body := map[string]any{"name": name, "size": fmt.Sprint(world.VolumeSize), "accessMode": "rwo", "staleReplicaTimeout": 2880,
		"revisionCounterDisabled": true, "dataEngine": engine, "numberOfReplicas": 2, "links": nil, "actions": nil}
	for key, value := range more {
		body[key] = value
	}
	if _, err := c.Call(ctx, http.MethodPost, "/v1/volumes", body); err != nil {
		return err
	}
	_, err = c.Wait(ctx, name, "a state", func(v Resource) bool { return v["state"] != "" && v["state"] != "creating" })
	return err
}

// TicketOf returns the name of the VolumeAttachment of Kubernetes for a volume and a node, which is also the id of its ticket.
func TicketOf(volume, node string) string {
	sum := sha256.Sum256([]byte(volume + v1beta2.CSIDriver + node))
	return "csi-" + hex.EncodeToString(sum[:])
}

// Publish is ControllerPublishVolume: it returns the volume once its device is on the node. Kubernetes' VolumeAttachment has to be there:
// a ticket without it would be removed.
func (c Client) Publish(ctx context.Context, volume, node string) (Resource, error) {
	if _, err := c.Call(ctx, http.MethodGet, "/v1/nodes/"+node, nil); err != nil {
		return nil, err
	}
	if _, err := c.Wait(ctx, volume, "readiness", func(v Resource) bool { return v["ready"] == true }); err != nil {
		return nil, err
	}
	id := TicketOf(volume, node)
	if _, err := c.Act(ctx, volume, "attach", map[string]any{"hostId": node, "attacherType": v1beta2.AttacherCSI,
		"attachmentID": id}); err != nil {
		return nil, err
	}
	return c.Wait(ctx, volume, "its device on "+node, func(v Resource) bool {
		return isSatisfied(v, id) && v["state"] == "attached" && DeviceOn(v, node) != ""
	})
}

func tickets(v Resource) map[string]any {
	return v["volumeAttachment"].(map[string]any)["attachments"].(map[string]any)
}

func isSatisfied(v Resource, id string) bool {
	ticket, there := tickets(v)[id].(map[string]any)
	return there && ticket["satisfied"] == true
}

// DeviceOn returns the block device that a volume has on a node.
func DeviceOn(v Resource, node string) string {
	for _, c := range v["controllers"].([]any) {
		controller := c.(map[string]any)
		if controller["hostId"] == node {
			return controller["endpoint"].(string)
		}
	}
	return ""
}

// Unpublish is ControllerUnpublishVolume.
func (c Client) Unpublish(ctx context.Context, volume, node string) error {
	id := TicketOf(volume, node)
	if _, err := c.Act(ctx, volume, "detach", map[string]any{"attachmentID": id, "hostId": node}); err != nil {
		return err
	}
	_, err := c.Wait(ctx, volume, "no ticket", func(v Resource) bool {
		_, there := tickets(v)[id]
		return !there
	})
	return err
}

// Expand is ControllerExpandVolume: it needs exactly one controller, and waits for its size.
func (c Client) Expand(ctx context.Context, volume string, bytes int64) error {
	size := fmt.Sprint(bytes)
	answer, err := c.Act(ctx, volume, "expand", map[string]any{"size": size})
	if err != nil {
		return err
	}
	if answer["size"] != size {
		return fmt.Errorf("volume %s was to have %s bytes: %v", volume, size, answer["size"])
	}
	_, err = c.Wait(ctx, volume, "the larger size", func(v Resource) bool {
		controllers := v["controllers"].([]any)
		if len(controllers) != 1 {
			return false
		}
		controller := controllers[0].(map[string]any)
		return v["size"] == size && controller["size"] == size && controller["isExpanding"] == false
	})
	return err
}

// Remove is DeleteVolume.
func (c Client) Remove(ctx context.Context, volume string) error {
	if _, err := c.Call(ctx, http.MethodDelete, "/v1/volumes/"+volume, nil); err != nil {
		return err
	}
	return c.World.Wait(ctx, "the end of "+volume, c.Within, func(ctx context.Context) (string, error) {
		code, v, err := c.Try(ctx, http.MethodGet, "/v1/volumes/"+volume, nil)
		if err != nil || code == http.StatusNotFound {
			return "", err
		}
		return fmt.Sprintf("it is %v", v["state"]), nil
	})
}
