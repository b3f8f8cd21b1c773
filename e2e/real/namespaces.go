package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/world"
)

// runOutside builds everything, and runs this program again for each package, in namespaces of its own. With them everything ends that
// runs there.
func runOutside(ctx context.Context, o options, selected *regexp.Regexp) (err error) {
	began := time.Now()
	directory, err := os.MkdirTemp("", "drover-real-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	if err := buildAll(ctx, directory, selected); err != nil {
		return err
	}
	o.directory = directory
	wanted := slices.DeleteFunc(slices.Clone(packages), func(p suite) bool { return !p.selects(selected) })
	reports := make([]report, len(wanted))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(max(o.parallel, 1))
	for i, p := range wanted {
		group.Go(func() error {
			o := o
			o.suite = p.name
			return reports[i].runApart(groupCtx, o)
		})
	}
	failed := group.Wait()
	all := &report{}
	for _, r := range reports {
		all.join(r)
	}
	return errors.Join(failed, all.print(os.Stdout, o.spdkTarget, time.Since(began)))
}

// runApart runs one package in namespaces of its own, and reads its results.
func (r *report) runApart(ctx context.Context, o options) error {
	// The kernel kills the child when the thread ends that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command("/proc/self/exe", "--instance-manager", o.instanceManager, "--engine", o.engine, "--scenarios", o.scenarios,
		"--count", strconv.Itoa(o.count), "--directory", o.directory, "--suite", o.suite)
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
		return fmt.Errorf("running %s: %w", o.suite, err)
	}
	content, err := os.ReadFile(resultOf(o.directory, o.suite))
	if err != nil {
		return fmt.Errorf("reading the results of %s: %w", o.suite, err)
	}
	return json.Unmarshal(content, r)
}

// buildAll builds the tests and what they start, while the modules can still be downloaded.
func buildAll(ctx context.Context, directory string, selected *regexp.Regexp) error {
	fmt.Println("building the scenarios; from an empty cache that takes some minutes")
	built := map[string]bool{}
	for _, p := range packages {
		args := []string{"test", "-ldflags=-s", "-c", "-o", binaryOf(directory, p.source), "./" + p.source}
		switch {
		case built[p.source] || !p.selects(selected):
			continue
		case p.args != nil:
			args = []string{"build", "-o", binaryOf(directory, p.source), "./" + p.source}
		}
		built[p.source] = true
		if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", p.name, err, out)
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

func binaryOf(directory, name string) string { return filepath.Join(directory, fileName(name)+".test") }

func resultOf(directory, name string) string { return filepath.Join(directory, fileName(name)+".json") }

// fileName makes the name of a package one that a file can have.
func fileName(name string) string { return strings.NewReplacer("/", "-", " ", "-").Replace(name) }

// runInside runs a package as the first process of the namespaces, and writes its results.
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
	r := &report{}
	for _, p := range packages {
		if p.name != o.suite {
			continue
		}
		if err := r.run(ctx, o, p, selected); err != nil {
			return err
		}
	}
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding the results: %w", err)
	}
	return os.WriteFile(resultOf(o.directory, o.suite), content, 0o644)
}
