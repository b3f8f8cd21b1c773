package world

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"drover.dev/drover/shared/testkit/cluster"
)

// The controllers' names, which are their package paths.
const (
	APIGateway         = "api-gateway"
	AttachController   = "attach-controller"
	DiskController     = "disk-controller"
	IMMonitor          = "im-monitor"
	OrphanController   = "orphan-controller"
	SimulatorBinary    = "simulator"
	SnapshotController = "snapshot-controller"
	UpgradeController  = "upgrade-controller"
)

// Plugin is the name of kubectl's plugin.
const Plugin = "kubectl-drover"

// EveryController names all controllers; Controllers names those of a World.
func EveryController() []string {
	return []string{AttachController, IMMonitor, OrphanController, SnapshotController, UpgradeController}
}

var packages = map[string]string{
	APIGateway:         "./api-gateway",
	AttachController:   "./attach-controller",
	DiskController:     "./disk-controller",
	IMMonitor:          "./im-monitor",
	OrphanController:   "./orphan-controller",
	SimulatorBinary:    "./im-monitor/simulator",
	RealNodesBinary:    "./im-monitor/simulator/realnodes",
	SnapshotController: "./snapshot-controller",
	UpgradeController:  "./upgrade-controller",
	Plugin:             "./kubectl-drover",
}

// Overlay replaces source files in a build: path, relative to the module root or absolute → contents.
type Overlay map[string][]byte

// bazelTest is set in the tests that Bazel runs.
const bazelTest = "TEST_SRCDIR"

// Build compiles the named binaries into dir. Without an overlay they come from a cache that all runs share, so that
// an unchanged tree costs about a second.
func Build(ctx context.Context, dir string, overlay Overlay, names ...string) error {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return err
	}
	if err := Sources(ctx); err != nil {
		return err
	}
	if len(overlay) > 0 {
		flag, err := writeOverlay(dir, root, overlay)
		if err != nil {
			return err
		}
		return compile(ctx, root, dir, []string{flag}, names)
	}
	if os.Getenv(bazelTest) != "" {
		return fromBazel(root, dir, names)
	}
	cached, unlock, err := lockedCache(root)
	if err != nil {
		return err
	}
	defer unlock()
	if err := compile(ctx, root, cached, nil, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := copyFile(filepath.Join(cached, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("copying the built %s: %w", name, err)
		}
	}
	return nil
}

// fromBazel copies binaries that Bazel built as inputs of this test.
func fromBazel(root, dir string, names []string) error {
	for _, name := range names {
		if err := copyFile(filepath.Join(root, packages[name], name+"_", name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("copying the %s that is an input of the test: %w", name, err)
		}
	}
	return nil
}

// ModuleRoot is the directory of the project's go.mod.
func ModuleRoot(context.Context) (string, error) { return cluster.ModuleRoot() }

// compile builds all names by one command: it loads the packages that they share once, and links side by side.
func compile(ctx context.Context, root, dir string, flags, names []string) error {
	if len(names) == 0 {
		return nil // go build would build the directory itself
	}
	// The flags of go test and go run, so that all share one build cache; the tag is that of releases, see the Makefile.
	args := append([]string{"build", "-buildvcs=false", "-tags=grpcnotrace", "-o", dir + string(filepath.Separator)}, flags...)
	for _, name := range names {
		args = append(args, packages[name])
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", strings.Join(names, ", "), err, out)
	}
	return nil
}

func writeOverlay(dir, root string, overlay Overlay) (string, error) {
	replace := map[string]string{}
	for path, content := range overlay {
		sum := sha256.Sum256([]byte(path))
		file := filepath.Join(dir, "overlay-"+hex.EncodeToString(sum[:8])+".go")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return "", fmt.Errorf("writing the overlay of %s: %w", path, err)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		replace[path] = file
	}
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encoding the overlay: %w", err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	return "-overlay=" + file, nil
}

// lockedCache is the directory of built binaries of this checkout, which one build at a time may use.
func lockedCache(root string) (string, func(), error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", nil, fmt.Errorf("finding the cache directory: %w", err)
	}
	sum := sha256.Sum256([]byte(root))
	dir := filepath.Join(base, "drover", "bin-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("creating the cache of binaries: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("opening the lock of the cache of binaries: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", nil, errors.Join(fmt.Errorf("locking the cache of binaries: %w", err), lock.Close())
	}
	return dir, func() { _ = lock.Close() }, nil
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
