package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"drover.dev/drover/shared/filelock"
	"drover.dev/drover/shared/testkit/cluster"
)

const (
	downTimeout = 30 * time.Second
	downPoll    = 50 * time.Millisecond

	// readyFD is the first of a child's extra files: the pipe that the holder closes when it is ready.
	readyFD = 3
)

// spec is the control plane that up starts.
type spec struct {
	name              string
	controllerManager bool
	crds              bool
	dataDir           string
}

func (s *spec) flags(command *cobra.Command) {
	nameFlag(command, &s.name)
	controllerManagerFlag(command, &s.controllerManager)
	command.Flags().BoolVar(&s.crds, "crds", true, "install Drover's CRDs")
	command.Flags().StringVar(&s.dataDir, "data-dir", "", "keep etcd's data in this directory, and use the data that it has")
}

func (s *spec) arguments() []string {
	return []string{
		"--name=" + s.name, "--data-dir=" + s.dataDir,
		fmt.Sprintf("--controller-manager=%t", s.controllerManager), fmt.Sprintf("--crds=%t", s.crds),
	}
}

func nameFlag(command *cobra.Command, name *string) {
	command.Flags().StringVar(name, "name", "default", "name of the control plane; several can run at once")
}

func controllerManagerFlag(command *cobra.Command, wanted *bool) {
	command.Flags().BoolVar(wanted, "controller-manager", false, "with kube-controller-manager")
}

// running is what the holder of a control plane writes into the file that it keeps locked.
type running struct {
	PID        int    `json:"pid"`
	Kubeconfig string `json:"kubeconfig"`
}

// recordPath is where the holder of the named control plane keeps its record: one place for each user.
func recordPath(name string) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("drover-up-%d-%s.json", os.Getuid(), name))
}

// up starts a holder in the background, unless one runs already, and returns the kubeconfig's path.
func up(ctx context.Context, s spec) (string, error) {
	if s.dataDir != "" {
		absolute, err := filepath.Abs(s.dataDir)
		if err != nil {
			return "", fmt.Errorf("finding the data directory: %w", err)
		}
		s.dataDir = absolute
	}
	if found, err := find(s.name); found != nil || err != nil {
		if err == nil {
			_, _ = fmt.Fprintf(os.Stderr, "control plane %q runs already\n", s.name)
			return found.Kubeconfig, nil
		}
		return "", err
	}
	// Here, so that the progress is printed; the holder finds the binaries in the cache.
	if _, err := cluster.Locate(ctx, s.controllerManager, os.Stderr); err != nil {
		return "", err
	}
	return startHolder(s)
}

// startHolder runs this program again, detached from the terminal, and waits for its kubeconfig or its error.
func startHolder(s spec) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	// The outputs go to an unlinked file: no process waits for a pipe, and no file stays.
	outputs, err := os.CreateTemp("", "drover-up-")
	if err != nil {
		return "", fmt.Errorf("starting the holder: %w", err)
	}
	defer func() { _ = outputs.Close() }()
	ready, write, err := os.Pipe()
	if err := errors.Join(err, os.Remove(outputs.Name())); err != nil {
		return "", fmt.Errorf("starting the holder: %w", err)
	}
	holder := exec.Command(self, append([]string{"hold"}, s.arguments()...)...)
	holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	holder.Stdout, holder.Stderr, holder.ExtraFiles = outputs, outputs, []*os.File{write}
	if err := errors.Join(holder.Start(), write.Close()); err != nil {
		return "", fmt.Errorf("starting the holder: %w", err)
	}
	_, _ = io.Copy(io.Discard, ready) // ends when the holder is ready, or is no more
	found, err := find(s.name)
	if err == nil && found == nil {
		output, _ := io.ReadAll(io.NewSectionReader(outputs, 0, 1<<20))
		err = fmt.Errorf("the control plane did not start:\n%s", bytes.TrimSpace(output))
	}
	if err != nil {
		return "", err
	}
	return found.Kubeconfig, nil
}

// hold starts a control plane, records it and stops it when the context ends.
func hold(ctx context.Context, s spec) (err error) {
	syscall.CloseOnExec(readyFD) // the servers must not keep it open
	record, err := filelock.Try(recordPath(s.name))
	if err != nil {
		return err
	}
	defer func() { _ = record.Close() }()
	options := cluster.Options{ControllerManager: s.controllerManager, DataDir: s.dataDir}
	if s.crds {
		root, err := cluster.ModuleRoot()
		if err != nil {
			return err
		}
		options.CRDs = filepath.Join(root, "crds")
	}
	c, err := cluster.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(), os.Remove(record.Name())) }()
	if err := writeRecord(c, record); err != nil {
		return err
	}
	if err := os.NewFile(readyFD, "ready").Close(); err != nil {
		return fmt.Errorf("reporting that the control plane is ready: %w", err)
	}
	<-ctx.Done()
	return nil
}

// writeRecord writes the kubeconfig and marks the record as ready.
func writeRecord(c *cluster.Cluster, record *os.File) error {
	kubeconfig := filepath.Join(c.Dir(), "kubeconfig")
	if err := c.AdminKubeconfig(kubeconfig); err != nil {
		return err
	}
	data, err := json.Marshal(running{PID: os.Getpid(), Kubeconfig: kubeconfig})
	if err != nil {
		return fmt.Errorf("recording the control plane: %w", err)
	}
	if _, err := record.WriteAt(data, 0); err != nil {
		return fmt.Errorf("recording the control plane: %w", err)
	}
	return nil
}

// find returns the record of the named control plane while its holder lives, else nil.
func find(name string) (*running, error) {
	path := recordPath(name)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of %q: %w", name, err)
	}
	lock, err := filelock.Try(path)
	if err == nil {
		return nil, errors.Join(os.Remove(path), lock.Close()) // its holder died
	}
	if !errors.Is(err, filelock.ErrHeld) {
		return nil, err
	}
	var found running
	if err := json.Unmarshal(data, &found); err != nil {
		return nil, fmt.Errorf("control plane %q is still starting", name)
	}
	return &found, nil
}

// down asks the holder to stop and waits until it has.
func down(ctx context.Context, name string) error {
	found, err := find(name)
	if err != nil {
		return err
	}
	if found == nil {
		_, _ = fmt.Fprintf(os.Stderr, "no control plane %q runs\n", name)
		return nil
	}
	if err := syscall.Kill(found.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping control plane %q: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	tick := time.NewTicker(downPoll)
	defer tick.Stop()
	for {
		if found, err := find(name); found == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("control plane %q has not stopped: %w", name, ctx.Err())
		case <-tick.C:
		}
	}
}
