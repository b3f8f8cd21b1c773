package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/kubelet"
	"drover.dev/drover/im-monitor/simulator/internal/realnode"
	"drover.dev/drover/shared/api/v1beta2"
)

// options are the flags.
type options struct {
	kubeconfig, namespace, control, tlsDirectory string
	instanceManager, engine, directory           string
	portOffset, workers                          int
	heartbeat, statusPeriod, nodeGrace           time.Duration
	engineImages                                 map[string]int
	leaveDisks                                   bool
}

func defaults() *options {
	return &options{namespace: v1beta2.DefaultNamespace, control: "127.0.0.1:0", workers: 16, heartbeat: 10 * time.Second,
		statusPeriod: 5 * time.Minute, nodeGrace: 40 * time.Second}
}

func (o *options) flags(f *pflag.FlagSet) {
	f.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "API server to play the kubelets for; empty means $KUBECONFIG")
	f.StringVar(&o.namespace, "namespace", o.namespace, "namespace of the instance-manager pods")
	f.StringVar(&o.control, "control", o.control, "loopback address of the control endpoint; port 0 picks a free one, which is printed")
	f.StringVar(&o.tlsDirectory, "tls-dir", o.tlsDirectory, "directory with ca.crt, tls.crt, tls.key for mutual TLS; empty means plaintext")
	f.StringVar(&o.instanceManager, "instance-manager", o.instanceManager, "the binary longhorn-instance-manager")
	f.StringVar(&o.engine, "engine", o.engine, "the engine binary, longhorn")
	f.StringVar(&o.directory, "directory", o.directory, "directory of the nodes' disks and of the logs; empty means a temporary one")
	f.IntVar(&o.portOffset, "port-offset", o.portOffset, "added to the ports 8501 to 8504, for a proxy that takes the real ones")
	f.DurationVar(&o.heartbeat, "heartbeat", o.heartbeat, "how often each node's Lease is renewed; 0 means never")
	f.DurationVar(&o.statusPeriod, "status-period", o.statusPeriod, "how often each node's status is written unchanged; 0 means never")
	f.DurationVar(&o.nodeGrace, "node-grace", o.nodeGrace, "how long a node that is partitioned or dead stays Ready")
	f.BoolVar(&o.leaveDisks, "leave-disks", o.leaveDisks, "leave the disks of Longhorn Nodes to disk-controller, which runs over NODE/host "+
		"in the directory of the nodes; else each node has one v1 disk")
	f.StringToIntVar(&o.engineImages, "engine-image", o.engineImages,
		"IMAGE=CLI: an engine image that the control endpoint starts volumes with; the CLI API version is that of the binary (repeatable)")
}

// run serves until ctx ends. It prints one line with the control endpoint's URL once that answers.
func run(ctx context.Context, o *options, out io.Writer) (err error) {
	if o.directory != "" {
		if err := os.MkdirAll(o.directory, 0o755); err != nil {
			return fmt.Errorf("making the directory of the nodes: %w", err)
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	directory := o.directory
	if directory == "" {
		if directory, err = os.MkdirTemp("", "realnodes-"); err != nil {
			return fmt.Errorf("making the directory of the nodes: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	}
	nodes, err := realnode.New(realnode.Options{InstanceManager: o.instanceManager, Engine: o.engine, Directory: directory,
		TLSDirectory: o.tlsDirectory, PortOffset: o.portOffset, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Close()) }()
	for image := range o.engineImages {
		if err := nodes.AddEngineImage(image); err != nil {
			return err
		}
	}
	kubelets, err := o.kubelets(nodes, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.control)
	if err != nil {
		return fmt.Errorf("listening for the control endpoint: %w", err)
	}
	fmt.Fprintf(out, "control http://%s\n", listener.Addr())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return control.Serve(ctx, listener, nodes.Handler(kubelets.RemoveNode)) })
	group.Go(func() error { return kubelets.Run(ctx) })
	return group.Wait()
}

// kubelets makes the kubelets of the nodes, as clients of the API server.
func (o *options) kubelets(nodes *realnode.Machine, log *slog.Logger) (*kubelet.Kubelet, error) {
	loading := clientcmd.NewDefaultClientConfigLoadingRules()
	loading.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loading, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return kubelet.New(kubelet.Options{Config: config, Namespace: o.namespace, Machine: nodes, Directories: nodes, Clock: clock.RealClock{},
		Heartbeat: o.heartbeat, StatusPeriod: o.statusPeriod, NodeGrace: o.nodeGrace, DefaultDisks: true, LeaveDisks: o.leaveDisks,
		Workers: o.workers, Log: log})
}
