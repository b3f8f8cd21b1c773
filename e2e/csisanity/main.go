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
	"syscall"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/csiplugin"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// node is the Node that the plugin runs on.
const node = "node-1"

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
		Disks: true, Flags: map[string][]string{world.AttachController: {"--csi-attach=false"}},
		Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }})
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, w.Close()) }()
	if err := csiplugin.Prepare(ctx, w); err != nil {
		return err
	}
	driver, err := csiplugin.Start(ctx, w, plugin, node)
	if err != nil {
		return err
	}
	defer driver.Stop()
	if err := requestAttachments(ctx, w); err != nil {
		return err
	}
	return suite(ctx, w, sanity, driver, which)
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

// suite runs the suite with block volumes: a machine without kernel devices has no other ones.
func suite(ctx context.Context, w *world.World, sanity string, driver *csiplugin.Plugin, which map[string]string) error {
	parameters := filepath.Join(w.Dir, "snapshot-parameters.yaml")
	if err := os.WriteFile(parameters, []byte("type: snap\n"), 0o600); err != nil {
		return fmt.Errorf("writing the parameters of snapshots: %w", err)
	}
	args := []string{"-csi.endpoint=" + driver.Socket, "-csi.testvolumesize=1073741824", "-csi.testvolumeexpandsize=2147483648",
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
		log, _ := os.ReadFile(driver.Log)
		fmt.Printf("the log of the plugin ends:\n%s\n", log[max(0, len(log)-8000):])
		return fmt.Errorf("the suite: %w", err)
	}
	return nil
}
