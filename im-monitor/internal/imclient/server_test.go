package imclient

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// fakeServer answers from functions that tests set; what is not set answers emptily.
type fakeServer struct {
	imrpc.UnimplementedInstanceServiceServer
	spdkrpc.UnimplementedSPDKServiceServer
	version *common.VersionResponse

	mu       sync.Mutex
	list     func(ctx context.Context) (*imrpc.InstanceListResponse, error)
	replicas map[string]*spdkrpc.Replica
	engines  map[string]*spdkrpc.Engine
	deletion error
	deleted  []*imrpc.InstanceDeleteRequest
	creation error
	created  []*imrpc.InstanceCreateRequest
	patience time.Duration // of the last creation's caller
	switched []*imrpc.InstanceSwitchOverTargetRequest
	turned   []string
	calls    []string
	notices  chan struct{}

	listeners map[string]*bufconn.Listener
	dials     int
}

// serve starts a server on both ports, in memory, as servers of today are configured.
func serve(t *testing.T, options ...grpc.ServerOption) *fakeServer {
	t.Helper()
	s := &fakeServer{
		version:   &common.VersionResponse{Version: "v1.12.0", InstanceManagerAPIVersion: 7, InstanceManagerAPIMinVersion: 1},
		notices:   make(chan struct{}, 10),
		listeners: map[string]*bufconn.Listener{},
	}
	options = append(options, grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second}))
	server := grpc.NewServer(options...)
	imrpc.RegisterInstanceServiceServer(server, s)
	spdkrpc.RegisterSPDKServiceServer(server, s)
	for _, port := range []string{"8503", "8504"} {
		listener := bufconn.Listen(1 << 20)
		s.listeners["10.0.0.1:"+port] = listener
		go func() { _ = server.Serve(listener) }()
	}
	t.Cleanup(server.Stop)
	return s
}

func (s *fakeServer) dial(ctx context.Context, address string) (net.Conn, error) {
	s.mu.Lock()
	s.dials++
	listener := s.listeners[address]
	s.mu.Unlock()
	if listener == nil {
		return nil, net.ErrClosed
	}
	return listener.DialContext(ctx)
}

func (s *fakeServer) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

// called returns the calls so far and forgets them.
func (s *fakeServer) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

func (s *fakeServer) VersionGet(context.Context, *emptypb.Empty) (*common.VersionResponse, error) {
	return s.version, nil
}

func (s *fakeServer) InstanceList(ctx context.Context, _ *emptypb.Empty) (*imrpc.InstanceListResponse, error) {
	s.note("InstanceList")
	if s.list == nil {
		return &imrpc.InstanceListResponse{}, nil
	}
	return s.list(ctx)
}

func (s *fakeServer) InstanceWatch(_ *emptypb.Empty, stream grpc.ServerStreamingServer[emptypb.Empty]) error {
	for {
		select {
		case _, ok := <-s.notices:
			if !ok {
				return nil
			}
			if err := stream.Send(&emptypb.Empty{}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (s *fakeServer) InstanceDelete(_ context.Context, request *imrpc.InstanceDeleteRequest) (*imrpc.InstanceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted = append(s.deleted, request)
	return &imrpc.InstanceResponse{Deleted: true}, s.deletion
}

func (s *fakeServer) ReplicaList(context.Context, *emptypb.Empty) (*spdkrpc.ReplicaListResponse, error) {
	s.note("ReplicaList")
	return &spdkrpc.ReplicaListResponse{Replicas: s.replicas}, nil
}

func (s *fakeServer) EngineList(context.Context, *emptypb.Empty) (*spdkrpc.EngineListResponse, error) {
	s.note("EngineList")
	return &spdkrpc.EngineListResponse{Engines: s.engines}, nil
}

// holds makes the server list these entries.
func (s *fakeServer) holds(entries map[string]*imrpc.InstanceResponse) {
	s.list = func(context.Context) (*imrpc.InstanceListResponse, error) {
		return &imrpc.InstanceListResponse{Instances: entries}, nil
	}
}

// connect makes a connection that is closed with the test.
func (s *fakeServer) connect(t *testing.T, dataEngine string, options Options) *Conn {
	t.Helper()
	if options.Dial == nil {
		options.Dial = s.dial
	}
	conn, err := NewDialer(options).Connect("10.0.0.1", dataEngine, managerimage.TLSEverywhere)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// entry is one entry of a list.
func entry(name, kind, engine, state, uuid string) *imrpc.InstanceResponse {
	dataEngine := imrpc.DataEngine_DATA_ENGINE_V1
	if engine == v1beta2.DataEngineV2 {
		dataEngine = imrpc.DataEngine_DATA_ENGINE_V2
	}
	return &imrpc.InstanceResponse{
		Spec:   &imrpc.InstanceSpec{Name: name, Type: kind, DataEngine: dataEngine},
		Status: &imrpc.InstanceStatus{State: state, Uuid: uuid},
	}
}

// authority is a certificate authority of a test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{certificate, key}
}

// issue writes the three files of a certificate for a DNS name into a directory.
func (a *authority) issue(t *testing.T, directory, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	for file, block := range map[string]*pem.Block{
		"ca.crt":  {Type: "CERTIFICATE", Bytes: a.certificate.Raw},
		"tls.crt": {Type: "CERTIFICATE", Bytes: der},
		"tls.key": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, file), pem.EncodeToMemory(block), 0o600))
	}
}

// serverTLS demands a client certificate of the authority and shows the one in the directory.
func (a *authority) serverTLS(t *testing.T, directory string, version uint16) grpc.ServerOption {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MaxVersion: version}))
}
