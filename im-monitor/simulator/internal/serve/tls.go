package serve

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"drover.dev/drover/shared/managerimage"
)

// Credentials read ca.crt, tls.crt and tls.key of a directory for mutual TLS 1.3. Unlike a real server, which falls back to plaintext,
// files that cannot be used are an error.
func Credentials(directory string) (credentials.TransportCredentials, error) {
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s holds no certificate", filepath.Join(directory, "ca.crt"))
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the server's certificate: %w", err)
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
	}), nil
}

// speaksTLS reports whether a server of an image uses its TLS files on a port: images up to v1.12.0 do on two ports alone.
func speaksTLS(image string, number int) bool {
	return number == ProxyPort || number == InstancePort || managerimage.Describe(image, nil).TLS != managerimage.TLSProxyAndInstances
}

// byImage are the credentials of a port whose servers speak TLS or plaintext, as their images do.
type byImage struct {
	credentials.TransportCredentials
	number int
}

// ServerHandshake implements credentials.TransportCredentials.
func (b byImage) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if c, ok := raw.(*conn); ok && !speaksTLS(c.endpoint.image, b.number) {
		return insecure.NewCredentials().ServerHandshake(raw)
	}
	return b.TransportCredentials.ServerHandshake(raw)
}

// Clone implements credentials.TransportCredentials.
func (b byImage) Clone() credentials.TransportCredentials {
	return byImage{b.TransportCredentials.Clone(), b.number}
}
