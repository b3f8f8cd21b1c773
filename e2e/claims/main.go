// Command claims takes a claim through its whole life, with the programs that a cluster has: Kubernetes' controllers, csi-provisioner and
// csi-resizer, Longhorn's own CSI plugin on two nodes, api-gateway and the controllers behind it, a real API server, and the simulator. It
// plays the kubelets alone: the pods' calls to the plugin, with a plain file as the block device. It needs root.
//
//	claims --plugin path/to/longhorn-manager --provisioner path/to/csi-provisioner --resizer path/to/csi-resizer
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"drover.dev/drover/e2e/csiplugin"
	"drover.dev/drover/e2e/world"
)

const needs = `three programs have to be there: Longhorn's manager, which has the CSI plugin in it, and csi-provisioner and csi-resizer
of the Kubernetes project (github.com/kubernetes-csi/external-provisioner and external-resizer, each with "go build ./cmd/..."):

  make claims CSI_PLUGIN=path CSI_PROVISIONER=path CSI_RESIZER=path`

const (
	near, far = "node-1", "node-2"
	// patience is how long anything may take that is waited for.
	patience = 2 * time.Minute
)

func main() {
	plugin := flag.String("plugin", "", "Longhorn's manager, which has the CSI plugin in it")
	provisioner := flag.String("provisioner", "", "csi-provisioner")
	resizer := flag.String("resizer", "", "csi-resizer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *plugin, *provisioner, *resizer); err != nil {
		fmt.Fprintln(os.Stderr, "claims:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, plugin, provisioner, resizer string) (failed error) {
	for _, program := range []string{plugin, provisioner, resizer} {
		if _, err := os.Stat(program); err != nil {
			return errors.New(needs)
		}
	}
	w, err := world.Start(ctx, world.Options{Nodes: []string{near, far, "node-3"}, Attach: true, Snapshots: true, Gateway: true, Disks: true,
		Kubernetes: true, Policies: true, Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }})
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, w.Close()) }()
	l := &life{world: w, plugins: map[string]*csiplugin.Plugin{}, began: time.Now()}
	if err := l.install(ctx); err != nil {
		return err
	}
	for _, node := range []string{near, far} {
		started, err := csiplugin.Start(ctx, w, plugin, node)
		if err != nil {
			return err
		}
		defer started.Stop()
		l.plugins[node] = started
	}
	for name, program := range map[string]string{"provisioner": provisioner, "resizer": resizer} {
		stop, err := csiplugin.StartSidecar(ctx, w, name, program, l.plugins[near])
		if err != nil {
			return err
		}
		defer stop()
	}
	return l.live(ctx)
}
