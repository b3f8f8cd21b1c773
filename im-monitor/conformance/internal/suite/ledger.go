package suite

import (
	"bytes"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// Ledger is, for each check, the last real server that it passed on.
type Ledger map[string]Entry

// Entry is what the ledger reports about one check: either the last real server, or that only the simulator ever passed, and why.
type Entry struct {
	OnlySimulator bool   `json:"onlySimulator,omitempty"`
	Reason        string `json:"reason,omitempty"`
	Version       string `json:"version,omitempty"`
	Date          string `json:"date,omitempty"`
}

// ledgerHead stands at the beginning of the file.
const ledgerHead = `# The last real instance manager that each check of the conformance suite passed on. Written by a run against a real
# instance manager with --record, or from the notes of such a run; onlySimulator marks a check that no real server has passed yet, and
# reason reports why.
`

// ReadLedger reads the file.
func ReadLedger(path string) (Ledger, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	var l Ledger
	if err := yaml.UnmarshalStrict(raw, &l); err != nil {
		return nil, fmt.Errorf("reading the ledger %s: %w", path, err)
	}
	return l, nil
}

// Write writes the file.
func (l Ledger) Write(path string) error {
	raw, err := yaml.Marshal(l)
	if err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	if err := os.WriteFile(path, bytes.Join([][]byte{[]byte(ledgerHead), raw}, nil), 0o644); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// Complete returns the ledger with an entry for exactly the checks: a new check is one that only the simulator passed.
func (l Ledger) Complete(checks []Check) Ledger {
	out := Ledger{}
	for _, c := range checks {
		out[c.ID] = Entry{OnlySimulator: true}
		if known, ok := l[c.ID]; ok {
			out[c.ID] = known
		}
	}
	return out
}

// Record returns the ledger with what passed on real servers, whose versions are given by data engine.
func (l Ledger) Record(checks []Check, results []Result, versions map[string]string, date string) Ledger {
	out, engines := l.Complete(checks), map[string]string{}
	for _, c := range checks {
		engines[c.ID] = c.Engine
	}
	for _, r := range results {
		if version := versions[engines[r.Check]]; r.Outcome == Passed && version != "" {
			out[r.Check] = Entry{Version: version, Date: date}
		}
	}
	return out
}

// String is the entry in a word.
func (e Entry) String() string {
	if e.Version == "" {
		return "only the simulator"
	}
	return e.Version + ", " + e.Date
}
