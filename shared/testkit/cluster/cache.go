package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"drover.dev/drover/shared/filelock"
)

const lockPoll = 200 * time.Millisecond

// cached returns the cache's directory of binaries and fills it first if need be. Of several processes that ask at the
// same time one does the work and the others wait.
func cached(ctx context.Context, controllerManager bool, progress io.Writer) (string, error) {
	source, err := sourceDir()
	if err != nil {
		return "", err
	}
	key, err := cacheKey(source, buildArguments())
	if err != nil {
		return "", err
	}
	root := cacheRoot()
	dir := filepath.Join(root, "controlplane-"+key)
	if found := inCache(root, dir, controllerManager); found != "" {
		return found, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	lock, err := waitForLock(ctx, dir+".lock", "the control plane", progress)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if found := inCache(root, dir, controllerManager); found != "" {
		return found, nil // the process that held the lock put it there
	}
	if !controllerManager {
		if err := download(ctx, root, progress); err == nil {
			if found := downloaded(root); found != "" {
				return found, nil
			}
		}
	}
	return dir, build(ctx, source, dir, progress)
}

// inCache returns the directory of usable binaries, built or downloaded, or nothing.
func inCache(root, built string, controllerManager bool) string {
	if _, err := binariesIn(built, true); err == nil {
		return built
	}
	if controllerManager {
		return ""
	}
	return downloaded(root)
}

// waitForLock waits until this process may fill the cache.
func waitForLock(ctx context.Context, path, what string, progress io.Writer) (*os.File, error) {
	began, reported := time.Now(), false
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		lock, err := filelock.Try(path)
		if !errors.Is(err, filelock.ErrHeld) {
			return lock, err
		}
		if !reported {
			_, _ = fmt.Fprintf(progress, "another process is building %s; waiting for it\n", what)
			reported = true
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting %s for another process that builds: %w", since(began), ctx.Err())
		case <-tick.C:
		}
	}
}

// cacheKey changes with everything that the binary is made of.
func cacheKey(source string, arguments []string) (string, error) {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, arguments)
	programs, err := filepath.Glob(filepath.Join(source, "controlplane", "*.go"))
	if err != nil {
		return "", fmt.Errorf("searching for the control plane's source: %w", err)
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

// cacheRoot is Drover's directory in the user's cache, or a shared one where the user has none, as under Bazel: not in TMPDIR, for
// processes with different ones share the ports that are taken.
func cacheRoot() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = "/tmp/drover-cache"
	}
	return filepath.Join(base, "drover")
}
