// Package fault keeps the rules by which the simulator misbehaves: who is concerned (node, pod, data engine, method), what happens, how
// often. It decides nothing about the data plane; the server asks it before and after each call.
package fault

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Kind is what a rule does.
type Kind string

// The kinds of faults.
const (
	// Partition cuts the link: mode cut closes connections and refuses new ones, mode blackhole lets nothing through and keeps them.
	Partition Kind = "partition"
	// Hang holds calls until the rule is cleared; After holds the answer instead.
	Hang Kind = "hang"
	// Latency delays calls; After delays the answer instead.
	Latency Kind = "latency"
	// Error answers with a code; After does the work first: a lost answer.
	Error Kind = "error"
	// Events drops, duplicates or delays the notices of the watch.
	Events Kind = "events"
	// PartialList leaves instances out of lists: those named, else the fraction of them that comes first by name.
	PartialList Kind = "partial-list"
	// EmptyUUID leaves UUIDs empty, of the instances named or of all.
	EmptyUUID Kind = "empty-uuid"
	// FailCreate lets instances start in state error, those named or all.
	FailCreate Kind = "fail-create"
	// StuckStop lets v1 processes, those named or all, survive their deletion: they stay stopping until they are deleted once more, a while
	// later.
	StuckStop Kind = "stuck-stop"
	// FailLater lets work fail that a call began with OK: a rebuild, an expansion, a purge, a clone, a backup, a restore.
	FailLater Kind = "fail-later"
	// Garbage spoils answers: mode types, huge, empty, renamed or utf8.
	Garbage Kind = "garbage"
)

// modes are what each kind knows; the first is the default.
var modes = map[Kind][]string{
	Partition: {"cut", "blackhole"}, Hang: {""}, Latency: {""}, Error: {""}, Events: {"drop", "duplicate", "delay"}, PartialList: {""},
	EmptyUUID: {""}, FailCreate: {""}, StuckStop: {""}, FailLater: {""}, Garbage: {"types", "huge", "empty", "renamed", "utf8"},
}

// Kinds names every kind with its modes.
func Kinds() map[Kind][]string { return modes }

// Rule is one fault. Empty selectors mean all; Node, Pod and Method may be patterns (`node-*`).
type Rule struct {
	ID         string   `json:"id"`
	Kind       Kind     `json:"kind"`
	Mode       string   `json:"mode,omitempty"`
	Node       string   `json:"node,omitempty"`
	Pod        string   `json:"pod,omitempty"`
	DataEngine string   `json:"dataEngine,omitempty"`
	Method     string   `json:"method,omitempty"`
	Names      []string `json:"names,omitempty"`
	Delay      Duration `json:"delay,omitempty"`
	Code       string   `json:"code,omitempty"`
	Message    string   `json:"message,omitempty"`
	After      bool     `json:"after,omitempty"`
	Fraction   float64  `json:"fraction,omitempty"`
	// Times is how many calls or notices the rule still concerns; 0 means until it is cleared.
	Times int `json:"times,omitempty"`
}

// Duration is a time.Duration that JSON writes and reads as text (`1.5s`).
type Duration time.Duration

// MarshalJSON writes the duration's text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the text of a duration, or a number of nanoseconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		var number int64
		if err := json.Unmarshal(data, &number); err != nil {
			return fmt.Errorf("a duration is a text such as 1.5s: %w", err)
		}
		*d = Duration(number)
		return nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("reading a duration: %w", err)
	}
	*d = Duration(parsed)
	return nil
}

// Target is who asks.
type Target struct{ Node, Pod, DataEngine string }

// Set holds the rules. The zero value is ready.
type Set struct {
	mu      sync.Mutex
	rules   []*Rule
	next    int
	changed chan struct{}
}

// Add checks a rule and puts it in force; it answers with the rule's ID. A rule of the same ID is replaced.
func (s *Set) Add(r Rule) (string, error) {
	known, ok := modes[r.Kind]
	if !ok {
		return "", fmt.Errorf("unknown fault %q", r.Kind)
	}
	if r.Mode == "" {
		r.Mode = known[0]
	}
	if !slices.Contains(known, r.Mode) {
		return "", fmt.Errorf("fault %s has no mode %q, only %q", r.Kind, r.Mode, known)
	}
	for _, pattern := range []string{r.Node, r.Pod, r.Method} {
		if _, err := path.Match(pattern, ""); err != nil {
			return "", fmt.Errorf("pattern %q: %w", pattern, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	if r.ID == "" {
		r.ID = "fault-" + strconv.Itoa(s.next)
	}
	s.drop(func(old *Rule) bool { return old.ID == r.ID })
	s.rules = append(s.rules, &r)
	s.report()
	return r.ID, nil
}

// Clear removes the rules with an ID, or all that concern a node, or all; it answers how many.
func (s *Set) Clear(id, node string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.rules)
	s.drop(func(r *Rule) bool { return (id == "" || r.ID == id) && (node == "" || r.Node == node) })
	s.report()
	return before - len(s.rules)
}

// List copies the rules in force.
func (s *Set) List() []Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Rule, 0, len(s.rules))
	for _, r := range s.rules {
		out = append(out, *r)
	}
	return out
}

// Changed is closed at the next change of the rules.
func (s *Set) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Poll finds the newest rule of a kind that concerns a target and method, and counts nothing.
func (s *Set) Poll(kind Kind, t Target, method string) (Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.rules) {
		if r.Kind == kind && r.concerns(t, method) {
			return *r, true
		}
	}
	return Rule{}, false
}

// Take is Look, and one of the rule's times is used up. After must be as the rule has it.
func (s *Set) Take(kind Kind, t Target, method string, after bool) (Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.rules) {
		if r.Kind != kind || r.After != after || !r.concerns(t, method) {
			continue
		}
		found := *r
		if r.Times == 1 {
			s.drop(func(old *Rule) bool { return old == r })
			s.report()
		} else if r.Times > 1 {
			r.Times--
		}
		return found, true
	}
	return Rule{}, false
}

// Has reports whether a rule is still in force.
func (s *Set) Has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.rules, func(r *Rule) bool { return r.ID == id })
}

func (s *Set) drop(which func(*Rule) bool) { s.rules = slices.DeleteFunc(s.rules, which) }

// report notifies the callers that wait for a change; the lock is held.
func (s *Set) report() {
	if s.changed != nil {
		close(s.changed)
	}
	s.changed = make(chan struct{})
}

func (r *Rule) concerns(t Target, method string) bool {
	return matches(r.Node, t.Node) && matches(r.Pod, t.Pod) && (r.DataEngine == "" || r.DataEngine == t.DataEngine) &&
		(method == "" || matches(r.Method, method))
}

// Concerns reports whether the rule concerns an instance.
func (r *Rule) Concerns(name string) bool { return len(r.Names) == 0 || slices.Contains(r.Names, name) }

// matches compares with a pattern; Add has refused bad ones.
func matches(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return pattern == "" || err == nil && ok
}
