package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"drover.dev/drover/e2e/world"
)

// runOutside builds everything, and runs this program again in namespaces of its own. With them everything ends that runs there.
func runOutside(ctx context.Context, o options) (err error) {
	directory, err := os.MkdirTemp("", "drover-real-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	if err := buildAll(ctx, directory); err != nil {
		return err
	}
	// The kernel kills the child when the thread ends that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command("/proc/self/exe", "--instance-manager", o.instanceManager, "--engine", o.engine, "--spdk-target", o.spdkTarget,
		"--scenarios", o.scenarios, "--directory", directory)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC}
	if err := command.Start(); err != nil {
		return fmt.Errorf("making namespaces: %w", err)
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ctx.Done():
			_ = command.Process.Kill() // it has ended
		case <-ended:
		}
	}()
	if err := command.Wait(); err != nil {
		return errors.New("not every scenario passed")
	}
	return nil
}

// buildAll builds the tests and what they start, while the modules can still be downloaded.
func buildAll(ctx context.Context, directory string) error {
	fmt.Println("building the scenarios; from an empty cache that takes some minutes")
	for _, name := range packageNames() {
		command := exec.CommandContext(ctx, "go", "test", "-ldflags=-s", "-c", "-o", binaryOf(directory, name), "./"+name)
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	for _, overlay := range []string{world.RealNodesBinary, world.SimulatorBinary, world.Plugin} {
		if err := world.Build(ctx, directory, nil, overlay); err != nil {
			return err
		}
	}
	if err := world.Build(ctx, directory, nil, world.EveryController()...); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(directory, "tmp"), 0o755)
}

func binaryOf(directory, name string) string {
	return filepath.Join(directory, strings.ReplaceAll(name, "/", "-")+".test")
}

// runInside runs the scenarios as the first process of the namespaces.
func runInside(ctx context.Context, o options, selected *regexp.Regexp) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("leaving the mounts of the machine: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("setting up the network: %w: %s", err, out)
	}
	for name, value := range map[string]string{world.RealInstanceManager: o.instanceManager, world.RealEngine: o.engine,
		"TMPDIR": filepath.Join(o.directory, "tmp")} {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
	}
	r := &report{selected: selected}
	for _, p := range packages {
		if err := r.run(ctx, o.directory, p); err != nil {
			return err
		}
	}
	return r.print(os.Stdout, o.spdkTarget)
}
