package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"gotest.tools/gotestsum/testjson"
)

const (
	// progressEvery is how often the running packages are printed.
	progressEvery = 30 * time.Second
	// shownLongest is how many packages the closing list has.
	shownLongest = 40
	// module is the import path that is cut from the names of packages.
	module = "drover.dev/drover/"
	// actionStart is the event of a package whose test binary starts.
	actionStart testjson.Action = "start"
)

// report prints the progress and the outcome of a run. Its methods may be called side by side.
type report struct {
	out   io.Writer
	begun time.Time
	total int

	mu       sync.Mutex
	running  map[string]time.Time
	ended    map[string]outcome
	tests    int
	failures int
	broken   bool
}

// outcome is the result of a package.
type outcome struct {
	result  testjson.Action
	elapsed time.Duration
	cached  bool
}

func newReport(out io.Writer, total int) *report {
	return &report{out: out, begun: time.Now(), total: total, running: map[string]time.Time{}, ended: map[string]outcome{}}
}

func (r *report) printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(format, args...)
}

func (r *report) print(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, "%7s  "+format, append([]any{sinceText(time.Since(r.begun))}, args...)...)
}

// fail records that a command reported a failure, also one without a failed test, such as a package that does not compile.
func (r *report) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = true
}

func (r *report) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// scan reads the events of one "go test -json" to their end.
func (r *report) scan(stdout, stderr io.Reader) error {
	_, err := testjson.ScanTestOutput(testjson.ScanConfig{Stdout: stdout, Stderr: stderr, Handler: r, IgnoreNonJSONOutputLines: true})
	return err
}

// Event implements testjson.EventHandler.
func (r *report) Event(event testjson.TestEvent, execution *testjson.Execution) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := strings.TrimPrefix(event.Package, module)
	switch {
	case event.Action == testjson.ActionBuild:
		_, _ = io.WriteString(r.out, event.Output)
	case event.Action == testjson.ActionFail && event.Test != "":
		r.failures++
		r.tests++
	case event.Action == testjson.ActionPass && event.Test != "":
		r.tests++
	case !event.PackageEvent():
	case event.Action == actionStart:
		r.running[name] = time.Now()
	case event.Action.IsTerminal():
		r.end(name, event, execution)
	}
	return nil
}

// Err implements testjson.EventHandler: it prints a line of the compiler or of the go command.
func (r *report) Err(text string) error {
	r.printf("%s\n", text)
	return nil
}

// end prints the end of a package, and the output of its failed tests.
func (r *report) end(name string, event testjson.TestEvent, execution *testjson.Execution) {
	delete(r.running, name)
	pkg := execution.Package(event.Package)
	o := outcome{result: event.Action, elapsed: time.Duration(event.Elapsed * float64(time.Second)), cached: isCached(pkg)}
	r.ended[name] = o
	note := ""
	if o.cached {
		note = " (cached)"
	}
	r.print("%-4s %3d/%d  %s, %s%s\n", event.Action, len(r.ended), r.total, name, sinceText(o.elapsed), note)
	if event.Action != testjson.ActionFail {
		return
	}
	for _, test := range pkg.Failed {
		_, _ = fmt.Fprintf(r.out, "--- FAIL: %s %s\n", name, test.Test)
		for _, line := range pkg.OutputLines(test) {
			_, _ = io.WriteString(r.out, line)
		}
	}
	_, _ = io.WriteString(r.out, pkg.Output(0))
}

// isCached reports whether the go command took the result of an earlier run.
func isCached(pkg *testjson.Package) bool {
	return strings.Contains(pkg.Output(0), "(cached)")
}

// startProgress prints the running packages now and then, until the returned function is called.
func (r *report) startProgress() (stop func()) {
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				r.printProgress()
			}
		}
	}()
	return func() { close(done) }
}

func (r *report) printProgress() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, name := range slices.SortedFunc(maps.Keys(r.running), func(a, b string) int { return r.running[a].Compare(r.running[b]) }) {
		names = append(names, fmt.Sprintf("%s %s", name, sinceText(time.Since(r.running[name]))))
	}
	if len(names) == 0 {
		names = []string{"nothing yet, the packages are compiled"}
	}
	r.print("     %3d/%d  running: %s\n", len(r.ended), r.total, strings.Join(names, ", "))
}

// summarize prints the packages by time, longest first, the failed packages again, and the counts.
func (r *report) summarize(commands []*command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := slices.SortedFunc(maps.Keys(r.ended), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.ended[b].elapsed, r.ended[a].elapsed), strings.Compare(a, b))
	})
	_, _ = fmt.Fprintf(r.out, "\nPackages by time:\n")
	for _, name := range names[:min(len(names), shownLongest)] {
		_, _ = fmt.Fprintf(r.out, "%8s  %s\n", sinceText(r.ended[name].elapsed), name)
	}
	if len(names) > shownLongest {
		_, _ = fmt.Fprintf(r.out, "          and %d more, none longer than %s\n", len(names)-shownLongest,
			sinceText(r.ended[names[shownLongest]].elapsed))
	}
	var processor time.Duration
	for _, c := range commands {
		processor += c.processor
	}
	cached := 0
	for _, name := range names {
		if r.ended[name].cached {
			cached++
		}
		if r.ended[name].result == testjson.ActionFail {
			_, _ = fmt.Fprintf(r.out, "FAIL %s\n", name)
		}
	}
	_, _ = fmt.Fprintf(r.out, "\n%d of %d packages in %s, %d of them cached; %s of processor time\n", len(names), r.total,
		sinceText(time.Since(r.begun)), cached, sinceText(processor))
	_, _ = fmt.Fprintf(r.out, "%d passed, %d failed\n", r.tests-r.failures, r.failures)
}

// sinceText writes a duration as "4.2s" or "3m07s".
func sinceText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}
