package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gotest.tools/gotestsum/testjson"
)

// write makes a module with a package of each kind: without tests, all fast, partly fast, and not fast at all.
func write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	passes := "package %\n\nimport \"testing\"\n\nfunc TestPasses(t *testing.T) {}\n"
	fails := "//go:build !fast\n\npackage %\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Fatal(\"the reason\") }\n"
	for name, text := range map[string]string{
		"go.mod":             "module example.com/m\n\ngo 1.26\n",
		"none/none.go":       "package none\n",
		"plain/x_test.go":    strings.ReplaceAll(passes, "%", "plain"),
		"partly/x_test.go":   strings.ReplaceAll(passes, "%", "partly"),
		"partly/y_test.go":   strings.ReplaceAll(fails, "%", "partly"),
		"slow/slow.go":       "package slow\n",
		"slow/slow_test.go":  strings.ReplaceAll(fails, "%", "slow"),
		"other/x_plan9.go":   "package other\n",
		"other/x.go":         "package other\n",
		"other/only_test.go": strings.ReplaceAll(passes, "%", "other"),
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func TestEachSetHasItsPackages(t *testing.T) {
	dir := write(t)
	for set, want := range map[string][]string{
		"fast": {"plain", "other", "partly"}, "rest": {"slow", "partly"}, "all": {"plain", "slow", "other", "partly"},
	} {
		packages, err := packagesOf(t.Context(), dir, set, []string{"./plain", "./slow", "./..."})
		require.NoError(t, err)
		for i, name := range want {
			want[i] = "example.com/m/" + name
		}
		require.Equal(t, want, packages, set)
	}
}

func TestARunReportsEachPackageAndTheOutputOfFailedTests(t *testing.T) {
	dir := write(t)
	for set, failures := range map[string]int{"fast": 0, "rest": 2} {
		var out bytes.Buffer
		o := options{set: set, root: dir, sideBySide: 2, timeout: time.Minute}
		c, err := commandOf(t.Context(), o, ".", []string{"./..."})
		require.NoError(t, err)
		r := newReport(&out, len(c.packages))
		require.NoError(t, runAll(t.Context(), []*command{c}, r))
		r.summarize([]*command{c})
		text := out.String()
		require.Equal(t, failures > 0, r.failed(), text)
		require.Equal(t, failures, strings.Count(text, "the reason"), text)
		for _, name := range c.packages {
			require.Contains(t, text, name)
		}
		require.Regexp(t, `\n\d+ passed, \d+ failed\n$`, text)
	}
}

func TestAPackageThatDoesNotCompileFailsTheRun(t *testing.T) {
	dir := write(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain/x_test.go"), []byte("package plain\n\nvar x int = \"text\"\n"), 0o600))
	var out bytes.Buffer
	c, err := commandOf(t.Context(), options{set: "fast", root: dir, sideBySide: 2, timeout: time.Minute}, ".", []string{"./..."})
	require.NoError(t, err)
	r := newReport(&out, len(c.packages))
	require.NoError(t, runAll(t.Context(), []*command{c}, r))
	require.True(t, r.failed())
	require.Contains(t, out.String(), "x_test.go:3", "the compiler's words")
}

func TestPackagesAreListedLongestFirst(t *testing.T) {
	var out bytes.Buffer
	r := newReport(&out, 2)
	r.ended["short"] = outcome{result: testjson.ActionPass, elapsed: time.Second}
	r.ended["long"] = outcome{result: testjson.ActionPass, elapsed: 2 * time.Minute}
	r.summarize(nil)
	require.Less(t, strings.Index(out.String(), "2m00s  long"), strings.Index(out.String(), "1.0s  short"))
}

func TestTheEnvironmentLosesMakesJobsAlone(t *testing.T) {
	require.Equal(t, []string{"A=1", "MAKE=x"}, withoutMake([]string{"A=1", "MAKEFLAGS=j", "MFLAGS=j", "MAKE=x"}))
}

func TestAnInterruptEndsTheTests(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26\n"), 0o600))
	hangs := "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\n" +
		"func TestHangs(t *testing.T) {\n\t_ = os.WriteFile(\"begun\", nil, 0o600)\n\t<-time.After(time.Hour)\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x_test.go"), []byte(hangs), 0o600))
	c, err := commandOf(t.Context(), options{set: "fast", root: dir, sideBySide: 1, timeout: time.Hour}, ".", []string{"./..."})
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var out bytes.Buffer
	r := newReport(&out, 1)
	go func() { ended <- runAll(ctx, []*command{c}, r) }()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	}, 5*time.Minute, 50*time.Millisecond)
	interrupt()
	select {
	case err := <-ended:
		require.True(t, err != nil || r.failed(), "an interrupted run does not pass")
	case <-time.After(50 * time.Second): // less than WaitDelay, which kills the go command alone
		t.Fatal("the test still runs")
	}
}
