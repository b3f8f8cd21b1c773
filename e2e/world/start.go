package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit/cluster"
)

// simulate starts the simulator with the World's nodes.
func (w *World) simulate(ctx, _ context.Context) error {
	kubeconfig, err := w.AdminKubeconfig()
	if err != nil {
		return err
	}
	addresses, err := freeAddresses(1)
	if err != nil {
		return err
	}
	address := addresses[0]
	args := []string{"--kubeconfig", kubeconfig, "--namespace", w.Namespace, "--control", address,
		"--engine-image", EngineImage + "=12"}
	times, err := w.times(ctx, dataPlaneBinary())
	if err != nil {
		return err
	}
	args = append(args, times...)
	if w.options.Record {
		args = append(args, "--port-offset", strconv.Itoa(PortOffset))
	}
	if w.options.TLS {
		if err := w.certificates(ctx); err != nil {
			return err
		}
		args = append(args, "--tls-dir", w.tlsDirectory())
	}
	w.control = "http://" + address
	if _, err := w.run(&Process{Name: dataPlaneBinary(), binary: dataPlaneBinary(), args: append(args, w.dataPlaneFlags()...)}); err != nil {
		return err
	}
	if err := w.Wait(ctx, "the "+dataPlaneBinary(), 30*time.Second, func(ctx context.Context) (string, error) {
		return "", w.ctl(ctx, http.MethodGet, "/v1/status", nil, nil)
	}); err != nil {
		return err
	}
	if w.nodesLast() {
		return nil
	}
	return w.addNodes(ctx)
}

// nodesLast reports whether the nodes come after im-monitor leads. What a leader finds may still execute a call of the leader before it, so
// that it loads no disk there for three minutes; a container counts as older if it starts in the second in which the leader began, which no
// node outside of a simulator can.
func (w *World) nodesLast() bool {
	return w.options.RealTimes && !w.options.NoControllers && w.options.DataFrom == ""
}

func (w *World) addNodes(ctx context.Context) error {
	w.options.Log("%s runs %d nodes", dataPlaneBinary(), len(w.options.Nodes))
	return w.ctl(ctx, http.MethodPost, "/v1/nodes", map[string]any{"names": w.options.Nodes}, nil)
}

// leads waits until im-monitor leads, and until the second in which it began is over.
func (w *World) leads(ctx context.Context) error {
	if err := w.Wait(ctx, IMMonitor+" to lead", time.Minute, func(ctx context.Context) (string, error) {
		holder, err := w.LeaseHolder(ctx, IMMonitor)
		if err == nil && holder == "" {
			return "nobody leads", nil
		}
		return "", err
	}); err != nil {
		return err
	}
	return w.Pass(ctx, 2*time.Second)
}

func (w *World) tlsDirectory() string { return filepath.Join(w.Dir, "tls") }

// certificates lets the simulator create a certificate authority and a certificate for both sides.
func (w *World) certificates(ctx context.Context) error {
	command := exec.CommandContext(ctx, filepath.Join(w.Dir, SimulatorBinary), "certs", w.tlsDirectory())
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("making certificates: %w\n%s", err, out)
	}
	return nil
}

// startControllers starts one process of each controller.
func (w *World) startControllers(ctx, _ context.Context) error {
	if w.options.NoControllers {
		return nil
	}
	for _, controller := range w.Controllers() {
		if _, err := w.StartController(ctx, controller, ""); err != nil {
			return err
		}
		w.options.Log("%s runs under its own ServiceAccount", controller)
	}
	if w.nodesLast() {
		if err := w.leads(ctx); err != nil {
			return err
		}
		if err := w.addNodes(ctx); err != nil {
			return err
		}
	}
	if !w.options.Disks {
		return nil
	}
	if err := w.startDisks(ctx); err != nil {
		return err
	}
	return w.giveDevices(ctx)
}

// ready waits until every node is ready and every instance manager runs.
func (w *World) ready(ctx, _ context.Context) error {
	if w.options.NoControllers {
		return nil
	}
	if err := w.WaitManagers(ctx, 2*time.Minute+time.Duration(len(w.options.Nodes))*500*time.Millisecond); err != nil {
		return err
	}
	if w.options.Attach {
		if err := w.deployDefault(ctx); err != nil {
			return err
		}
	}
	w.options.Log("%d nodes are ready, %d instance managers run", len(w.options.Nodes), w.managers())
	return nil
}

// WaitManagers waits until every node is ready and all of its instance managers run.
func (w *World) WaitManagers(ctx context.Context, within time.Duration) error {
	return w.Wait(ctx, "the instance managers", within, func(ctx context.Context) (string, error) {
		var nodes v1beta2.NodeList
		if err := w.List(ctx, &nodes); err != nil {
			return "", err
		}
		ready := 0
		for _, n := range nodes.Items {
			if isReady(n) && diskUsable(n) {
				ready++
			}
		}
		var managers v1beta2.InstanceManagerList
		if err := w.List(ctx, &managers); err != nil {
			return "", err
		}
		running := 0
		for _, m := range managers.Items {
			if m.Status.CurrentState == v1beta2.InstanceManagerStateRunning {
				running++
			}
		}
		if ready < len(w.options.Nodes) || running < w.managers() {
			return fmt.Sprintf("%d of %d nodes are ready, %d of %d instance managers run", ready, len(w.options.Nodes), running,
				w.managers()), nil
		}
		return "", nil
	})
}

// diskUsable reports whether the node's v2 disk, if there is v2, is loaded and takes replicas. Its Node marks the device as new.
func diskUsable(n v1beta2.Node) bool {
	if IsReal() {
		return len(n.Status.DiskStatus) > 0
	}
	return conditions.IsTrue(n.Status.DiskStatus[diskName].Conditions, v1beta2.DiskSchedulable)
}

// WaitReady waits until the process reports that its caches are synced.
func (w *World) WaitReady(ctx context.Context, process *Process, within time.Duration) error {
	return w.Wait(ctx, process.Name+" to be ready", within, func(ctx context.Context) (string, error) {
		code, _, err := w.Readiness(ctx, process)
		if err != nil {
			return "", err
		}
		if code != http.StatusOK {
			return fmt.Sprintf("it answers %d %s", code, http.StatusText(code)), nil
		}
		return "", nil
	})
}

// Readiness is what the process answers at /readyz.
func (w *World) Readiness(ctx context.Context, process *Process) (code int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+process.health+"/readyz", nil)
	if err != nil {
		return 0, "", fmt.Errorf("requesting /readyz: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", fmt.Errorf("requesting /readyz: %w", err)
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), errors.Join(err, response.Body.Close())
}

// activity counts the writes and calls of the controllers so far.
func (w *World) activity() int {
	return w.API.Counts().Sum(func(r record.Request) bool { return r.Kind == record.KindWrite }) +
		w.DataPlane.Counts().Sum(func(m record.Method) bool { return !m.Stream })
}

// freeAddresses are loopback addresses with ports that stay free: a controller that is killed gets its own back.
func freeAddresses(count int) ([]string, error) {
	ports, err := cluster.FreePorts(count)
	if err != nil {
		return nil, fmt.Errorf("choosing ports: %w", err)
	}
	var out []string
	for _, port := range ports {
		out = append(out, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	return out, nil
}
