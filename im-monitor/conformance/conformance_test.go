package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/conformance/internal/checks"
	"drover.dev/drover/im-monitor/conformance/internal/suite"
)

// simulatorBinary is the simulator of this tree: built by Bazel as an input of the test, else by go build, once.
func simulatorBinary(t *testing.T) string {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	return path
}

var built = sync.OnceValues(func() (string, error) {
	if os.Getenv("TEST_SRCDIR") != "" {
		return filepath.Abs(filepath.Join("..", "simulator", "simulator_", "simulator"))
	}
	directory, err := os.MkdirTemp("", "conformance-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(directory, "simulator")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../simulator").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil && os.Getenv("TEST_SRCDIR") == "" {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// inUse is a simulator that outlives the runs against it.
func inUse(t *testing.T) *simulator {
	t.Helper()
	s, err := startSimulator(context.WithoutCancel(t.Context()), simulatorBinary(t), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.stop()) })
	return s
}

// execute runs the command line and returns what it wrote.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := command(&out)
	root.SetArgs(args)
	root.SetOut(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestTheSimulatorPassesEveryCheck(t *testing.T) {
	out, err := execute(t, "--simulator", simulatorBinary(t), "--observation=500ms", "-o", "json")
	var report suite.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report), out)
	for _, r := range report.Results {
		t.Run(r.Check, func(t *testing.T) { require.Equal(t, suite.Passed, r.Outcome, "%s: %s", r.Name, r.Reason) })
	}
	require.NoError(t, err)
	require.Len(t, report.Results, len(checks.All()))
}

func TestTheLedgerHasExactlyTheChecks(t *testing.T) {
	ledger, err := suite.ReadLedger("ledger.yaml")
	require.NoError(t, err)
	var want []string
	for _, c := range checks.All() {
		want = append(want, c.ID)
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(ledger)), "run make generate")
	for id, entry := range ledger {
		require.Equal(t, entry.OnlySimulator, entry.Version == "" && entry.Date == "",
			"%s: either a real server with its date, or only the simulator", id)
		require.Equal(t, entry.OnlySimulator, entry.Reason != "", "%s: why did no real server pass it?", id)
	}
}

func TestEveryCheckHasItsParts(t *testing.T) { require.NoError(t, suite.Validate(checks.All())) }

func TestEachFindingAboutTheSimulatorHasACheck(t *testing.T) {
	found := map[string]bool{}
	for _, c := range checks.All() {
		for _, f := range c.Findings {
			found[f] = true
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(found)), []string{"P7", "R7", "S1", "V9", "K1", "K2", "K3", "K4", "K9", "K11"})
}

func TestTheSimulatorIsNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.yaml")
	_, err := execute(t, "--simulator", simulatorBinary(t), "--run=^v1-versions$", "--record", "--ledger", path)
	require.ErrorContains(t, err, "is a simulator")
	require.NoFileExists(t, path)
}

func TestAManagerThatIsInUseIsRefused(t *testing.T) {
	first := inUse(t)
	hosts, err := first.hosts(t.Context(), "v1")
	require.NoError(t, err)
	args := []string{"--v1", hosts[0], "--tls-dir", first.tls, "--engine-binary=/e", "--replica-binary=/r", "--data-path=/d",
		"--run=^v1-create-states$"}
	out, err := execute(t, args...)
	require.NoError(t, err, out)
	require.NoError(t, first.control.Put(t.Context(), "node-1", "pvc-1-r-00000001"))
	out, err = execute(t, args...)
	require.ErrorContains(t, err, "pvc-1-r-00000001, which is not of this run")
	require.Empty(t, out)
}

func TestAnythingThatATargetCannotServeIsNamedWithTheFlagThatItNeeds(t *testing.T) {
	first := inUse(t)
	hosts, err := first.hosts(t.Context(), "v1")
	require.NoError(t, err)
	out, err := execute(t, "--v1", hosts[0], "--tls-dir", first.tls, "--run=^v1-(move|versions)$|^v2-versions$")
	require.NoError(t, err, out)
	require.Contains(t, out, "3 checks: 1 passed, 0 failed, 2 not run")
	require.Contains(t, out, "give --engine-binary")
	require.Contains(t, out, "there is no v2 instance manager: give --v2")
}

func TestTheListNamesEachCheck(t *testing.T) {
	out, err := execute(t, "--list")
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), len(checks.All()))
	_, err = execute(t, "--list", "--run=nothing-like-this")
	require.ErrorContains(t, err, "no check matches")
}
