// Package target is what a run of the suite talks to: instance managers on the wire, the content of volumes, and what can be done to a
// manager
// from outside (restart it, cut its links). It knows nothing about checks.
package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
)

// Data engines.
const (
	V1 = "v1"
	V2 = "v2"
)

// Ports of an instance manager's services, before an offset.
const (
	ProcessPort  = 8500
	ProxyPort    = 8501
	DiskPort     = 8502
	InstancePort = 8503
	SPDKPort     = 8504
)

// Manager is one instance manager. The clients connect again by themselves after a restart.
type Manager struct {
	// Host is the IP address, under which other managers reach it, too.
	Host string
	// Engine is its data engine, v1 or v2.
	Engine string

	Process  common.ProcessManagerServiceClient
	Proxy    imrpc.ProxyEngineServiceClient
	Disk     imrpc.DiskServiceClient
	Instance imrpc.InstanceServiceClient
	SPDK     spdkrpc.SPDKServiceClient // v2 only

	offset int
	conns  map[int]*grpc.ClientConn
}

// Dial makes the clients of an instance manager; the first call connects. A host name is resolved once, since engines and frontends are
// given
// the address. Nil credentials mean plaintext.
func Dial(ctx context.Context, host, engine string, offset int, secure credentials.TransportCredentials) (*Manager, error) {
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("finding the address of instance manager %s: %w", host, err)
	}
	m := &Manager{Host: found[0], Engine: engine, offset: offset, conns: map[int]*grpc.ClientConn{}}
	if secure == nil {
		secure = insecure.NewCredentials()
	}
	for _, port := range m.Ports() {
		conn, err := grpc.NewClient("passthrough:///"+m.Address(port), grpc.WithTransportCredentials(secure),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("connecting to instance manager %s: %w", host, err), m.Close())
		}
		m.conns[port] = conn
	}
	m.Process = common.NewProcessManagerServiceClient(m.conns[ProcessPort])
	m.Proxy = imrpc.NewProxyEngineServiceClient(m.conns[ProxyPort])
	m.Disk = imrpc.NewDiskServiceClient(m.conns[DiskPort])
	m.Instance = imrpc.NewInstanceServiceClient(m.conns[InstancePort])
	if engine == V2 {
		m.SPDK = spdkrpc.NewSPDKServiceClient(m.conns[SPDKPort])
	}
	return m, nil
}

// Ports are those of the manager's services.
func (m *Manager) Ports() []int {
	if m.Engine == V2 {
		return []int{ProcessPort, ProxyPort, DiskPort, InstancePort, SPDKPort}
	}
	return []int{ProcessPort, ProxyPort, DiskPort, InstancePort}
}

// Address is the host and port of a service, the offset included.
func (m *Manager) Address(port int) string {
	return net.JoinHostPort(m.Host, strconv.Itoa(port+m.offset))
}

// Conn is the connection to a port.
func (m *Manager) Conn(port int) *grpc.ClientConn { return m.conns[port] }

// Close ends every connection.
func (m *Manager) Close() error {
	var errs []error
	for _, c := range m.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Version is what the server reports about itself.
func (m *Manager) Version(ctx context.Context) (*common.VersionResponse, error) {
	v, err := m.Instance.VersionGet(ctx, &emptypb.Empty{})
	if err != nil {
		return nil, fmt.Errorf("asking instance manager %s for its version: %w", m.Host, err)
	}
	return v, nil
}

// Simulated reports whether a version is the simulator's.
func Simulated(v *common.VersionResponse) bool { return v.GetGitCommit() == "simulated" }
