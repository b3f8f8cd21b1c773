// Package csiplugin runs Longhorn's own CSI plugin beside a World, as the manifests in deploy/csi run it in a cluster: with their arguments
// and the rights of its account. It needs root.
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

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cluster"
)

// account is the ServiceAccount of the plugin.
const account = "drover-csi-plugin"

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

// inPod lets the plugin see the token of its account at the same path as in its pod.
const inPod = `set -e
mount -t tmpfs none /run && mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
mount --bind "$0" /var/run/secrets/kubernetes.io/serviceaccount
exec "$@"`

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
	args, err := readArguments()
	if err != nil {
		return nil, err
	}
	args = replaceFlags(args[1:], map[string]string{"--nodeid": node, "--endpoint": "unix://" + p.Socket,
		"--manager-url": w.Process(world.APIGateway).REST() + "/v1"})
	p.command = exec.CommandContext(ctx, "unshare", append([]string{"--mount", "sh", "-c", inPod, secret, program}, args...)...)
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

// writeToken writes the files of the plugin's account as a pod has them, and returns their directory.
func writeToken(ctx context.Context, w *world.World) (string, error) {
	token, err := w.Token(ctx, account)
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

// readArguments returns the arguments of the plugin's container in deploy/csi.
func readArguments() ([]string, error) {
	root, err := cluster.SourceRoot()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy", "csi", "daemonset.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading a manifest: %w", err)
	}
	var object appsv1.DaemonSet
	if err := yaml.UnmarshalStrict(text, &object); err != nil {
		return nil, fmt.Errorf("reading daemonset.yaml: %w", err)
	}
	for _, container := range object.Spec.Template.Spec.Containers {
		if container.Name == object.Name {
			return container.Args, nil
		}
	}
	return nil, fmt.Errorf("daemonset.yaml has no container %s", object.Name)
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
