// Command csisanity runs the official CSI sanity suite against Longhorn's own CSI plugin, with Drover behind it: api-gateway and the
// controllers with their identities, a real API server, and the simulator. It needs root, for a mount namespace that shows the plugin the
// token of its ServiceAccount at the path that a pod has.
//
//	csisanity --plugin path/to/longhorn-manager --sanity path/to/csi-sanity [--skip expression] [--focus expression]
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// driverAccount is the ServiceAccount of the plugin, node the Node that it runs on.
	driverAccount = "longhorn-service-account"
	node          = "node-1"
)

func main() {
	plugin := flag.String("plugin", "", "Longhorn's manager, which has the CSI plugin in it")
	sanity := flag.String("sanity", "", "the suite: csi-sanity of github.com/kubernetes-csi/csi-test/v5")
	skip := flag.String("skip", "", "expression of tests to leave out, as ginkgo takes it")
	focus := flag.String("focus", "", "expression of the only tests to run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *plugin, *sanity, map[string]string{"skip": *skip, "focus": *focus}); err != nil {
		fmt.Fprintln(os.Stderr, "csisanity:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, plugin, sanity string, which map[string]string) (failed error) {
	if plugin == "" || sanity == "" {
		return errors.New("--plugin and --sanity name the two programs to run")
	}
	w, err := world.Start(ctx, world.Options{Nodes: []string{node, "node-2", "node-3"}, Attach: true, Snapshots: true, Gateway: true,
		Flags: map[string][]string{world.AttachController: {"--csi-attach=false"}},
		Log:   func(format string, args ...any) { fmt.Printf(format+"\n", args...) }})
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, w.Close()) }()
	if err := prepare(ctx, w); err != nil {
		return err
	}
	if err := requestAttachments(ctx, w); err != nil {
		return err
	}
	socket := filepath.Join(w.Dir, "csi.sock")
	driver, err := startPlugin(ctx, w, plugin, socket)
	if err != nil {
		return err
	}
	defer func() { _ = driver.Process.Kill() }()
	if err := w.Wait(ctx, "the plugin", time.Minute, func(context.Context) (string, error) {
		if _, err := os.Stat(socket); err != nil {
			return err.Error(), nil
		}
		return "", nil
	}); err != nil {
		return err
	}
	return suite(ctx, w, sanity, socket, which)
}

// prepare creates what an installation of Longhorn has and the plugin reads: its account with its rights, and the settings of GetCapacity.
func prepare(ctx context.Context, w *world.World) error {
	meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: driverAccount}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: driverAccount}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"longhorn.io"}, Resources: []string{"settings", "nodes", "sharemanagers"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: []string{"get", "list"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.Namespace, Name: driverAccount}}}
	for _, object := range []client.Object{&corev1.ServiceAccount{ObjectMeta: meta}, role, binding} {
		if err := client.IgnoreAlreadyExists(w.Admin.Create(ctx, object)); err != nil {
			return fmt.Errorf("creating the account of the plugin: %w", err)
		}
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

// requestAttachments creates Kubernetes' VolumeAttachment of each new volume to the node of the plugin: the suite publishes volumes as the
// csi-attacher does, and attach-controller removes a ticket without one.
func requestAttachments(ctx context.Context, w *world.World) error {
	volumes, err := w.Admin.Watch(ctx, &v1beta2.VolumeList{}, client.InNamespace(w.Namespace))
	if err != nil {
		return fmt.Errorf("watching volumes: %w", err)
	}
	go func() {
		for event := range volumes.ResultChan() {
			volume, ok := event.Object.(*v1beta2.Volume)
			if !ok || event.Type != watch.Added {
				continue
			}
			sum := sha256.Sum256([]byte(volume.Name + v1beta2.CSIDriver + node))
			if err := w.AskAttachment(ctx, "csi-"+hex.EncodeToString(sum[:]), volume.Name, node); err != nil {
				fmt.Println(err)
			}
		}
	}()
	return nil
}

// startPlugin runs the plugin in a mount namespace of its own, as in a pod.
func startPlugin(ctx context.Context, w *world.World, plugin, socket string) (*exec.Cmd, error) {
	token, err := w.Token(ctx, driverAccount)
	if err != nil {
		return nil, err
	}
	secret := filepath.Join(w.Dir, "serviceaccount")
	if err := os.MkdirAll(secret, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the token: %w", err)
	}
	for name, content := range map[string][]byte{"token": []byte(token), "ca.crt": w.Config.CAData, "namespace": []byte(w.Namespace)} {
		if err := os.WriteFile(filepath.Join(secret, name), content, 0o600); err != nil {
			return nil, fmt.Errorf("writing the token: %w", err)
		}
	}
	log, err := os.Create(filepath.Join(w.Dir, "plugin.log"))
	if err != nil {
		return nil, fmt.Errorf("creating the log of the plugin: %w", err)
	}
	const inPod = `mount -t tmpfs none /run && mkdir -p /var/run/secrets/kubernetes.io/serviceaccount &&
		mount --bind "$0" /var/run/secrets/kubernetes.io/serviceaccount && exec "$@"`
	command := exec.CommandContext(ctx, "unshare", "--mount", "sh", "-c", inPod, secret, plugin, "-d", "csi", "--nodeid="+node,
		"--endpoint=unix://"+socket, "--drivername="+v1beta2.CSIDriver, "--manager-url="+w.Process(world.APIGateway).REST()+"/v1")
	host, port, _ := strings.Cut(strings.TrimPrefix(w.Config.Host, "https://"), ":")
	command.Env = append(os.Environ(), "POD_NAMESPACE="+w.Namespace, "KUBERNETES_SERVICE_HOST="+host, "KUBERNETES_SERVICE_PORT="+port)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the plugin: %w", err)
	}
	return command, nil
}

// suite runs the suite with block volumes: a machine without kernel devices has no other ones.
func suite(ctx context.Context, w *world.World, sanity, socket string, which map[string]string) error {
	parameters := filepath.Join(w.Dir, "snapshot-parameters.yaml")
	if err := os.WriteFile(parameters, []byte("type: snap\n"), 0o600); err != nil {
		return fmt.Errorf("writing the parameters of snapshots: %w", err)
	}
	args := []string{"-csi.endpoint=" + socket, "-csi.testvolumesize=1073741824", "-csi.testvolumeexpandsize=2147483648",
		"-csi.testvolumeaccesstype=block", "-csi.testsnapshotparameters=" + parameters, "-csi.mountdir=" + filepath.Join(w.Dir, "target"),
		"-csi.stagingdir=" + filepath.Join(w.Dir, "staging"), "-ginkgo.v", "-ginkgo.no-color"}
	for name, expression := range which {
		if expression != "" {
			args = append(args, "-ginkgo."+name+"="+expression)
		}
	}
	command := exec.CommandContext(ctx, sanity, args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(w.Dir, "plugin.log"))
		fmt.Printf("the log of the plugin ends:\n%s\n", log[max(0, len(log)-8000):])
		return fmt.Errorf("the suite: %w", err)
	}
	return nil
}
