package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"drover.dev/drover/shared/filelock"
)

const (
	preparedPrefix = "definitions-"
	// unusedFor is after how long the cache drops etcd's data with definitions that no cluster began with.
	unusedFor = 7 * 24 * time.Hour
)

// prepared returns etcd's data as a cluster leaves them that was just started and got the definitions in options.CRDs. They are made once
// and kept in the cache: to begin with them saves a third of the processor time of a start. A Bazel test has no cache: there the result is
// empty, and the definitions are to be installed.
func prepared(ctx context.Context, options Options, binaries Binaries) (string, error) {
	if os.Getenv("TEST_SRCDIR") != "" {
		return "", nil
	}
	crds, err := readCRDs(options.CRDs)
	if err != nil {
		return "", err
	}
	key, err := preparedKey(binaries, crds)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cacheRoot(), preparedPrefix+key)
	if usePrepared(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(cacheRoot(), 0o755); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	lock, err := waitForLock(ctx, dir+".lock", "a control plane with the definitions", options.Progress)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if usePrepared(dir) {
		return dir, nil // the process that held the lock put it there
	}
	dropUnused(cacheRoot())
	return dir, prepare(ctx, options, binaries, dir)
}

// usePrepared reports whether the data is there, and records that it is used.
func usePrepared(dir string) bool {
	now := time.Now()
	return os.Chtimes(dir, now, now) == nil
}

// prepare fills the directory. The caller holds its lock.
func prepare(ctx context.Context, options Options, binaries Binaries, dir string) error {
	staging := dir + ".making" // may be left from a process that was killed
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("making room for etcd's data: %w", err)
	}
	c, err := startRetrying(ctx, Options{
		DataDir: staging, BaseDir: options.BaseDir, StartTimeout: options.StartTimeout, Progress: options.Progress,
	}, binaries)
	if err != nil {
		return fmt.Errorf("starting a control plane that gets the definitions: %w", err)
	}
	if err := errors.Join(c.InstallCRDs(ctx, options.CRDs), c.Stop()); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	if err := os.Rename(staging, dir); err != nil {
		return fmt.Errorf("moving etcd's data into the cache: %w", err)
	}
	return nil
}

// preparedKey changes with the servers and with each definition.
func preparedKey(binaries Binaries, crds map[string][]byte) (string, error) {
	sum := sha256.New()
	for _, command := range [][]string{binaries.Etcd, binaries.APIServer} {
		path, err := filepath.EvalSymlinks(command[0])
		if err != nil {
			return "", fmt.Errorf("following %s: %w", command[0], err)
		}
		info, err := os.Stat(path)
		if err != nil {
			return "", fmt.Errorf("reading when %s was made: %w", path, err)
		}
		_, _ = fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano())
	}
	names := make([]string, 0, len(crds))
	for name := range crds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		_, _ = fmt.Fprintln(sum, name, len(crds[name]))
		_, _ = sum.Write(crds[name])
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// dropUnused removes data that no cluster began with for a week. What cannot be removed stays for the next time.
func dropUnused(root string) {
	found, _ := filepath.Glob(filepath.Join(root, preparedPrefix+"*"))
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < unusedFor {
			continue
		}
		lock, err := filelock.Try(path + ".lock")
		if err != nil {
			continue
		}
		_ = errors.Join(os.RemoveAll(path), lock.Close(), os.Remove(path+".lock"))
	}
}
