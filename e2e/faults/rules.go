package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/e2e/world"
)

// rule is one rule of the product, with the edits that disable it and the packages in which a test must then fail. A rule without a failing
// test is superfluous, or no test would detect that it breaks.
type rule struct {
	name, sentence string
	edits          []world.Edit
	tests          []string
}

func off(name, sentence string, tests []string, file, from, to string) rule {
	return rule{name: name, sentence: sentence, tests: tests,
		edits: []world.Edit{{File: strings.TrimPrefix(file, "./"), From: from, To: to}}}
}

// in is a rule whose edit is in a function of a package, which is found by its name. Without from, the edit is its first statement.
func in(name, sentence string, tests []string, pkg, function, from, to string) rule {
	return rule{name: name, sentence: sentence, tests: tests}.and(pkg, function, from, to)
}

// and adds an edit to a rule that is applied in several places.
func (r rule) and(pkg, function, from, to string) rule {
	r.edits = append(r.edits, world.Edit{File: strings.TrimPrefix(pkg, "./"), Func: function, From: from, To: to})
	return r
}

// rules disables one rule after the other, and counts those for which a test fails.
func (h *harness) rules(ctx context.Context, o options) error {
	list := deal(o.shard, slices.Concat(moveRules(), attachRules()), 1)
	missed := 0
	for _, r := range list {
		overlay, err := world.Mutate(r.edits...)
		if err != nil {
			return fmt.Errorf("disabling the rule %q: %w", r.name, err)
		}
		if o.rules == "first" {
			r.tests = r.tests[:1]
		}
		found, err := missedBy(ctx, r, overlay)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			h.logf("NOT RUN     %s: %v", r.name, err)
			continue
		}
		if found == "" {
			h.logf("NOT CAUGHT  %s: %s", r.name, r.sentence)
			continue
		}
		missed++
		h.logf("caught      %s: %s", r.name, found)
	}
	if of := len(list); missed < of {
		return fmt.Errorf("no test fails without %d of %d rules", of-missed, of)
	}
	return nil
}

// missedBy is the first test that fails without the rule; empty where none does.
func missedBy(ctx context.Context, r rule, overlay world.Overlay) (string, error) {
	for _, pkg := range r.tests {
		out, failed, err := world.Test(ctx, overlay, strings.Fields(pkg)...)
		if err != nil {
			return "", err
		}
		if !failed {
			continue
		}
		for line := range strings.Lines(out) {
			if name, found := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); found {
				return pkg + " " + strings.Fields(name)[0], nil
			}
		}
		return "", fmt.Errorf("%s failed without a test:\n%s", pkg, out)
	}
	return "", nil
}
