package imclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// attempts are many: whether the client reads the alert or meets the closed connection first is a race.
const attempts = 50

// A server that checks the name in the client's certificate, as instance managers do, over TCP.
func TestAServerThatRefusesOurCertificateIsToldAsTheCause(t *testing.T) {
	ca, servers := newAuthority(t), t.TempDir()
	ca.issue(t, servers, ServerName)
	address := refusing(t, ca, servers)
	named, previous := t.TempDir(), t.TempDir()
	ca.issue(t, named, "somebody.else")
	newAuthority(t).issue(t, previous, ServerName)
	trusting(t, servers, previous)
	for _, c := range []struct{ name, directory, text string }{
		{"of another name", named, "x509: certificate is valid for somebody.else, not " + ServerName},
		{"of another authority", previous, "tls: unknown certificate authority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dialer := NewDialer(Options{Credentials: secured(t, c.directory), Dial: func(ctx context.Context, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", address)
			}})
			reported := map[string]bool{}
			for range attempts {
				conn, err := dialer.Connect("10.0.0.1", v1beta2.DataEngineV1, managerimage.TLSEverywhere)
				require.NoError(t, err)
				_, err = conn.Watch(t.Context())
				if err == nil {
					_, err = conn.Version(t.Context())
				}
				require.ErrorIs(t, err, ErrUnreachable)
				require.ErrorContains(t, err, "the instance manager refused the certificate in tls.crt: remote error: tls: ")
				require.ErrorContains(t, err, c.text)
				var call *CallError
				require.True(t, errors.As(err, &call))
				reported[call.Err.Error()] = true
				require.NoError(t, conn.Close())
			}
			require.Len(t, reported, 1, "the same words each time")
		})
	}
}

// trusting lets a client with the certificate of the second directory trust the authority of the first.
func trusting(t *testing.T, authority, directory string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(authority, "ca.crt"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "ca.crt"), raw, 0o600))
}

// refusing serves with the certificate of a directory, to clients with a certificate of the authority and of that name.
func refusing(t *testing.T, ca *authority, directory string) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(ca.certificate)
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
		VerifyConnection: func(state tls.ConnectionState) error { return state.PeerCertificates[0].VerifyHostname(ServerName) }})))
	imrpc.RegisterInstanceServiceServer(server, serve(t))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}
