package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/e2e/world"
)

// scenario is one test without tests of its own. reason is what real servers did not serve, where that ended it.
type scenario struct {
	name, result string
	took, reason string
}

// unserved is the result of a scenario that needs what real servers do not serve.
const unserved = "NOT RUN"

// report collects the results of all packages.
type report struct {
	selected  *regexp.Regexp
	scenarios []scenario
	notRun    []notRun
	failures  []string
	took      time.Duration
}

// notRun is a scenario that real servers cannot serve here.
type notRun struct{ name, reason string }

// result matches the line that ends a test.
var result = regexp.MustCompile(`^( *)--- (PASS|FAIL|SKIP): (\S+) \(([0-9.]+s)\)`)

// running matches the lines that name the test whose output follows.
var running = regexp.MustCompile(`^=== (?:RUN|NAME|CONT) +(\S+)`)

// run runs the scenarios of one package, and prints each when it ends.
func (r *report) run(ctx context.Context, directory string, p suite) error {
	began := time.Now()
	defer func() { r.took += time.Since(began) }()
	binary := binaryOf(directory, p.name)
	names, err := exec.CommandContext(ctx, binary, "-test.list", ".").Output()
	if err != nil {
		return fmt.Errorf("listing the tests of %s: %w", p.name, err)
	}
	var run []string
	for name := range strings.FieldsSeq(string(names)) {
		reason := p.reason(name)
		switch full := p.name + " " + name; {
		case !strings.HasPrefix(name, "Test") || !r.selected.MatchString(full):
		case reason != "":
			r.notRun = append(r.notRun, notRun{full, reason})
		default:
			run = append(run, name)
		}
	}
	if len(run) == 0 {
		return nil
	}
	for name, reason := range p.without {
		if strings.Contains(name, "/") && r.selected.MatchString(p.name+" "+name) {
			r.notRun = append(r.notRun, notRun{p.name + " " + name, reason})
		}
	}
	fmt.Printf("\n%s\n", p.name)
	return r.start(ctx, directory, p, binary, run)
}

// start runs the tests, one after the other, and follows their output.
func (r *report) start(ctx context.Context, directory string, p suite, binary string, run []string) error {
	args := []string{"-test.v", "-test.timeout=0", "-test.parallel=1", "-test.run", "^(" + strings.Join(run, "|") + ")$"}
	if skip := p.skipped(); skip != "" {
		args = append(args, "-test.skip", skip)
	}
	command := exec.CommandContext(ctx, binary, args...)
	command.Dir = p.name
	log := filepath.Join(os.TempDir(), strings.ReplaceAll(p.name, "/", "-")+".log")
	output, err := os.Create(log)
	if err != nil {
		return fmt.Errorf("making a log: %w", err)
	}
	defer func() { _ = output.Close() }()
	reading, writing := io.Pipe()
	command.Stdout, command.Stderr = writing, writing
	followed := make(chan []scenario)
	go func() { followed <- follow(reading, output) }()
	failed := command.Run()
	if err := writing.Close(); err != nil {
		return fmt.Errorf("reading the output of %s: %w", p.name, err)
	}
	scenarios := <-followed
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return fmt.Errorf("running %s: %w", p.name, failed)
	}
	r.add(p.name, scenarios, failed, log)
	return nil
}

// follow copies the output to the log, prints each scenario that ends, and returns them all.
func follow(from io.Reader, log io.Writer) []scenario {
	var all []scenario
	reasons, current := map[string]string{}, ""
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(log, line)
		if found := running.FindStringSubmatch(line); found != nil {
			current = found[1]
		}
		if _, text, found := strings.Cut(line, world.NotServed+": "); found && reasons[current] == "" {
			reasons[current] = strings.TrimSpace(text)
		}
		if found := result.FindStringSubmatch(line); found != nil {
			s := scenario{name: found[3], result: found[2], took: found[4], reason: reasons[found[3]]}
			if s.result == "FAIL" && s.reason != "" {
				s.result = unserved
			}
			all = append(all, s)
			fmt.Printf("  %-7s %8s  %s\n", s.result, s.took, s.name)
		}
		if err != nil {
			return all
		}
	}
}

// add keeps the scenarios. A test with tests of its own is not one, unless it failed and none of its tests did.
func (r *report) add(name string, scenarios []scenario, failed error, log string) {
	parents := map[string]bool{}
	for _, s := range scenarios {
		for at := range len(s.name) {
			if s.name[at] == '/' {
				parents[s.name[:at]] = parents[s.name[:at]] || s.result != "PASS"
			}
		}
	}
	failures := len(r.failures)
	for _, s := range scenarios {
		full := name + " " + s.name
		partFailed, isParent := parents[s.name]
		switch {
		case isParent && (partFailed || s.result == "PASS"):
		case s.result == unserved:
			r.notRun = append(r.notRun, notRun{full, s.reason})
		default:
			r.scenarios = append(r.scenarios, scenario{name: full, result: s.result, took: s.took})
			if s.result != "PASS" {
				r.failures = append(r.failures, full)
			}
		}
	}
	if failed != nil && (len(r.failures) > failures ||
		!slices.ContainsFunc(scenarios, func(s scenario) bool { return s.result == unserved })) {
		if len(r.failures) == failures {
			r.failures = append(r.failures, name+" (its end)")
		}
		content, err := os.ReadFile(log)
		fmt.Printf("%s failed (%v); its log:\n%s\n%v\n", name, failed, content, err)
	}
}

// print lists all results; the error says that a scenario failed.
func (r *report) print(out io.Writer, spdkTarget string) error {
	passed := 0
	for _, s := range r.scenarios {
		if s.result == "PASS" {
			passed++
		}
	}
	fmt.Fprintf(out, "\nNot run, and why:\n")
	reasons := map[string][]string{}
	var order []string
	for _, n := range append(r.notRun, notRun{"the v2 parts of all scenarios", withoutV2(spdkTarget)}) {
		if reasons[n.reason] == nil {
			order = append(order, n.reason)
		}
		reasons[n.reason] = append(reasons[n.reason], n.name)
	}
	for _, reason := range order {
		fmt.Fprintf(out, "  %s\n", reason)
		for _, name := range reasons[reason] {
			fmt.Fprintf(out, "    %s\n", name)
		}
	}
	fmt.Fprintf(out, "\n%d scenarios ran on real instance managers: %d passed, %d failed; %d were not run; %s.\n", len(r.scenarios), passed,
		len(r.scenarios)-passed, len(r.notRun), r.took.Round(time.Second))
	if len(r.failures) > 0 {
		return fmt.Errorf("these failed:\n  %s", strings.Join(r.failures, "\n  "))
	}
	if len(r.scenarios) == 0 {
		return errors.New("no scenario ran")
	}
	return nil
}
