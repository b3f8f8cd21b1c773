package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
)

// output is what a test binary prints: one scenario passes, one needs a fault that real servers do not have, one fails.
var output = `=== RUN   TestAll
=== RUN   TestAll/fine
=== RUN   TestAll/unserved
    x_test.go:1: ` + world.NotServed + `: the fault partial-list
=== RUN   TestAll/broken
    x_test.go:2: it is not attached
--- FAIL: TestAll (3.00s)
    --- PASS: TestAll/fine (1.00s)
    --- FAIL: TestAll/unserved (1.00s)
    --- FAIL: TestAll/broken (1.00s)
=== RUN   TestUnserved
    x_test.go:3: ` + world.NotServed + `: the v2 data engine
--- FAIL: TestUnserved (0.10s)
`

func reported(t *testing.T, text string, failed error) *report {
	t.Helper()
	var log bytes.Buffer
	r := &report{}
	r.add("e2e/x", follow("e2e/x", strings.NewReader(text), &log), failed, "/dev/null")
	require.Equal(t, text, log.String(), "the whole output is in the log")
	return r
}

func TestAScenarioThatIsNotServedIsListedWithItsReason(t *testing.T) {
	r := reported(t, output, errors.New("exit status 1"))
	require.Equal(t, []notRun{{"e2e/x TestAll/unserved", "the fault partial-list"}, {"e2e/x TestUnserved", "the v2 data engine"}}, r.NotRun)
	require.Equal(t, []string{"e2e/x TestAll/broken"}, r.Failures)
	require.Len(t, r.Scenarios, 2, "the scenario that passed and the scenario that failed")
	var out bytes.Buffer
	require.ErrorContains(t, r.print(&out, "", time.Minute), "e2e/x TestAll/broken")
	require.Contains(t, out.String(), "2 scenarios ran on real instance managers: 1 passed, 1 failed; 2 were not run")
	require.Contains(t, out.String(), "the fault partial-list\n    e2e/x TestAll/unserved")
}

func TestARunWithoutAFailureSucceedsThoughScenariosAreNotServed(t *testing.T) {
	fine := strings.Replace(output, "--- FAIL: TestAll/broken", "--- PASS: TestAll/broken", 1)
	r := reported(t, fine, errors.New("exit status 1"))
	require.Empty(t, r.Failures)
	require.NoError(t, r.print(io.Discard, "", time.Minute))
}

func TestFiguresOfAScenarioThatPassedAreReported(t *testing.T) {
	text := "=== RUN   TestA\n    a_test.go:7: 5 times, 0 lost\n    a_test.go:8: 3 crashes\n--- PASS: TestA (0.10s)\n"
	all := follow("e2e/x", strings.NewReader(text), io.Discard)
	require.Equal(t, []scenario{{Name: "TestA", Result: "PASS", Took: "0.10s", Figures: "5 times, 0 lost; 3 crashes"}}, all)
}

func TestABinaryThatFailsWithoutATestIsAFailure(t *testing.T) {
	r := reported(t, "=== RUN   TestA\n--- PASS: TestA (0.10s)\n", errors.New("exit status 1"))
	require.Equal(t, []string{"e2e/x (its end)"}, r.Failures)
	require.Error(t, (&report{}).print(io.Discard, "", time.Minute), "a run without any scenario proves nothing")
}

func TestPartsOfTestsAreLeftOutByTheirFullNames(t *testing.T) {
	s := suite{without: map[string]string{"TestA/b c": "why", "TestB": "why", "TestC*": "why"}}
	require.Equal(t, "^TestA$/^b c$", s.skipped())
	require.Equal(t, "why", s.reason("TestB"))
	require.Equal(t, "why", s.reason("TestCan"))
	require.Empty(t, s.reason("TestA"))
}
