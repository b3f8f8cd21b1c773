package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Options configure what Start runs. The zero value is etcd and kube-apiserver in a temporary directory.
type Options struct {
	// ControllerManager also runs kube-controller-manager: namespaces get deleted, owners' dependents collected, pods'
	// ServiceAccounts made.
	ControllerManager bool
	// Audit makes the API server record every request; read it back with Audit.
	Audit bool
	// AuditPolicy replaces the default audit policy (metadata of every request, once it is complete).
	AuditPolicy []byte
	// DataDir keeps etcd's data in this directory, which outlives the cluster. Where it holds data already, the
	// cluster starts with them. One cluster at a time.
	DataDir string
	// DataFrom is a data directory that was kept by a cluster which is stopped by now. It is copied, so any number of
	// clusters may start from it.
	DataFrom string
	// CRDs is a directory of definitions, as InstallCRDs takes it, with which the cluster starts; none when empty.
	CRDs string
	// BaseDir is where the cluster's own directory is made; the system's temporary directory when empty.
	BaseDir string
	// EtcdFlags, APIServerFlags and ControllerManagerFlags are appended to the servers' own, so they win.
	EtcdFlags, APIServerFlags, ControllerManagerFlags []string
	// StartTimeout bounds the time until ready, without finding or building binaries; three minutes when zero.
	StartTimeout time.Duration
	// Dial is how the API server reaches nodes and pods, for their logs and ports, and webhooks; nil: directly. With it their addresses
	// need not exist on this machine.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Progress receives a line about everything that takes long; os.Stderr when nil.
	Progress io.Writer
}

const (
	defaultStartTimeout = 3 * time.Minute
	startAttempts       = 5
)

// Cluster is a running control plane.
type Cluster struct {
	options   Options
	binaries  Binaries
	dir       *ownedDir
	keys      *keys
	etcdPorts [2]int
	port      int

	etcd, apiServer, controllerManager *process
	egress                             *http.Server
}

// Start runs a control plane and returns when it is ready. It fails when no binaries are found or can be built, when a
// server exits, or when the start takes too long; then nothing is left running.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if options.StartTimeout == 0 {
		options.StartTimeout = defaultStartTimeout
	}
	if options.Progress == nil {
		options.Progress = os.Stderr
	}
	if options.BaseDir == "" {
		options.BaseDir = os.TempDir()
	}
	binaries, err := Locate(ctx, options.ControllerManager, options.Progress)
	if err != nil {
		return nil, fmt.Errorf("finding the control plane's binaries: %w", err)
	}
	sweep(options.BaseDir)
	if options.CRDs == "" {
		return startRetrying(ctx, options, binaries)
	}
	there := false
	if options.DataFrom == "" && options.DataDir == "" {
		if options.DataFrom, err = prepared(ctx, options, binaries); err != nil {
			return nil, err
		}
		there = options.DataFrom != ""
	}
	c, err := startRetrying(ctx, options, binaries)
	if err != nil || there {
		return c, err
	}
	if err := c.InstallCRDs(ctx, options.CRDs); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// startRetrying starts the servers, on other ports where one was taken meanwhile.
func startRetrying(ctx context.Context, options Options, binaries Binaries) (*Cluster, error) {
	for attempt := 1; ; attempt++ {
		c, err := startOnce(ctx, options, binaries)
		if err == nil {
			return c, nil
		}
		if attempt == startAttempts || !errors.Is(err, errPortTaken) {
			return nil, fmt.Errorf("starting the control plane: %w", err)
		}
	}
}

func startOnce(ctx context.Context, options Options, binaries Binaries) (*Cluster, error) {
	dir, err := newOwnedDir(options.BaseDir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, binaries: binaries, dir: dir}
	ctx, cancel := context.WithTimeout(ctx, options.StartTimeout)
	defer cancel()
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) startAll(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if !c.options.ControllerManager {
		return nil
	}
	return c.startControllerManager(ctx)
}

// prepare writes what the servers read: certificates and keys, the audit policy, a copy of earlier data.
func (c *Cluster) prepare() error {
	ports, err := FreePorts(3)
	if err != nil {
		return err
	}
	c.etcdPorts, c.port = [2]int{ports[0], ports[1]}, ports[2]
	if c.keys, err = newKeys(); err != nil {
		return fmt.Errorf("making certificates: %w", err)
	}
	if err := c.keys.write(c.path("pki")); err != nil {
		return fmt.Errorf("writing certificates: %w", err)
	}
	if c.options.Audit {
		policy := c.options.AuditPolicy
		if policy == nil {
			policy = []byte(defaultAuditPolicy)
		}
		if err := os.WriteFile(c.path(auditPolicyFile), policy, 0o600); err != nil {
			return fmt.Errorf("writing the audit policy: %w", err)
		}
	}
	if err := c.startEgress(); err != nil {
		return err
	}
	if c.options.DataFrom != "" {
		if err := os.CopyFS(c.dataDir(), os.DirFS(c.options.DataFrom)); err != nil {
			return fmt.Errorf("copying etcd's data from %s: %w", c.options.DataFrom, err)
		}
	}
	return nil
}

// Stop ends the servers and removes the cluster's directory. A kept data directory stays, whole. Stopping twice is no
// error.
func (c *Cluster) Stop() error {
	c.controllerManager.kill()
	c.apiServer.kill()
	var stopped error
	if c.options.DataDir != "" {
		stopped = c.etcd.terminate()
	}
	c.etcd.kill()
	return errors.Join(stopped, c.stopEgress(), c.dir.remove())
}

// Dir returns the cluster's own directory, with the servers' logs in it. It is gone after Stop.
func (c *Cluster) Dir() string { return c.dir.path }

// APIServerURL returns the address of the API server, https on loopback. It stays the same when the API server is
// stopped and started.
func (c *Cluster) APIServerURL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }

// CAData returns the PEM certificate of the authority that signed the API server's certificate.
func (c *Cluster) CAData() []byte { return c.keys.caPEM }

func (c *Cluster) path(name string) string { return filepath.Join(c.dir.path, name) }

func (c *Cluster) dataDir() string {
	if c.options.DataDir != "" {
		return c.options.DataDir
	}
	return c.path("etcd")
}
