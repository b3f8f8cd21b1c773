package imclient

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// cutting dials the server and returns a function that closes each connection.
func cutting(s *fakeServer, cut chan<- func() error) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		connection, err := s.dial(ctx, address)
		if err == nil {
			cut <- connection.Close
		}
		return connection, err
	}
}

// secured are the credentials of a directory that must be usable.
func secured(t *testing.T, directory string) *Credentials {
	t.Helper()
	c, err := NewCredentials(directory)
	require.NoError(t, err)
	return c
}

func TestMutualTLS(t *testing.T) {
	ca, directory := newAuthority(t), t.TempDir()
	ca.issue(t, directory, ServerName)

	t.Run("both sides show their certificates", func(t *testing.T) {
		credentials := secured(t, directory)
		require.True(t, credentials.Secure())
		_, err := serve(t, ca.serverTLS(t, directory, tls.VersionTLS13)).
			connect(t, v1beta2.DataEngineV2, Options{Credentials: credentials}).Version(t.Context())
		require.NoError(t, err)
	})
	t.Run("a server of another name is refused", func(t *testing.T) {
		foreign := t.TempDir()
		ca.issue(t, foreign, "somebody.else")
		_, err := serve(t, ca.serverTLS(t, foreign, tls.VersionTLS13)).
			connect(t, v1beta2.DataEngineV1, Options{Credentials: secured(t, directory)}).Version(t.Context())
		require.ErrorIs(t, err, ErrUnreachable)
		require.ErrorContains(t, err, ServerName)
	})
	t.Run("a server of another authority is refused", func(t *testing.T) {
		foreign, other := t.TempDir(), newAuthority(t)
		other.issue(t, foreign, ServerName)
		_, err := serve(t, ca.serverTLS(t, foreign, tls.VersionTLS13)).
			connect(t, v1beta2.DataEngineV1, Options{Credentials: secured(t, directory)}).Version(t.Context())
		require.ErrorIs(t, err, ErrUnreachable)
	})
	t.Run("a server in plaintext is refused", func(t *testing.T) {
		_, err := serve(t).connect(t, v1beta2.DataEngineV1, Options{Credentials: secured(t, directory)}).Version(t.Context())
		require.ErrorIs(t, err, ErrUnreachable)
	})
	t.Run("TLS 1.2 is refused", func(t *testing.T) {
		_, err := serve(t, ca.serverTLS(t, directory, tls.VersionTLS12)).
			connect(t, v1beta2.DataEngineV1, Options{Credentials: secured(t, directory)}).Version(t.Context())
		require.ErrorIs(t, err, ErrUnreachable)
	})
	t.Run("a client in plaintext is refused by the server", func(t *testing.T) {
		_, err := serve(t, ca.serverTLS(t, directory, tls.VersionTLS13)).connect(t, v1beta2.DataEngineV1, Options{}).Version(t.Context())
		require.ErrorIs(t, err, ErrUnreachable)
	})
}

func TestADirectoryDecidesBetweenTLSAndPlaintext(t *testing.T) {
	ca := newAuthority(t)
	t.Run("no directory, or one without any file: plaintext", func(t *testing.T) {
		require.False(t, secured(t, "").Secure())
		credentials := secured(t, t.TempDir())
		require.False(t, credentials.Secure())
		_, err := serve(t).connect(t, v1beta2.DataEngineV1, Options{Credentials: credentials}).Version(t.Context())
		require.NoError(t, err)
	})
	t.Run("only some of the files: an error", func(t *testing.T) {
		directory := t.TempDir()
		ca.issue(t, directory, ServerName)
		require.NoError(t, os.Remove(filepath.Join(directory, "tls.key")))
		_, err := NewCredentials(directory)
		require.ErrorContains(t, err, "tls.key")
	})
	t.Run("files that are no certificates: an error", func(t *testing.T) {
		for _, name := range files {
			directory := t.TempDir()
			ca.issue(t, directory, ServerName)
			require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte("nonsense"), 0o600))
			_, err := NewCredentials(directory)
			require.Error(t, err, name)
		}
	})
	t.Run("files that appear are used from the next connection on", func(t *testing.T) {
		directory := t.TempDir()
		credentials := secured(t, directory)
		ca.issue(t, directory, ServerName)
		_, err := serve(t, ca.serverTLS(t, directory, tls.VersionTLS13)).
			connect(t, v1beta2.DataEngineV1, Options{Credentials: credentials}).Version(t.Context())
		require.NoError(t, err)
	})
}

func TestRotationIsFollowedAndLossIsNeverPlaintext(t *testing.T) {
	directory := t.TempDir()
	newAuthority(t).issue(t, directory, ServerName)
	credentials, metrics := secured(t, directory), NewMetrics(nil)

	next := newAuthority(t)
	next.issue(t, directory, ServerName)
	later := time.Now().Add(time.Minute)
	for _, name := range files {
		require.NoError(t, os.Chtimes(filepath.Join(directory, name), later, later))
	}
	rotated := serve(t, next.serverTLS(t, directory, tls.VersionTLS13))
	_, err := rotated.connect(t, v1beta2.DataEngineV1, Options{Credentials: credentials, Metrics: metrics}).Version(t.Context())
	require.NoError(t, err)
	require.Zero(t, testutil.ToFloat64(metrics.reloadFailures))

	for _, name := range files {
		require.NoError(t, os.Remove(filepath.Join(directory, name)))
	}
	_, err = rotated.connect(t, v1beta2.DataEngineV1, Options{Credentials: credentials, Metrics: metrics}).Version(t.Context())
	require.NoError(t, err, "the earlier files stay in use")
	require.Equal(t, 1.0, testutil.ToFloat64(metrics.reloadFailures))
	_, err = serve(t).connect(t, v1beta2.DataEngineV1, Options{Credentials: credentials, Metrics: metrics}).Version(t.Context())
	require.ErrorIs(t, err, ErrUnreachable, "never plaintext")
}
