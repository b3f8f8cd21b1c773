package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/simulator/internal/address"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/kubelet"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
	"drover.dev/drover/im-monitor/simulator/internal/serve"
)

// run serves until ctx ends. It prints one line with the control endpoint's URL once that answers.
func run(ctx context.Context, o *options, out io.Writer) error {
	log, err := o.logger(os.Stderr)
	if err != nil {
		return err
	}
	listener, err := loopback(o.control)
	if err != nil {
		return err
	}
	block, err := address.Lock()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s, err := assemble(o, block, log)
	if err != nil {
		return errors.Join(err, listener.Close(), block.Close())
	}
	for _, name := range o.names() {
		s.machine.AddNode(name)
	}
	if o.standalone {
		if err := s.startManagers(o.names()); err != nil {
			s.machine.Close()
			return errors.Join(err, listener.Close(), block.Close())
		}
	}
	fmt.Fprintf(out, "control http://%s\n", listener.Addr())
	log.Info("serving", "control", listener.Addr().String(), "addresses", block.String(), "server", o.server, "nodes", len(o.names()))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.servers.Run(ctx) })
	group.Go(func() error { return s.control.Serve(ctx, listener) })
	if s.kubelet != nil {
		group.Go(func() error { return s.kubelet.Run(ctx) })
	}
	err = group.Wait()
	s.machine.Close()
	log.Info("ended")
	return errors.Join(err, block.Close())
}

// parts are the simulator's parts, put together. The kubelet is nil without an API server.
type parts struct {
	servers *serve.Servers
	machine *machine.Machine
	kubelet *kubelet.Kubelet
	control *control.Server
}

// startManagers runs one instance manager of each data engine on each node, as the kubelet does for pods.
func (p *parts) startManagers(nodes []string) error {
	for _, node := range nodes {
		for _, engine := range []string{dataplane.V1, dataplane.V2} {
			if _, err := p.machine.StartPod("instance-manager-"+engine+"-"+node, uuid.NewString(), node, engine,
				machine.Container{Metadata: dataplane.MetadataPath}); err != nil {
				return fmt.Errorf("starting the %s instance manager of node %s: %w", engine, node, err)
			}
		}
	}
	return nil
}

func assemble(o *options, block *address.Block, log *slog.Logger) (*parts, error) {
	behaviour, err := o.behaviour()
	if err != nil {
		return nil, err
	}
	faults, real := &fault.Set{}, clock.RealClock{}
	plane := dataplane.New(real, uuid.NewString, behaviour)
	serving := serve.Options{Plane: plane, Faults: faults, PortOffset: o.portOffset, NoticeGap: o.noticeGap, Log: log}
	if o.tlsDirectory != "" {
		if serving.Credentials, err = serve.Credentials(o.tlsDirectory); err != nil {
			return nil, err
		}
	}
	p := &parts{servers: serve.New(serving)}
	p.machine = machine.New(machine.Options{Plane: plane, Servers: p.servers, Faults: faults, Block: block, Clock: real,
		NewUUID:         uuid.NewString,
		StickyAddresses: o.stickyAddresses, Log: log})
	removeNode := func(_ context.Context, name string) error { return p.machine.RemoveNode(name) }
	if !o.standalone {
		plane.RequireBinaries()
		if p.kubelet, err = newKubelet(o, p.machine, plane, real, log); err != nil {
			return nil, err
		}
		removeNode = p.kubelet.RemoveNode
	}
	p.control = control.NewServer(control.Options{Plane: plane, Machine: p.machine, Faults: faults, Block: block, RemoveNode: removeNode,
		Mode: behaviour.Mode, PortOffset: o.portOffset, TLS: o.tlsDirectory != "", Log: log})
	return p, nil
}

// newKubelet makes the kubelets of the nodes, as clients of the API server.
func newKubelet(o *options, nodes *machine.Machine, plane *dataplane.Plane, c clock.WithDelayedExecution,
	log *slog.Logger) (*kubelet.Kubelet, error) {
	loading := clientcmd.NewDefaultClientConfigLoadingRules()
	loading.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loading, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return kubelet.New(kubelet.Options{Config: config, Namespace: o.namespace, Machine: nodes, Devices: plane, Directories: plane, Clock: c,
		Heartbeat: o.heartbeat, StatusPeriod: o.statusPeriod, NodeGrace: o.silence, DefaultDisks: o.defaultDisks,
		LeaveDisks: o.hosts != "", Workers: max(o.workers, 1), Log: log})
}

// loopback listens for the control endpoint, on loopback only: it obeys everybody.
func loopback(where string) (net.Listener, error) {
	l, err := net.Listen("tcp", where)
	if err != nil {
		return nil, fmt.Errorf("listening for the control endpoint: %w", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("--control %s is not a loopback address", where), l.Close())
	}
	return l, nil
}
