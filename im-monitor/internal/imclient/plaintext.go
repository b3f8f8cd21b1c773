package imclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"drover.dev/drover/shared/managerimage"
)

// encryption remembers by address which ports of a server speak TLS. Until v1.12.0 images speak it on two ports alone, whatever files
// their pod has.
type encryption struct {
	mu sync.Mutex
	// ports is what the image of the server has by its release; unencrypted are servers of unknown release that answered a TLS handshake
	// in plaintext.
	ports       map[string]managerimage.TLS
	unencrypted map[string]bool
}

// note takes the ports of the server that is at an address now.
func (e *encryption) note(address string, ports managerimage.TLS) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ports[address] = ports
}

// learn takes that the server at an address answered in plaintext.
func (e *encryption) learn(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unencrypted[address] = true
}

// forget forgets that the server at an address answered in plaintext.
func (e *encryption) forget(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.unencrypted, address)
}

// at returns what is known of a server, and whether it answered in plaintext although its release is unknown.
func (e *encryption) at(address string) (ports managerimage.TLS, unencrypted bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ports[address], e.unencrypted[address]
}

// lateTLS reports whether a port speaks TLS only since v1.12.1.
func (d *Dialer) lateTLS(port int) bool { return port == diskPort || port == d.options.SPDKPort }

// transport returns the credentials for a port of a server.
func (d *Dialer) transport(address string, port int, refused *refusal) (credentials.TransportCredentials, error) {
	secure, err := d.options.Credentials.transport(d.options.Metrics, refused)
	if err != nil || !d.lateTLS(port) || secure.Info().SecurityProtocol == insecure.NewCredentials().Info().SecurityProtocol {
		return secure, err
	}
	ports, unencrypted := d.encryption.at(address)
	unknown := ports == managerimage.TLSUnknown
	switch {
	case ports == managerimage.TLSProxyAndInstances && d.options.RequireTLS:
		return nil, fmt.Errorf("its image speaks no TLS on port %d, which --require-tls demands: use an image of Longhorn 1.12.1 or newer",
			port)
	case ports == managerimage.TLSProxyAndInstances, unknown && unencrypted && d.options.PlaintextOfUnknown:
		return insecure.NewCredentials(), nil
	case unknown && d.options.PlaintextOfUnknown:
		return learning{secure, func() { d.encryption.learn(address) }}, nil
	}
	return secure, nil
}

// learning are credentials that note a server which answers a TLS handshake in plaintext.
type learning struct {
	credentials.TransportCredentials
	learn func()
}

// ClientHandshake implements credentials.TransportCredentials.
func (l learning) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := l.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if plaintext := (tls.RecordHeaderError{}); errors.As(err, &plaintext) {
		l.learn()
	}
	return conn, info, err
}

// Clone implements credentials.TransportCredentials.
func (l learning) Clone() credentials.TransportCredentials {
	return learning{l.TransportCredentials.Clone(), l.learn}
}
