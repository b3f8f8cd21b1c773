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
	kubernetesVersion = "v1.36.3"
	buildEstimate     = "about 5 minutes on two quiet cores and 3 GB of Go's build cache, once"
	reportEvery       = 15 * time.Second
)

// buildArguments are the whole of `go build` but its output; they are part of the cache's key.
func buildArguments() []string {
	const version = "-X k8s.io/component-base/version."
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w " + version + "gitVersion=" + kubernetesVersion + " " + version + "gitMajor=1 " + version + "gitMinor=36"}
}

// build compiles the combined binary in a staging directory, links the servers' names to it, and moves the directory into place.
// The caller holds the lock of dir.
func build(ctx context.Context, source, dir string, progress io.Writer) error {
	staging := dir + ".building" // may be left from a builder that was killed
	if err := errors.Join(os.RemoveAll(staging), os.Mkdir(staging, 0o755)); err != nil {
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
	if err := errors.Join(os.RemoveAll(dir), os.Rename(staging, dir)); err != nil {
		return fmt.Errorf("moving the binaries into the cache: %w", err)
	}
	return nil
}

func compile(ctx context.Context, source, output string, progress io.Writer) error {
	command := exec.CommandContext(ctx, "go", append(buildArguments(), "-o", output, "./controlplane")...)
	command.Dir = source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	_, _ = fmt.Fprintf(progress, "building etcd and Kubernetes %s from Go modules: %s\n", kubernetesVersion, buildEstimate)
	began := time.Now()
	output, err := runReporting(command, func() {
		_, _ = fmt.Fprintf(progress, "  still building the control plane, %s so far\n", since(began))
	})
	if err != nil {
		return fmt.Errorf("building the control plane: %w\n%s", err, output)
	}
	_, _ = fmt.Fprintf(progress, "built the control plane in %s\n", since(began))
	return nil
}

// runReporting runs the command to its end and returns its output; report is called periodically.
func runReporting(command *exec.Cmd, report func()) (string, error) {
	var output strings.Builder
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		return "", err
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return output.String(), err
		case <-tick.C:
			report()
		}
	}
}

func since(began time.Time) time.Duration { return time.Since(began).Round(time.Second) }
