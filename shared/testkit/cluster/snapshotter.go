package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	snapshotterModule = "github.com/kubernetes-csi/external-snapshotter"
	snapshotterName   = "common-snapshot-controller"
	snapshotCRDs      = "snapshot-crds"
)

// Snapshotter is the common snapshot controller of kubernetes-csi, which turns VolumeSnapshots into
// VolumeSnapshotContents: the program, and the directory of the custom resource definitions that it works on.
type Snapshotter struct{ Program, CRDs string }

// LocateSnapshotter finds both: beside the servers among the inputs of a Bazel test; else in the cache, into which they are
// built once from Go modules. Long steps are reported on progress.
func LocateSnapshotter(ctx context.Context, progress io.Writer) (Snapshotter, error) {
	if runfiles := os.Getenv("TEST_SRCDIR"); runfiles != "" && etcdRunfile != "" {
		return snapshotterIn(filepath.Dir(filepath.Join(runfiles, etcdRunfile)))
	}
	root, err := ModuleRoot()
	if err != nil {
		return Snapshotter{}, err
	}
	source := filepath.Join(root, "e2e", "devcluster", "snapshotter")
	key, err := cacheKey(source, snapshotterArguments())
	if err != nil {
		return Snapshotter{}, err
	}
	dir := filepath.Join(cacheRoot(), "snapshotter-"+key)
	if found, err := snapshotterIn(dir); err == nil {
		return found, nil
	}
	if err := os.MkdirAll(cacheRoot(), 0o755); err != nil {
		return Snapshotter{}, fmt.Errorf("making the cache: %w", err)
	}
	lock, err := waitForLock(ctx, dir+".lock", "the common snapshot controller", progress)
	if err != nil {
		return Snapshotter{}, err
	}
	defer func() { _ = lock.Close() }()
	if found, err := snapshotterIn(dir); err == nil {
		return found, nil // the process that held the lock put it there
	}
	if err := buildSnapshotter(ctx, source, dir, progress); err != nil {
		return Snapshotter{}, err
	}
	return snapshotterIn(dir)
}

func snapshotterIn(dir string) (Snapshotter, error) {
	found := Snapshotter{Program: filepath.Join(dir, snapshotterName), CRDs: filepath.Join(dir, snapshotCRDs)}
	for _, path := range []string{found.Program, found.CRDs} {
		if _, err := os.Stat(path); err != nil {
			return Snapshotter{}, fmt.Errorf("searching for the common snapshot controller: %w", err)
		}
	}
	return found, nil
}

func snapshotterArguments() []string {
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}
}

// buildSnapshotter builds the program beside its place, copies the definitions out of their module, and moves both into place.
// The caller holds the lock of dir.
func buildSnapshotter(ctx context.Context, source, dir string, progress io.Writer) error {
	staging := dir + ".building" // may be left from a builder that was killed
	if err := errors.Join(os.RemoveAll(staging), os.Mkdir(staging, 0o755)); err != nil {
		return fmt.Errorf("making a directory to build in: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }()
	_, _ = fmt.Fprintln(progress, "building the common snapshot controller from Go modules: about 2 minutes on two quiet cores, once")
	began := time.Now()
	_, err := goIn(ctx, source, append(snapshotterArguments(), "-o", filepath.Join(staging, snapshotterName), snapshotterModule+
		"/v8/cmd/snapshot-controller")...)
	if err != nil {
		return fmt.Errorf("building the common snapshot controller: %w", err)
	}
	client, err := goIn(ctx, source, "list", "-m", "-f", "{{.Dir}}", snapshotterModule+"/client/v8")
	if err != nil {
		return fmt.Errorf("searching for the definitions of VolumeSnapshots: %w", err)
	}
	definitions := os.DirFS(filepath.Join(strings.TrimSpace(client), "config", "crd"))
	if err := os.CopyFS(filepath.Join(staging, snapshotCRDs), definitions); err != nil {
		return fmt.Errorf("copying the definitions of VolumeSnapshots: %w", err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(staging, dir)); err != nil {
		return fmt.Errorf("moving the common snapshot controller into the cache: %w", err)
	}
	_, _ = fmt.Fprintf(progress, "built the common snapshot controller in %s\n", since(began))
	return nil
}

// goIn runs a command of Go in a module and returns its output.
func goIn(ctx context.Context, dir string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	var output, problems strings.Builder
	command.Stdout, command.Stderr = &output, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, problems.String())
	}
	return output.String(), nil
}
