// Command real runs the end-to-end scenarios on real instance managers: in namespaces of its own, in which nothing reaches another machine
// and with which everything ends. At the end it lists the scenarios that ran, and the others, each with the reason.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// options are the flags.
type options struct {
	instanceManager, engine, spdkTarget string
	// scenarios selects the scenarios that run, as a regular expression.
	scenarios string
	// parallel is how many packages run side by side, count how many times each scenario runs.
	parallel, count int
	// directory has the test binaries and everything that the scenarios write, suite is the package that runs inside the namespaces.
	directory, suite string
	// checkOnly ends the program once it knows whether this machine can run the scenarios.
	checkOnly bool
}

func main() {
	o := options{}
	flag.StringVar(&o.instanceManager, "instance-manager", "", "the binary longhorn-instance-manager")
	flag.StringVar(&o.engine, "engine", "", "the engine binary, longhorn")
	flag.StringVar(&o.spdkTarget, "spdk-target", "", "the binary spdk_tgt, for the v2 data engine")
	flag.StringVar(&o.scenarios, "scenarios", "", "run only the scenarios whose name matches this regular expression")
	flag.IntVar(&o.parallel, "parallel", 4, "how many packages run side by side: they mostly wait")
	flag.IntVar(&o.count, "count", 1, "how many times each scenario runs; commands run once")
	flag.StringVar(&o.directory, "directory", "", "for this program's own use: where it runs inside the namespaces")
	flag.StringVar(&o.suite, "suite", "", "for this program's own use: what it runs inside the namespaces")
	flag.BoolVar(&o.checkOnly, "check", false, "find out whether this machine can run the scenarios, and run none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted, and everything that it started has ended: %w", err)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	selected, err := regexp.Compile(o.scenarios)
	if err != nil {
		return fmt.Errorf("--scenarios: %w", err)
	}
	if o.directory != "" {
		return runInside(ctx, o, selected)
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.checkOnly {
		return nil
	}
	return runOutside(ctx, o, selected)
}

// check finds out whether this machine can run real servers.
func (o *options) check() error {
	if os.Geteuid() != 0 {
		return errors.New("this needs root: the nodes are network, mount and PID namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return errors.New("this needs the command ip (Debian: apt-get install iproute2): it connects the nodes")
	}
	var err error
	if o.instanceManager, err = usable("INSTANCE_MANAGER", o.instanceManager, "daemon"); err != nil {
		return err
	}
	o.engine, err = usable("ENGINE", o.engine, "controller", "replica", "sync-agent")
	return err
}

// usable returns the absolute path of a binary that runs on this machine and has these commands: another program, or the other one of the
// two, would fail in each scenario.
func usable(name, path string, commands ...string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("name the binary: make real INSTANCE_MANAGER=path ENGINE=path; %s is missing", name)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	help, err := exec.Command(absolute, "--help").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: the binary %s does not run on this machine: %w", name, absolute, err)
	}
	words := strings.Fields(string(help))
	for _, command := range commands {
		if !slices.Contains(words, command) {
			return "", fmt.Errorf("%s: %s is another program: its help names no command %s", name, absolute, command)
		}
	}
	return absolute, nil
}
