//go:build !fast

package guides

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cluster"
)

// here is the one system that the commands run against.
var here *world.World

// nodes are those of the system that the commands run against.
var nodes = []string{"node-1", "node-2", "node-3"}

// soon is how long anything that a fixture waits for may take.
const soon = 30 * time.Second

// run starts the system of the demo, with the part of Kubernetes that attaches for pods.
func run(ctx context.Context, m *testing.M) (int, error) {
	w, err := world.Start(ctx, world.Options{Nodes: nodes, Attach: true, Snapshots: true, Upgrades: true, Kubernetes: true})
	if err != nil {
		return 1, err
	}
	if err := world.Build(ctx, w.Dir, nil, world.Plugin); err != nil {
		return 1, errors.Join(err, w.Close())
	}
	here = w
	code := m.Run()
	return code, w.Close()
}

// fixture is what the commands of one page need.
type fixture struct {
	*world.World
	root  string
	shell *shell
	// empty is a shell for a control plane without Drover, where the page installs it.
	empty *shell
	// target is a directory that each node reaches.
	target string
	// values are those that words need and only prepare knows.
	values map[string]string
}

// newFixture returns a shell in a directory of its own that looks like the repository, for an empty system.
func newFixture(t *testing.T, root string) (*fixture, error) {
	f := &fixture{World: here, root: root, target: t.TempDir(), values: map[string]string{}}
	kubeconfig, err := here.AdminKubeconfig()
	if err != nil {
		return nil, err
	}
	f.shell, err = newShell(t, root, kubeconfig)
	return f, err
}

func newShell(t *testing.T, root, kubeconfig string) (*shell, error) {
	dir, home := t.TempDir(), t.TempDir()
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.Name() == "bin" || entry.Name() == ".git" {
			continue
		}
		if err := os.Symlink(filepath.Join(root, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			return nil, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for path, target := range map[string]string{filepath.Join(dir, "bin"): here.Dir, filepath.Join(home, "kubectl"): self,
		filepath.Join(home, "helm"): self, filepath.Join(home, "jq"): self} {
		if err := os.Symlink(target, path); err != nil {
			return nil, err
		}
	}
	return &shell{dir: dir, environment: environ(map[string]string{"HOME": home, "KUBECONFIG": kubeconfig, "EDITOR": "true",
		"PATH": home + ":" + here.Dir + ":" + os.Getenv("PATH"), "SIMULATOR_CONTROL": here.Control()})}, nil
}

// startEmpty starts a control plane without Drover, for the commands that install it; it ends with the page.
func (f *fixture) startEmpty(t *testing.T) error {
	c, err := cluster.Start(context.Background(), cluster.Options{})
	if err != nil {
		return err
	}
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	kubeconfig := filepath.Join(f.shell.dir, "empty.kubeconfig")
	if err := c.AdminKubeconfig(kubeconfig); err != nil {
		return err
	}
	empty := *f.shell
	empty.environment = append(slices.Clone(f.shell.environment), "KUBECONFIG="+kubeconfig)
	f.empty = &empty
	return nil
}

// sh runs a text that prepares something, in the shell of the page.
func (s *shell) sh(ctx context.Context, text string) error {
	out, code, err := s.execute(ctx, text, func(string) bool { return false }, false)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d", code)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", text, err, out.all())
	}
	return nil
}

// sweeping empties the system when the page is done.
func sweeping(t *testing.T) context.Context { return harness.Empty(t, here, 4*time.Minute) }

// volume creates the v2 volume vol-1 of three replicas, detached.
func volume(ctx context.Context, f *fixture) error {
	return f.Order(ctx, "vol-1", v1beta2.DataEngineV2, 3, nil)
}

// attached is volume, attached to node-1 by hand.
func attached(ctx context.Context, f *fixture) error {
	return attachedAs(ctx, f, "vol-1", v1beta2.DataEngineV2)
}

func attachedAs(ctx context.Context, f *fixture, name, engine string) error {
	if err := f.Order(ctx, name, engine, 3, nil); err != nil {
		return err
	}
	if err := f.Attach(ctx, name, "node-1", soon); err != nil {
		return err
	}
	return f.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, soon)
}

// stray is the name of an instance that no object claims.
const stray = "vol-1-r-1a2b"

// orphan starts an instance without an object on node-1, unless its Orphan is there, and waits for that.
func orphan(ctx context.Context, f *fixture) error {
	manager := f.InstanceManager("node-1", v1beta2.DataEngineV1)
	present, err := f.OrphanOf(ctx, stray, manager)
	if err != nil || present != nil && present.DeletionTimestamp == nil {
		return err
	}
	if present != nil {
		if err := f.WaitOrphanGone(ctx, present.Name, soon); err != nil {
			return err
		}
	}
	running, err := f.StartInstance(ctx, world.Instance{Name: stray, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV1,
		InstanceManager: manager})
	if err != nil {
		return err
	}
	stale := world.Stale{Name: stray, UUID: running.UUID, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV1,
		InstanceManager: manager, Node: "node-1"}
	f.values["orphan"] = stale.Orphan()
	_, err = f.WaitOrphan(ctx, stale, soon)
	return err
}
