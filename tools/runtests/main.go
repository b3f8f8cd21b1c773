// Runtests runs the tests of all modules of this repository side by side. It prints each package when it ends, the packages that run
// every half minute, and at the end all packages by their time, longest first.
//
// "make test" runs it with -set=fast: the build tag "fast" leaves out the files that docs/tests.md lists. -set=rest runs the packages
// that have such files, whole; -set=all runs everything.
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
	"slices"
	"strings"
	"syscall"
	"time"
)

// modules are the directories with a go.mod whose tests are run, seen from the root. The first one is the product's.
var modules = []string{".", "e2e/claims", "e2e/guides", "e2e/ui", "tools/images", "tools/charts", "tools/monitoring", "tools/runtests"}

// longest are the packages that take longest, and start first: the shorter ones fill the processors while these end.
var longest = []string{
	"./e2e/attach", "./e2e/scenarios", "./e2e/upgrade/...", "./e2e/disks/...", "./e2e/snapshot/...", "./e2e/rights", "./e2e/watches",
	"./attach-controller/internal/machinecontroller", "./im-monitor/conformance/...", "./im-monitor/internal/enginepoll",
	"./im-monitor/internal/instancecontroller", "./snapshot-controller/internal/certificatecontroller",
	"./attach-controller/internal/podrecoverycontroller", "./upgrade-controller/internal/upgradecontroller",
}

// options are the flags of a run.
type options struct {
	set        string
	root       string
	sideBySide int
	timeout    time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.set, "set", "fast", "fast, rest (packages of which fast leaves out files) or all")
	flag.StringVar(&o.root, "root", ".", "the repository's directory")
	flag.IntVar(&o.sideBySide, "p", 6, "how many packages, and how many tests of a package, run side by side")
	flag.DurationVar(&o.timeout, "timeout", 90*time.Minute, "ends a package that hangs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "runtests:", err)
	}
	if err != nil || failed {
		stop()
		os.Exit(1) //nolint:gocritic // stop has run
	}
}

// run runs the set in all modules. failed says that a test failed; err says why the tests could not be run.
func run(ctx context.Context, o options) (failed bool, err error) {
	commands, err := commandsOf(ctx, o)
	if err != nil {
		return false, err
	}
	total := 0
	for _, c := range commands {
		total += len(c.packages)
	}
	report := newReport(os.Stdout, total)
	report.printf("%d packages in %d modules; each is printed when it ends\n", total, len(commands))
	err = runAll(ctx, commands, report)
	report.summarize(commands)
	return report.failed(), err
}

// command is one "go test" in a module.
type command struct {
	module   string
	packages []string
	args     []string

	// processor is the processor time of the command and of everything that it started, once it ended.
	processor time.Duration
}

// commandsOf returns one command for each module that has packages of the set.
func commandsOf(ctx context.Context, o options) ([]*command, error) {
	var commands []*command
	for _, module := range modules {
		patterns := []string{"./..."}
		if module == "." {
			patterns = slices.Concat(longest, patterns)
		}
		c, err := commandOf(ctx, o, module, patterns)
		if err != nil {
			return nil, err
		}
		if len(c.packages) > 0 {
			commands = append(commands, c)
		}
	}
	return commands, nil
}

// commandOf returns the command that runs the set's packages of one module.
func commandOf(ctx context.Context, o options, module string, patterns []string) (*command, error) {
	dir := filepath.Join(o.root, module)
	packages, err := packagesOf(ctx, dir, o.set, patterns)
	if err != nil {
		return nil, err
	}
	args := []string{"test", "-json", "-ldflags=-s", fmt.Sprintf("-timeout=%s", o.timeout), fmt.Sprintf("-p=%d", o.sideBySide),
		fmt.Sprintf("-parallel=%d", o.sideBySide)}
	if o.set == "fast" {
		args = append(args, "-tags=fast")
	}
	return &command{module: dir, packages: packages, args: append(args, packages...)}, nil
}

// packagesOf lists the packages of a module that have tests in the set, in the order of the patterns. A test file that the tag "fast"
// leaves out makes its package one of the rest.
func packagesOf(ctx context.Context, dir, set string, patterns []string) ([]string, error) {
	const left = `{{range .IgnoredGoFiles}}{{.}} {{end}}`
	args := []string{"list", "-e", "-f", `{{.ImportPath}}|{{len .TestGoFiles}}{{len .XTestGoFiles}}|` + left}
	if set != "all" {
		args = append(args, "-tags=fast")
	}
	list := exec.CommandContext(ctx, "go", append(args, patterns...)...)
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages of %s: %w", dir, err)
	}
	var packages []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 3 || seen[fields[0]] {
			continue
		}
		seen[fields[0]] = true
		if inSet(set, fields[1] != "00", strings.Contains(fields[2], "_test.go")) {
			packages = append(packages, fields[0])
		}
	}
	return packages, nil
}

// inSet reports whether a package belongs to the set: hasTests says that test files are left with the set's tags, leavesOut that the tag
// "fast" leaves out test files of the package.
func inSet(set string, hasTests, leavesOut bool) bool {
	if set == "rest" {
		return leavesOut
	}
	return hasTests
}

// runAll runs the commands side by side and returns the errors of those that could not run; failed tests are in the report.
func runAll(ctx context.Context, commands []*command, r *report) error {
	errs := make(chan error)
	stopProgress := r.startProgress()
	defer stopProgress()
	for _, c := range commands {
		go func() { errs <- c.run(ctx, r) }()
	}
	var all []error
	for range commands {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// run runs the command and reports its events. A failed test is no error.
func (c *command) run(ctx context.Context, r *report) error {
	goTest := exec.CommandContext(ctx, "go", c.args...)
	goTest.Dir, goTest.Env = c.module, withoutMake(os.Environ())
	// The go command outlives an interrupt until its tests have ended, so that these are interrupted as well.
	goTest.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	goTest.Cancel = func() error { return syscall.Kill(-goTest.Process.Pid, syscall.SIGINT) }
	goTest.WaitDelay = time.Minute
	stdout, err := goTest.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := goTest.StderrPipe()
	if err != nil {
		return err
	}
	if err := goTest.Start(); err != nil {
		return err
	}
	scanned := r.scan(stdout, stderr)
	err = goTest.Wait()
	c.processor = goTest.ProcessState.UserTime() + goTest.ProcessState.SystemTime()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		r.fail()
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("go test in %s: %w", c.module, err)
	}
	return errors.Join(err, scanned)
}

// withoutMake returns the environment without the job server of make: a make that a test runs must not wait for this one's jobs.
func withoutMake(environment []string) []string {
	kept := make([]string, 0, len(environment))
	for _, variable := range environment {
		if name, _, _ := strings.Cut(variable, "="); name != "MAKEFLAGS" && name != "MFLAGS" {
			kept = append(kept, variable)
		}
	}
	return kept
}
