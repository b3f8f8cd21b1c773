package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// ErrCannot is the error of a Lab that cannot do what it was asked for.
var ErrCannot = errors.New("this target cannot do that")

// Lab does to an instance manager what no call of its API does.
type Lab interface {
	// Can reports whether the lab can do it: restart or cut.
	Can(what string) bool
	// Restart ends the manager's process and starts it again at the same address; it may return before the manager answers.
	Restart(ctx context.Context, m *Manager) error
	// Cut cuts the node of the manager off from all other nodes, but not from this process' control of it; Join undoes that.
	Cut(ctx context.Context, m *Manager) error
	Join(ctx context.Context, m *Manager) error
}

// What a Lab may be able to do.
const (
	CanRestart = "restart"
	CanCut     = "cut"
)

// CommandLab runs commands of the operator in a shell, with the manager's address in MANAGER and its data engine in DATA_ENGINE.
type CommandLab struct{ RestartCommand, CutCommand, JoinCommand string }

// Can reports whether the commands were given.
func (l CommandLab) Can(what string) bool {
	return what == CanRestart && l.RestartCommand != "" || what == CanCut && l.CutCommand != "" && l.JoinCommand != ""
}

// Restart runs the command for it.
func (l CommandLab) Restart(ctx context.Context, m *Manager) error {
	return shell(ctx, l.RestartCommand, m)
}

// Cut runs the command for it.
func (l CommandLab) Cut(ctx context.Context, m *Manager) error { return shell(ctx, l.CutCommand, m) }

// Join runs the command for it.
func (l CommandLab) Join(ctx context.Context, m *Manager) error { return shell(ctx, l.JoinCommand, m) }

func shell(ctx context.Context, line string, m *Manager) error {
	if line == "" {
		return ErrCannot
	}
	command := exec.CommandContext(ctx, "sh", "-c", line)
	command.Env = append(os.Environ(), "MANAGER="+m.Host, "DATA_ENGINE="+m.Engine)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("running %q for %s: %w: %s", line, m.Host, err, bytes.TrimSpace(out))
	}
	return nil
}

// Control is the simulator's control endpoint. It is a Lab.
type Control struct{ URL string }

// Pod is an instance manager of the simulator.
type Pod struct{ Name, Node, DataEngine, IP string }

// Pods are the simulator's instance managers, by name.
func (c *Control) Pods(ctx context.Context) ([]Pod, error) {
	var out []Pod
	return out, c.do(ctx, http.MethodGet, "/v1/pods", nil, &out)
}

func (c *Control) podOf(ctx context.Context, m *Manager) (Pod, error) {
	pods, err := c.Pods(ctx)
	if err != nil {
		return Pod{}, err
	}
	for _, p := range pods {
		if p.IP == m.Host {
			return p, nil
		}
	}
	return Pod{}, fmt.Errorf("the simulator has no instance manager at %s", m.Host)
}

func (c *Control) nodeOf(ctx context.Context, m *Manager) (string, error) {
	p, err := c.podOf(ctx, m)
	return p.Node, err
}

// Can reports that the simulator can do everything.
func (c *Control) Can(string) bool { return true }

// Restart restarts the container of the manager's pod.
func (c *Control) Restart(ctx context.Context, m *Manager) error {
	p, err := c.podOf(ctx, m)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, "/v1/pods/"+p.Name+"/restart", map[string]any{}, nil)
}

// Cut cuts the node of the manager off.
func (c *Control) Cut(ctx context.Context, m *Manager) error { return c.setNode(ctx, m, "cut") }

// Join ends the cut.
func (c *Control) Join(ctx context.Context, m *Manager) error { return c.setNode(ctx, m, "up") }

func (c *Control) setNode(ctx context.Context, m *Manager, state string) error {
	node, err := c.nodeOf(ctx, m)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, "/v1/nodes/"+node+"/state", map[string]any{"state": state}, nil)
}

// do sends one request; 409 is I/O that waits, unless it reports that the I/O failed.
func (c *Control) do(ctx context.Context, method, path string, in, out any) error {
	body := io.Reader(http.NoBody)
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the simulator: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return fmt.Errorf("reading the simulator's answer: %w", err)
	case answer.StatusCode == http.StatusConflict && !bytes.Contains(raw, []byte("input/output error")):
		return fmt.Errorf("%w: %s", errWaits, strings.TrimSpace(string(raw)))
	case answer.StatusCode/100 != 2:
		return fmt.Errorf("the simulator answers %s: %s", answer.Status, bytes.TrimSpace(raw))
	case out == nil:
		return nil
	}
	return json.Unmarshal(raw, out)
}

// Put makes a v1 replica on a node as if somebody had started it before.
func (c *Control) Put(ctx context.Context, node, name string) error {
	return c.do(ctx, http.MethodPost, "/v1/instances", map[string]any{"instances": []map[string]any{{"node": node, "name": name,
		"type": "replica"}}}, nil)
}

// AddDevice puts an empty block device into a node.
func (c *Control) AddDevice(ctx context.Context, node, path string) error {
	return c.do(ctx, http.MethodPost, "/v1/devices", map[string]any{"node": node, "path": path}, nil)
}

// AddBackingFile puts a backing file whose first block is not empty into a node.
func (c *Control) AddBackingFile(ctx context.Context, node, path string, size int64) error {
	return c.do(ctx, http.MethodPost, "/v1/backing-images",
		map[string]any{"node": node, "path": path, "size": size, "blocks": map[string]string{"0": "of the backing file"}}, nil)
}
