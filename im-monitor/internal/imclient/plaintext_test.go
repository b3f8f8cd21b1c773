package imclient

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// mixed dials a server that speaks TLS on the port of instances and plaintext on all others, as images up to v1.12.0 do.
func mixed(t *testing.T, ca *authority, directory string) func(context.Context, string) (net.Conn, error) {
	secure, plain := serve(t, ca.serverTLS(t, directory, tls.VersionTLS13)), serve(t)
	return func(ctx context.Context, address string) (net.Conn, error) {
		if strings.HasSuffix(address, ":8503") {
			return secure.dial(ctx, address)
		}
		return plain.dial(ctx, "10.0.0.1:8504")
	}
}

func TestPortsWithoutTLSAreCalledInPlaintextByTheReleaseOfTheImage(t *testing.T) {
	ca, directory := newAuthority(t), t.TempDir()
	ca.issue(t, directory, ServerName)
	version := func(d *Dialer, ports managerimage.TLS) error {
		conn, err := d.Connect("10.0.0.1", v1beta2.DataEngineV2, ports)
		if err != nil {
			return err
		}
		defer func() { require.NoError(t, conn.Close()) }()
		_, err = conn.Version(t.Context())
		return err
	}
	old := func(o Options) *Dialer {
		o.Dial, o.Credentials = mixed(t, ca, directory), secured(t, directory)
		return NewDialer(o)
	}
	ofOld := managerimage.TLSProxyAndInstances
	require.NoError(t, version(old(Options{}), ofOld))
	require.ErrorIs(t, version(old(Options{}), managerimage.TLSEverywhere), ErrUnreachable)
	require.ErrorContains(t, version(old(Options{RequireTLS: true}), ofOld), "speaks no TLS on port 8504, which --require-tls demands")

	newest := serve(t, ca.serverTLS(t, directory, tls.VersionTLS13))
	toNewest := Options{Dial: newest.dial, Credentials: secured(t, directory)}
	require.NoError(t, version(NewDialer(toNewest), managerimage.TLSEverywhere))
	require.NoError(t, version(NewDialer(toNewest), managerimage.TLSUnknown))
	require.ErrorIs(t, version(NewDialer(toNewest), ofOld), ErrUnreachable, "a server that speaks TLS takes no plaintext")
}

func TestPlaintextOfAnUnknownImageIsSpokenOnlyIfAPersonAllowsIt(t *testing.T) {
	ca, directory := newAuthority(t), t.TempDir()
	ca.issue(t, directory, ServerName)
	ask := func(d *Dialer, port int) error {
		refused := &refusal{}
		transport, err := d.transport("10.0.0.1", port, refused)
		require.NoError(t, err)
		raw, err := d.options.Dial(t.Context(), net.JoinHostPort("10.0.0.1", strconv.Itoa(port)))
		require.NoError(t, err)
		defer func() { _ = raw.Close() }()
		_, _, err = transport.ClientHandshake(t.Context(), ServerName, raw)
		return err
	}
	for _, allowed := range []bool{false, true} {
		d := NewDialer(Options{Dial: mixed(t, ca, directory), Credentials: secured(t, directory), PlaintextOfUnknown: allowed})
		require.NoError(t, ask(d, 8503))
		require.Error(t, ask(d, 8504), "TLS comes first")
		again := ask(d, 8504)
		require.Equal(t, allowed, again == nil, "%v", again)
		require.Equal(t, allowed, ask(d, 8502) == nil)
		require.NoError(t, ask(d, 8503), "the other ports stay encrypted")
	}
}

// An upgrade replaces a server that speaks plaintext by a server that does not, and the new pod may get the address of the old one.
func TestPlaintextIsForgottenIfTheNextServerAtTheAddressRefusesIt(t *testing.T) {
	ca, directory := newAuthority(t), t.TempDir()
	ca.issue(t, directory, ServerName)
	older, newer := mixed(t, ca, directory), serve(t, ca.serverTLS(t, directory, tls.VersionTLS13)).dial
	dial := older
	d := NewDialer(Options{Credentials: secured(t, directory), PlaintextOfUnknown: true,
		Dial: func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, address) }})
	connects := func() bool {
		conn, err := d.Connect("10.0.0.1", v1beta2.DataEngineV2, managerimage.TLSUnknown)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		_, err = conn.Version(t.Context())
		return err == nil
	}
	for range 2 {
		dial = older
		connects() // it may learn that this server speaks plaintext
		require.True(t, connects(), "plaintext is spoken")
		dial = newer
		connects()
		require.True(t, connects(), "TLS is spoken again")
	}
}

func TestWithoutTLSFilesAllPortsArePlaintext(t *testing.T) {
	plain := serve(t)
	for _, ports := range []managerimage.TLS{managerimage.TLSUnknown, managerimage.TLSProxyAndInstances, managerimage.TLSEverywhere} {
		conn, err := NewDialer(Options{Dial: plain.dial}).Connect("10.0.0.1", v1beta2.DataEngineV2, ports)
		require.NoError(t, err)
		_, err = conn.Version(t.Context())
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
}
