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
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/e2e/world"
)

// scenario is one test without tests of its own. Reason is what real servers did not serve, if that ended it; Figures is what the test
// logged if it passed.
type scenario struct{ Name, Result, Took, Reason, Figures string }

// unserved is the result of a scenario that needs what real servers do not serve.
const unserved = "NOT RUN"

// report has the results of a package, or of all.
type report struct {
	Scenarios []scenario
	NotRun    []notRun
	Failures  []string
}

// notRun is a scenario that real servers cannot serve here.
type notRun struct{ Name, Reason string }

// join adds the results of a package.
func (r *report) join(other report) {
	r.Scenarios = append(r.Scenarios, other.Scenarios...)
	r.NotRun = append(r.NotRun, other.NotRun...)
	r.Failures = append(r.Failures, other.Failures...)
}

// result matches the line that ends a test.
var result = regexp.MustCompile(`^( *)--- (PASS|FAIL|SKIP): (\S+) \(([0-9.]+s)\)`)

// running matches the lines that name the test whose output follows.
var running = regexp.MustCompile(`^=== (?:RUN|NAME|CONT) +(\S+)`)

// logged matches what a test logs.
var logged = regexp.MustCompile(`^ +\w+_test\.go:\d+: (.+)`)

// run runs the scenarios of one package, and prints each when it ends.
func (r *report) run(ctx context.Context, o options, p suite, selected *regexp.Regexp) error {
	binary := binaryOf(o.directory, p.source)
	if p.args != nil {
		if !selected.MatchString(p.name) {
			return nil
		}
		return r.start(ctx, p, binary, p.args)
	}
	names, err := testsOf(p.source)
	if err != nil {
		return err
	}
	var run []string
	for _, name := range p.share(names) {
		reason := p.reason(name)
		switch full := p.title() + " " + name; {
		case !selected.MatchString(full):
		case reason != "":
			r.NotRun = append(r.NotRun, notRun{full, reason})
		default:
			run = append(run, name)
		}
	}
	if len(run) == 0 {
		return nil
	}
	for name, reason := range p.without {
		test, _, isPart := strings.Cut(name, "/")
		if isPart && slices.Contains(run, test) && selected.MatchString(p.title()+" "+name) {
			r.NotRun = append(r.NotRun, notRun{p.title() + " " + name, reason})
		}
	}
	args := []string{"-test.v", "-test.timeout=60m", "-test.parallel=1", "-test.count=" + strconv.Itoa(o.count), "-test.run",
		"^(" + strings.Join(run, "|") + ")$"}
	if skip := p.skipped(); skip != "" {
		args = append(args, "-test.skip", skip)
	}
	return r.start(ctx, p, binary, args)
}

// function matches the beginning of a test.
var function = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// testsOf lists the tests of a package from its sources: its binary would start everything to list them.
func testsOf(source string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(source, "*_test.go"))
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w", source, err)
	}
	var names []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", source, err)
		}
		for _, found := range function.FindAllSubmatch(content, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names, nil
}

// start runs the tests, one after the other, or the command, and follows the output.
func (r *report) start(ctx context.Context, p suite, binary string, args []string) error {
	command := exec.CommandContext(ctx, binary, args...)
	if p.args == nil {
		command.Dir = p.source
	}
	log := filepath.Join(os.TempDir(), fileName(p.name)+".log")
	output, err := os.Create(log)
	if err != nil {
		return fmt.Errorf("making a log: %w", err)
	}
	defer func() { _ = output.Close() }()
	reading, writing := io.Pipe()
	command.Stdout, command.Stderr = writing, writing
	followed := make(chan []scenario)
	go func() { followed <- follow(p.title(), reading, output) }()
	began := time.Now()
	failed := command.Run()
	if err := writing.Close(); err != nil {
		return fmt.Errorf("reading the output of %s: %w", p.name, err)
	}
	scenarios := <-followed
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return fmt.Errorf("running %s: %w", p.name, failed)
	}
	if p.args != nil { // a command is one scenario
		s := scenario{Name: strings.Join(args, " "), Result: "PASS", Took: time.Since(began).Round(time.Second).String()}
		if failed != nil {
			s.Result = "FAIL"
		}
		s.print(p.title())
		scenarios = []scenario{s}
	}
	r.add(p.title(), scenarios, failed, log)
	return nil
}

// print prints a scenario that has ended.
func (s scenario) print(name string) {
	fmt.Printf("  %-7s %8s  %s %s\n", s.Result, s.Took, name, s.Name)
	if s.Result == "PASS" && s.Figures != "" {
		fmt.Printf("%20s%s\n", "", s.Figures)
	}
}

// follow copies the output to the log, prints each scenario that ends, and returns them all.
func follow(name string, from io.Reader, log io.Writer) []scenario {
	var all []scenario
	reasons, figures, current := map[string]string{}, map[string]string{}, ""
	hasParts := map[string]bool{} // the parts of a test print their own results, and a part that is not served fails the whole
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(log, line)
		if found := running.FindStringSubmatch(line); found != nil {
			current = found[1]
			if slash := strings.LastIndexByte(current, '/'); slash > 0 {
				hasParts[current[:slash]] = true
			}
		}
		if _, text, found := strings.Cut(line, world.NotServed+": "); found && reasons[current] == "" {
			reasons[current] = strings.TrimSpace(text)
		}
		if found := logged.FindStringSubmatch(line); found != nil {
			figures[current] += found[1] + "; "
		}
		if found := result.FindStringSubmatch(line); found != nil {
			s := scenario{Name: found[3], Result: found[2], Took: found[4], Reason: reasons[found[3]],
				Figures: strings.TrimSuffix(figures[found[3]], "; ")}
			delete(figures, found[3])
			if s.Result == "FAIL" && s.Reason != "" {
				s.Result = unserved
			}
			all = append(all, s)
			if s.Result != "FAIL" || !hasParts[s.Name] {
				s.print(name)
			}
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
		for at := range len(s.Name) {
			if s.Name[at] == '/' {
				parents[s.Name[:at]] = parents[s.Name[:at]] || s.Result != "PASS"
			}
		}
	}
	failures := len(r.Failures)
	for _, s := range scenarios {
		full := name + " " + s.Name
		partFailed, isParent := parents[s.Name]
		switch {
		case isParent && (partFailed || s.Result == "PASS"):
		case s.Result == unserved:
			r.NotRun = append(r.NotRun, notRun{full, s.Reason})
		default:
			r.Scenarios = append(r.Scenarios, scenario{Name: full, Result: s.Result, Took: s.Took})
			if s.Result != "PASS" {
				r.Failures = append(r.Failures, full)
			}
		}
	}
	if failed != nil && (len(r.Failures) > failures ||
		!slices.ContainsFunc(scenarios, func(s scenario) bool { return s.Result == unserved })) {
		if len(r.Failures) == failures {
			r.Failures = append(r.Failures, name+" (its end)")
		}
		content, err := os.ReadFile(log)
		fmt.Printf("%s failed (%v); its log:\n%s\n%v\n", name, failed, content, err)
	}
}

// print lists all results; the error says that a scenario failed.
func (r *report) print(out io.Writer, spdkTarget string, took time.Duration) error {
	passed := 0
	for _, s := range r.Scenarios {
		if s.Result == "PASS" {
			passed++
		}
	}
	fmt.Fprintf(out, "\nNot run, and why:\n")
	reasons := map[string][]string{}
	var order []string
	for _, n := range append(r.NotRun, notRun{"the v2 parts of all scenarios", withoutV2(spdkTarget)}) {
		if reasons[n.Reason] == nil {
			order = append(order, n.Reason)
		}
		reasons[n.Reason] = append(reasons[n.Reason], n.Name)
	}
	for _, reason := range order {
		fmt.Fprintf(out, "  %s\n", reason)
		for _, name := range reasons[reason] {
			fmt.Fprintf(out, "    %s\n", name)
		}
	}
	fmt.Fprintf(out, "\n%d scenarios ran on real instance managers: %d passed, %d failed; %d were not run; %s.\n", len(r.Scenarios), passed,
		len(r.Scenarios)-passed, len(r.NotRun), took.Round(time.Second))
	if len(r.Failures) > 0 {
		return fmt.Errorf("these failed:\n  %s", strings.Join(r.Failures, "\n  "))
	}
	if len(r.Scenarios) == 0 {
		return errors.New("no scenario ran")
	}
	return nil
}
