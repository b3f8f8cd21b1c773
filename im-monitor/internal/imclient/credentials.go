package imclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// ServerName is the DNS name that both sides' certificates carry.
const ServerName = "longhorn-backend.longhorn-system"

// files are the names in the directory, as the secret longhorn-grpc-tls has them.
var files = [...]string{"ca.crt", "tls.crt", "tls.key"}

// Credentials secure connections with the files ca.crt, tls.crt and tls.key of a directory: mutual TLS 1.3, the server's name checked. The
// files are read again when they changed, for the next connection. A directory without any of the three files means plaintext (the secret
// is optional); once they were read, or if only some are there, it never does.
type Credentials struct {
	directory string

	mu     sync.Mutex
	stamps [len(files)]time.Time
	loaded *tls.Config
}

// NewCredentials reads the directory; an empty name means plaintext. What is there but unusable is an error.
func NewCredentials(directory string) (*Credentials, error) {
	c := &Credentials{directory: directory}
	if directory == "" {
		return c, nil
	}
	if err := c.reload(); err != nil {
		return nil, fmt.Errorf("reading the TLS files of instance managers: %w", err)
	}
	return c, nil
}

// Secure reports whether connections are encrypted; false means plaintext.
func (c *Credentials) Secure() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded != nil
}

// transport is what the next connection uses. Files that cannot be read any more leave the earlier ones in use. A server that refuses our
// certificate is noted.
func (c *Credentials) transport(metrics *Metrics, refusal *refusal) (credentials.TransportCredentials, error) {
	if c == nil || c.directory == "" {
		return insecure.NewCredentials(), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		metrics.reloadFailures.Inc()
		if c.loaded == nil {
			return nil, fmt.Errorf("reading TLS files: %w", err)
		}
	}
	if c.loaded == nil {
		return insecure.NewCredentials(), nil
	}
	return refusable{credentials.NewTLS(c.loaded), c.loaded, refusal}, nil
}

// reload reads the files if one of them changed since they were read.
func (c *Credentials) reload() error {
	var stamps [len(files)]time.Time
	missing, problems := 0, []error(nil)
	for i, name := range files {
		info, err := os.Stat(filepath.Join(c.directory, name))
		switch {
		case err == nil:
			stamps[i] = info.ModTime()
		case errors.Is(err, fs.ErrNotExist):
			missing++
			problems = append(problems, err)
		default:
			problems = append(problems, err)
		}
	}
	if missing == len(files) && c.loaded == nil {
		return nil
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if c.loaded != nil && stamps == c.stamps {
		return nil
	}
	loaded, err := readConfig(c.directory)
	if err != nil {
		return err
	}
	c.loaded, c.stamps = loaded, stamps
	return nil
}

// readConfig parses the three files.
func readConfig(directory string) (*tls.Config, error) {
	authority, err := os.ReadFile(filepath.Join(directory, files[0]))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s holds no certificate", filepath.Join(directory, files[0]))
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(directory, files[1]), filepath.Join(directory, files[2]))
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		ServerName:   ServerName,
		RootCAs:      roots,
		Certificates: []tls.Certificate{certificate},
	}, nil
}
