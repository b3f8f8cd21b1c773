package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/record"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// lease is a write of a lease this number of seconds after noon; an empty holder releases it.
func lease(second int, source, holder string) record.Write {
	at := noon.Add(time.Duration(second) * time.Second)
	spec := `{"spec":{"leaseDurationSeconds":15}}`
	if holder != "" {
		spec = fmt.Sprintf(`{"spec":{"leaseDurationSeconds":15,"holderIdentity":%q}}`, holder)
	}
	return record.Write{Request: record.Request{Object: leaseOf("im-monitor")}, Source: source, Body: []byte(spec), Code: 200, Began: at,
		Ended: at}
}

func write(second int, source string) record.Write {
	at := noon.Add(time.Duration(second) * time.Second)
	return record.Write{Request: record.Request{User: "im-monitor", Verb: "patch", Resource: "nodes/status", Object: "node-1"},
		Source: source, Code: 200, Began: at, Ended: at}
}

// The harness finds leases that are taken from their holder, and writes of a process that holds none any more.
func TestCheckLeasesFindsViolations(t *testing.T) {
	for sentence, c := range map[string]struct {
		leases, writes []record.Write
		found          []string
	}{
		"a lease runs out and is taken": {leases: []record.Write{lease(0, "a", "A"), lease(15, "b", "B")},
			writes: []record.Write{write(1, "a"), write(16, "b")}},
		"a lease is released and taken": {leases: []record.Write{lease(0, "a", "A"), lease(1, "a", ""), lease(2, "b", "B")}},
		"a lease is renewed":            {leases: []record.Write{lease(0, "a", "A"), lease(10, "a", "A"), lease(25, "b", "B")}},
		"a lease is taken too early": {leases: []record.Write{lease(0, "a", "A"), lease(10, "b", "B")},
			found: []string{"B took the lease drover-im-monitor of A 10s after its last renewal"}},
		"a lease is released by another process": {leases: []record.Write{lease(0, "a", "A"), lease(15, "b", "B"), lease(16, "a", "")},
			found: []string{"the lease drover-im-monitor of B was released by another process"}},
		"one write was under way": {leases: []record.Write{lease(0, "a", "A"), lease(15, "b", "B")},
			writes: []record.Write{write(20, "a")}},
		"a write after that was not": {leases: []record.Write{lease(0, "a", "A"), lease(15, "b", "B")},
			writes: []record.Write{write(20, "a"), write(21, "a")},
			found:  []string{"patch nodes/status node-1 of im-monitor was accepted 6s after B had taken the lease"}},
		"it leads again": {leases: []record.Write{lease(0, "a", "A"), lease(15, "b", "B"), lease(30, "a", "A2")},
			writes: []record.Write{write(31, "a"), write(32, "a")}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var found []string
			for _, f := range checkLeases(c.leases, c.writes) {
				found = append(found, f.what)
			}
			require.Equal(t, c.found, found)
		})
	}
}

func TestARenewalShowsThatAClockWasSet(t *testing.T) {
	renewed := func(after time.Duration) []record.Write {
		w := lease(10, "a", "A")
		at := w.Began.Add(after).Format("2006-01-02T15:04:05.000000Z07:00")
		w.Body = []byte(fmt.Sprintf(`{"spec":{"holderIdentity":"A","renewTime":%q}}`, at))
		return []record.Write{w}
	}
	require.True(t, shows(renewed(-2*time.Hour), "a", -2*time.Hour, noon))
	require.True(t, shows(renewed(3*time.Second-400*time.Millisecond), "a", 3*time.Second, noon))
	require.False(t, shows(renewed(0), "a", 3*time.Second, noon), "the clock was not set")
	require.False(t, shows(renewed(-3*time.Second), "a", 3*time.Second, noon), "the wrong way")
	require.False(t, shows(renewed(3*time.Second), "b", 3*time.Second, noon), "another process")
	require.False(t, shows(renewed(3*time.Second), "a", 3*time.Second, noon.Add(time.Minute)), "before")
}
