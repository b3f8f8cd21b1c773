package realnode

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

// callTime bounds each call of this process to a server.
const callTime = 10 * time.Second

// connect opens a connection to a port of a pod from within its network namespace: a cut link is not in the way.
func (m *Machine) connect(p *pod, port int) (*grpc.ClientConn, error) {
	m.mutex.Lock()
	process := p.process
	m.mutex.Unlock()
	if process == nil {
		return nil, fmt.Errorf("running pod %s: %w", p.Name, machine.ErrNotFound)
	}
	var security credentials.TransportCredentials = insecure.NewCredentials()
	if m.options.TLSDirectory != "" {
		var err error
		if security, err = clientCredentials(m.options.TLSDirectory); err != nil {
			return nil, err
		}
	}
	return grpc.NewClient("passthrough:///"+net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), grpc.WithTransportCredentials(security),
		grpc.WithContextDialer(func(_ context.Context, to string) (net.Conn, error) { return inside(process.pid(), "tcp", to) }))
}

// ask makes one call at a pod's instance service.
func (m *Machine) ask(ctx context.Context, p *pod, call func(context.Context, imrpc.InstanceServiceClient) error) error {
	connection, err := m.connect(p, 8503)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return call(ctx, imrpc.NewInstanceServiceClient(connection))
}

// askEngine makes one call at the proxy service of a pod.
func (m *Machine) askEngine(ctx context.Context, p *pod, call func(context.Context, imrpc.ProxyEngineServiceClient) error) error {
	connection, err := m.connect(p, 8501)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return call(ctx, imrpc.NewProxyEngineServiceClient(connection))
}

// instances lists what a pod's server lists.
func (m *Machine) instances(ctx context.Context, p *pod) ([]control.Instance, error) {
	var answer *imrpc.InstanceListResponse
	if err := m.ask(ctx, p, func(ctx context.Context, c imrpc.InstanceServiceClient) (err error) {
		answer, err = c.InstanceList(ctx, &emptypb.Empty{})
		return err
	}); err != nil {
		return nil, fmt.Errorf("listing the instances of pod %s: %w", p.Name, err)
	}
	var out []control.Instance
	for name, i := range answer.GetInstances() {
		out = append(out, shown(p, name, i))
	}
	slices.SortFunc(out, func(a, b control.Instance) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func shown(p *pod, name string, i *imrpc.InstanceResponse) control.Instance {
	s := i.GetStatus()
	return control.Instance{Node: p.Node, Pod: p.Name, ReportedUUID: s.GetUuid(), Instance: dataplane.Instance{
		Spec: dataplane.Spec{Name: name, Type: i.GetSpec().GetType(), DataEngine: p.DataEngine},
		UUID: s.GetUuid(), State: s.GetState(), ErrorMsg: s.GetErrorMsg(), PortStart: s.GetPortStart(), PortEnd: s.GetPortEnd()}}
}

// everything lists the instances of all running pods. A server that ends meanwhile lists nothing.
func (m *Machine) everything(ctx context.Context) ([]control.Instance, error) {
	out := []control.Instance{}
	for _, p := range m.live() {
		list, err := m.instances(ctx, p)
		if _, lives := m.running(p.Name); err != nil && lives == nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// find returns an instance of a node by its name.
func (m *Machine) find(ctx context.Context, node, name string) (*pod, control.Instance, error) {
	for _, p := range m.live() {
		if p.Node != node {
			continue
		}
		list, err := m.instances(ctx, p)
		if err != nil {
			return nil, control.Instance{}, err
		}
		for _, i := range list {
			if i.Name == name {
				return p, i, nil
			}
		}
	}
	return nil, control.Instance{}, fmt.Errorf("instance %s on node %s: %w", name, node, machine.ErrNotFound)
}

// put starts an instance as another control plane would, and returns when it runs.
func (m *Machine) put(ctx context.Context, i control.Put) (control.Instance, error) {
	p, err := m.on(i.Node, dataplane.V1)
	if err != nil {
		return control.Instance{}, err
	}
	if i.UUID != "" || i.State != "" && i.State != dataplane.Running || i.DataEngine == dataplane.V2 {
		return control.Instance{}, fmt.Errorf("%w: an instance with a chosen UUID, state or data engine", control.ErrNotServed)
	}
	spec, err := m.specOf(i.Spec)
	if err != nil {
		return control.Instance{}, err
	}
	return m.create(ctx, p, spec)
}

// specOf returns the arguments of an instance as im-monitor gives them.
func (m *Machine) specOf(i dataplane.Spec) (*imrpc.InstanceSpec, error) {
	m.mutex.Lock()
	images := m.imageNames()
	m.mutex.Unlock()
	if len(images) == 0 {
		return nil, fmt.Errorf("%w: an instance without any engine image", control.ErrNotServed)
	}
	volume, size := i.Volume, strconv.FormatUint(max(i.Size, 1<<20), 10)
	if volume == "" {
		volume = i.Name
	}
	process := &imrpc.ProcessInstanceSpec{}
	count, prefix := int32(10), "/host/var/lib/longhorn/engine-binaries"
	switch i.Type {
	case dataplane.TypeReplica:
		process.Args = []string{"--volume-name", volume, "replica", "/host/var/lib/longhorn/replicas/" + i.Name, "--size", size,
			"--replica-instance-name", i.Name, "--snapshot-max-count", "250", "--snapshot-max-size", "0", "--sync-agent-port-count", "7"}
	case dataplane.TypeEngine:
		count, prefix = 1, "/engine-binaries"
		process.Args = []string{"--engine-instance-name", i.Name, "controller", volume, "--frontend", socketFrontend, "--size", size,
			"--current-size", size, "--engine-replica-timeout", "8", "--file-sync-http-client-timeout", "30", "--snapshot-max-count", "250",
			"--snapshot-max-size", "0", "--rebuild-sync-concurrent-limit", "1"}
		for _, at := range i.Replicas {
			process.Args = append(process.Args, "--replica", "tcp://"+at)
		}
	default:
		return nil, fmt.Errorf("%w: a v1 instance of type %q", control.ErrNotServed, i.Type)
	}
	process.Binary = filepath.Join(prefix, v1beta2.EngineBinaryDirectory(images[0]), engineName)
	return &imrpc.InstanceSpec{Name: i.Name, Type: i.Type, VolumeName: volume, DataEngine: imrpc.DataEngine_DATA_ENGINE_V1,
		PortCount: count, PortArgs: []string{"--listen,:"}, ProcessInstanceSpec: process}, nil
}

// create brings the binary of an instance to its node, creates the instance, and returns when it runs.
func (m *Machine) create(ctx context.Context, p *pod, spec *imrpc.InstanceSpec) (control.Instance, error) {
	image := filepath.Base(filepath.Dir(spec.GetProcessInstanceSpec().GetBinary()))
	if err := m.link(p.Node, "/var/lib/longhorn/engine-binaries/"+image); err != nil {
		return control.Instance{}, err
	}
	if err := m.ask(ctx, p, func(ctx context.Context, c imrpc.InstanceServiceClient) error {
		_, err := c.InstanceCreate(ctx, &imrpc.InstanceCreateRequest{Spec: spec})
		return err
	}); err != nil {
		return control.Instance{}, fmt.Errorf("creating instance %s: %w", spec.GetName(), err)
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for {
		_, i, err := m.find(ctx, p.Node, spec.GetName())
		switch {
		case err != nil:
			return i, err
		case i.State == dataplane.Running:
			return i, nil
		case i.State != dataplane.Starting:
			return i, fmt.Errorf("instance %s is %s: %s", i.Name, i.State, i.ErrorMsg)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return i, fmt.Errorf("instance %s is still starting: %w", i.Name, err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// removeTime is how long an instance may take to end: a server kills a process that does not end within a minute.
const removeTime = 90 * time.Second

// remove deletes an instance, and returns when it is gone.
func (m *Machine) remove(ctx context.Context, node, name string) error {
	p, i, err := m.find(ctx, node, name)
	if err != nil {
		return err
	}
	if err := m.ask(ctx, p, func(ctx context.Context, c imrpc.InstanceServiceClient) error {
		_, err := c.InstanceDelete(ctx, &imrpc.InstanceDeleteRequest{Name: name, Type: i.Type, Uuid: i.UUID})
		return err
	}); err != nil {
		return fmt.Errorf("deleting instance %s: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	for {
		list, err := m.instances(ctx, p)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(now control.Instance) bool { return now.Name == name && now.UUID == i.UUID }) {
			return nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("instance %s is still listed: %w", name, err)
		}
	}
}

// modes returns the modes of an engine's replicas by their names.
func (m *Machine) modes(ctx context.Context, p *pod, engine control.Instance, volume string, names map[string]string) (map[string]string,
	error) {
	out := map[string]string{}
	return out, m.askEngine(ctx, p, func(ctx context.Context, c imrpc.ProxyEngineServiceClient) error {
		answer, err := c.ReplicaList(ctx, requestOf(p, engine, volume))
		if err != nil {
			return err
		}
		for _, r := range answer.GetReplicaList().GetReplicas() {
			at := strings.TrimPrefix(r.GetAddress().GetAddress(), "tcp://")
			name := names[at]
			if name == "" {
				name = at
			}
			out[name] = ptypes.ReplicaMode_name[int32(r.GetMode())]
		}
		return nil
	})
}

// requestOf addresses an engine at the proxy service of its node.
func requestOf(p *pod, engine control.Instance, volume string) *imrpc.ProxyEngineRequest {
	return &imrpc.ProxyEngineRequest{Address: net.JoinHostPort(p.IP, strconv.Itoa(int(engine.PortStart))), EngineName: engine.Name,
		VolumeName: volume, DataEngine: imrpc.DataEngine_DATA_ENGINE_V1}
}

// clientCredentials read the files for mutual TLS.
func clientCredentials(directory string) (credentials.TransportCredentials, error) {
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	return credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS13, ServerName: imclient.ServerName, RootCAs: pool,
		Certificates: []tls.Certificate{pair}}), nil
}
