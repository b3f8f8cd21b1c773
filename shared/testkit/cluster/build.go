package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	kubernetesVersion = "v1.36.3"
	buildEstimate     = "about 5 minutes of two quiet cores, 3 GB of Go build cache; once"
	reportEvery       = 15 * time.Second
	lockPoll          = 200 * time.Millisecond
)

// buildArguments are the whole of `go build` but its output; they are part of the cache's key.
func buildArguments() []string {
	const version = "-X k8s.io/component-base/version."
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w " + version + "gitVersion=" + kubernetesVersion + " " + version + "gitMajor=1 " + version + "gitMinor=36"}
}

// cached returns the cache's directory of binaries and fills it first if need be. Of several processes that ask at the
// same time one builds and the others wait.
func cached(ctx context.Context, controllerManager bool, progress io.Writer) (string, error) {
	source, err := sourceDir()
	if err != nil {
		return "", err
	}
	key, err := cacheKey(source)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cacheRoot(), "controlplane-"+key)
	if _, err := binariesIn(dir, true); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cacheRoot(), 0o755); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	lock, err := waitForLock(ctx, dir+".lock", progress)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if _, err := binariesIn(dir, true); err == nil {
		return dir, nil // the one we waited for built it
	}
	return dir, build(ctx, source, dir, progress)
}

// waitForLock waits for its turn to build.
func waitForLock(ctx context.Context, path string, progress io.Writer) (*os.File, error) {
	began, told := time.Now(), false
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		lock, err := tryLockFile(path)
		if err != nil || lock != nil {
			return lock, err
		}
		if !told {
			_, _ = fmt.Fprintln(progress, "another process is building the control plane; waiting for it")
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting %s for another process that builds: %w", since(began), ctx.Err())
		case <-tick.C:
		}
	}
}

// build compiles the combined binary beside its place, links the servers' names to it, and moves the whole into place.
func build(ctx context.Context, source, dir string, progress io.Writer) error {
	staging, err := os.MkdirTemp(filepath.Dir(dir), "building-")
	if err != nil {
		return fmt.Errorf("making a directory to build in: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if err := compile(ctx, source, filepath.Join(staging, "controlplane"), progress); err != nil {
		return err
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		if err := os.Symlink("controlplane", filepath.Join(staging, name)); err != nil {
			return fmt.Errorf("naming the binaries: %w", err)
		}
	}
	if err := os.Chmod(staging, 0o755); err != nil {
		return fmt.Errorf("opening the cache to its readers: %w", err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(staging, dir)); err != nil {
		return fmt.Errorf("moving the binaries into the cache: %w", err)
	}
	return nil
}

func compile(ctx context.Context, source, output string, progress io.Writer) error {
	command := exec.CommandContext(ctx, "go", append(buildArguments(), "-o", output, "./controlplane")...)
	command.Dir = source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	var messages strings.Builder
	command.Stdout, command.Stderr = &messages, &messages
	_, _ = fmt.Fprintf(progress, "building etcd and Kubernetes %s from Go modules (%s)\n", kubernetesVersion, buildEstimate)
	began := time.Now()
	if err := command.Start(); err != nil {
		return fmt.Errorf("building the control plane: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("building the control plane: %w\n%s", err, messages.String())
			}
			_, _ = fmt.Fprintf(progress, "built the control plane in %s\n", since(began))
			return nil
		case <-tick.C:
			_, _ = fmt.Fprintf(progress, "  still building, %s so far\n", since(began))
		}
	}
}

func since(began time.Time) time.Duration { return time.Since(began).Round(time.Second) }

// cacheKey changes with everything that the binary is made of.
func cacheKey(source string) (string, error) {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, buildArguments())
	programs, err := filepath.Glob(filepath.Join(source, "controlplane", "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range append([]string{filepath.Join(source, "go.mod"), filepath.Join(source, "go.sum")}, programs...) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("reading the control plane's source: %w", err)
		}
		_, _ = fmt.Fprintln(sum, filepath.Base(path), len(data))
		_, _ = sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// cacheRoot is Drover's directory in the user's cache, or a shared one where the user has none.
func cacheRoot() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), "drover-cache")
	}
	return filepath.Join(base, "drover")
}
