package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

func TestOnlyClientsWithACertificateAreServed(t *testing.T) {
	directory := t.TempDir()
	require.NoError(t, makeCerts(directory, time.Now()))
	w := newWorld(t, func(o *options) { o.tlsDirectory = directory })
	pod := w.pod(dataplane.V1)
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(authority))
	pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	require.NoError(t, err)
	for _, c := range []struct {
		name        string
		credentials credentials.TransportCredentials
		served      bool
	}{
		{"with a certificate and the right name",
			credentials.NewTLS(&tls.Config{ServerName: serverName, RootCAs: roots, Certificates: []tls.Certificate{pair}}), true},
		{"without a certificate", credentials.NewTLS(&tls.Config{ServerName: serverName, RootCAs: roots}), false},
		{"in plaintext", insecure.NewCredentials(), false},
		{"with another name in mind", credentials.NewTLS(&tls.Config{ServerName: "else", RootCAs: roots,
			Certificates: []tls.Certificate{pair}}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(pod.Status.PodIP, "8503"),
				grpc.WithTransportCredentials(c.credentials))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, conn.Close()) })
			_, err = imrpc.NewInstanceServiceClient(conn).VersionGet(t.Context(), &emptypb.Empty{})
			want := codes.Unavailable
			if c.served {
				want = codes.OK
			}
			require.Equal(t, want, status.Code(err), err)
		})
	}
}
