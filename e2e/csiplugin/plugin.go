// Package csiplugin runs Longhorn's own CSI plugin and Kubernetes' sidecars beside a World, as the manifests in deploy/csi run them in a
// cluster: with their arguments and the rights of their accounts. It needs root.
package csiplugin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cluster"
)

// accountPrefix begins the names of the ServiceAccounts in deploy/csi.
const accountPrefix = "drover-csi-"

// Plugin is the CSI plugin of a node.
type Plugin struct {
	// Socket is the path of its CSI socket, Log the path of its log.
	Socket, Log string

	command *exec.Cmd
}

// Prepare creates what deploy/csi has beside processes, and the settings that the plugin reads from the API server.
func Prepare(ctx context.Context, w *world.World) error {
	if err := w.InstallIdentities(ctx, filepath.Join("deploy", "csi")); err != nil {
		return err
	}
	for name, value := range map[string]string{"allow-empty-node-selector-volume": "true", "allow-empty-disk-selector-volume": "true",
		"storage-over-provisioning-percentage": "100", "csi-allowed-topology-keys": ""} {
		setting := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Value: value}
		if err := client.IgnoreAlreadyExists(w.Admin.Create(ctx, setting)); err != nil {
			return fmt.Errorf("creating setting %s: %w", name, err)
		}
	}
	return nil
}

// inPod lets the plugin see the token of its account at the same path as in its pod, and a /dev of its own, for the devices of tests.
const inPod = `set -e
mount -t tmpfs none /run && mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
mount --bind "$0" /var/run/secrets/kubernetes.io/serviceaccount
mkdir -p "$1" && mount -t tmpfs none "$1" && mkdir "$1"/longhorn
for d in null zero full random urandom; do touch "$1"/$d && mount --bind /dev/$d "$1"/$d; done
mount --rbind "$1" /dev
shift && exec "$@"`

// Start runs the plugin of a node in a mount namespace of its own, and waits until it answers.
func Start(ctx context.Context, w *world.World, program, node string) (*Plugin, error) {
	secret, err := writeToken(ctx, w)
	if err != nil {
		return nil, err
	}
	p := &Plugin{Socket: filepath.Join(w.Dir, "csi-"+node+".sock"), Log: filepath.Join(w.Dir, "plugin-"+node+".log")}
	log, err := os.Create(p.Log)
	if err != nil {
		return nil, fmt.Errorf("creating the log of the plugin: %w", err)
	}
	args, err := readArguments("daemonset.yaml", "longhorn-csi-plugin")
	if err != nil {
		return nil, err
	}
	args = replaceFlags(args[1:], map[string]string{"--nodeid": node, "--endpoint": "unix://" + p.Socket,
		"--manager-url": w.Process(world.APIGateway).REST() + "/v1"})
	p.command = exec.CommandContext(ctx, "unshare", append([]string{"--mount", "sh", "-c", inPod, secret,
		filepath.Join(w.Dir, "dev-"+node), program}, args...)...)
	host, port, _ := strings.Cut(strings.TrimPrefix(w.Config.Host, "https://"), ":")
	p.command.Env = append(os.Environ(), "POD_NAMESPACE="+w.Namespace, "KUBERNETES_SERVICE_HOST="+host, "KUBERNETES_SERVICE_PORT="+port)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the plugin: %w", err)
	}
	return p, w.Wait(ctx, "the plugin of "+node, time.Minute, func(context.Context) (string, error) {
		if _, err := os.Stat(p.Socket); err != nil {
			return err.Error(), nil
		}
		return "", nil
	})
}

// Stop ends the plugin, and its mounts with it.
func (p *Plugin) Stop() {
	_ = p.command.Process.Kill() // it has ended already, or ends now
	_ = p.command.Wait()
}

// Inside returns the path under which this process sees a path of the plugin's mount namespace.
func (p *Plugin) Inside(path string) string {
	return filepath.Join(fmt.Sprintf("/proc/%d/root", p.command.Process.Pid), path)
}

// MakeDevice makes the plain file that plays the block device of a volume on the plugin's node; it contains the name of the volume.
func (p *Plugin) MakeDevice(volume string) error {
	if err := os.WriteFile(p.Inside("/dev/longhorn/"+volume), []byte(volume), 0o600); err != nil {
		return fmt.Errorf("making the file that plays a device: %w", err)
	}
	return nil
}

// RemoveDevice removes the file that MakeDevice made.
func (p *Plugin) RemoveDevice(volume string) error {
	if err := os.Remove(p.Inside("/dev/longhorn/" + volume)); err != nil {
		return fmt.Errorf("removing the file that plays a device: %w", err)
	}
	return nil
}

// StartSidecar runs a sidecar beside a plugin, such as csi-provisioner, as the account and with the arguments of its Deployment.
func StartSidecar(ctx context.Context, w *world.World, name, program string, beside *Plugin) (stop func(), err error) {
	kubeconfig, err := w.AccountKubeconfig(ctx, accountPrefix+name)
	if err != nil {
		return nil, err
	}
	args, err := readArguments("deployment.yaml", "csi-"+name)
	if err != nil {
		return nil, err
	}
	args = append(replaceFlags(args, map[string]string{"--csi-address": beside.Socket, "--http-endpoint": "127.0.0.1:0",
		"--leader-election-namespace": w.Namespace}), "--kubeconfig="+kubeconfig)
	log, err := os.Create(filepath.Join(w.Dir, "csi-"+name+".log"))
	if err != nil {
		return nil, fmt.Errorf("creating the log of csi-%s: %w", name, err)
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "POD_NAME=csi-"+name, "POD_NAMESPACE="+w.Namespace)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting csi-%s: %w", name, err)
	}
	return func() {
		_ = command.Process.Kill() // it has ended already, or ends now
		_ = command.Wait()
	}, nil
}

// writeToken writes the files of the plugin's account as a pod has them, and returns their directory.
func writeToken(ctx context.Context, w *world.World) (string, error) {
	token, err := w.Token(ctx, accountPrefix+"plugin")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(w.Dir, "serviceaccount")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating the directory of the token: %w", err)
	}
	for name, content := range map[string][]byte{"token": []byte(token), "ca.crt": w.Config.CAData, "namespace": []byte(w.Namespace)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return "", fmt.Errorf("writing the token: %w", err)
		}
	}
	return dir, nil
}

// workload has the common part of a Deployment and a DaemonSet.
type workload struct {
	Spec struct{ Template corev1.PodTemplateSpec }
}

// readArguments returns the arguments of a container in a file of deploy/csi.
func readArguments(file, container string) ([]string, error) {
	root, err := cluster.SourceRoot()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy", "csi", file))
	if err != nil {
		return nil, fmt.Errorf("reading a manifest: %w", err)
	}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		var object workload
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, c := range object.Spec.Template.Spec.Containers {
			if c.Name == container {
				return c.Args, nil
			}
		}
	}
	return nil, fmt.Errorf("%s has no container %s", file, container)
}

// replaceFlags returns arguments with other values of some flags; every one of these flags has to be there.
func replaceFlags(args []string, values map[string]string) []string {
	out := slices.Clone(args)
	for name, value := range values {
		i := slices.IndexFunc(out, func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
		if i < 0 {
			panic(fmt.Sprintf("the manifest has no flag %s", name))
		}
		out[i] = name + "=" + value
	}
	return out
}
