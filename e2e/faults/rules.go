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
	tests          []string // one of them must fail
	model          []string // and one of these as well: the model detects the missing rule by itself
	output         string   // what the output of the failing test contains; empty: any failure counts
}

func off(name, sentence string, tests []string, file, from, to string) rule {
	return rule{name: name, sentence: sentence, tests: tests,
		edits: []world.Edit{{File: strings.TrimPrefix(file, "./"), From: from, To: to}}}
}

// in is a rule whose edit is in a function of a package, which is found by its name. Without from, the edit is its first statement.
func in(name, sentence string, tests []string, pkg, function, from, to string) rule {
	return rule{name: name, sentence: sentence, tests: tests}.and(pkg, function, from, to)
}

// shows names the output of the test that fails without the rule: a failure for another reason proves nothing.
func (r rule) shows(output string) rule {
	r.output = output
	return r
}

// and adds an edit to a rule that is applied in several places.
func (r rule) and(pkg, function, from, to string) rule {
	r.edits = append(r.edits, world.Edit{File: strings.TrimPrefix(pkg, "./"), Func: function, From: from, To: to})
	return r
}

// allRules are those of every actor.
func allRules() []rule {
	return slices.Concat(moveRules(), attachRules(), replicaRules(), dataRules(), imageRules(), engineImageRules(), orphanRules(),
		fenceRules(), directoryRules())
}

// chosenRules are the rules of a run, with the tests that it runs: with --actor=attach-controller only those of attaching.
func chosenRules(o options) []rule {
	list := allRules()
	if o.actor == "attach-controller" {
		list = attachRules()
	}
	list = slices.DeleteFunc(list, func(r rule) bool { return !strings.Contains(r.name, o.only) })
	list = deal(o.shard, list, 1)
	if o.rules == "first" {
		for i := range list {
			list[i].tests, list[i].model = list[i].tests[:1], nil
		}
	}
	return list
}

// rules disables one rule after the other, and counts those for which the tests fail.
func (h *harness) rules(ctx context.Context, o options) error {
	list := chosenRules(o)
	if len(list) == 0 {
		return fmt.Errorf("no rule has %q in its name; docs/rules.md lists them", o.only)
	}
	missed := 0
	for _, r := range list {
		overlay, err := world.Mutate(r.edits...)
		if err != nil {
			return fmt.Errorf("disabling the rule %q: %w", r.name, err)
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

// missedBy are the tests that fail without the rule: the first of its own, and the first of the model's; empty where one of them is
// missing.
func missedBy(ctx context.Context, r rule, overlay world.Overlay) (string, error) {
	found, err := firstFailing(ctx, r.tests, r.output, overlay)
	if err != nil || found == "" || len(r.model) == 0 {
		return found, err
	}
	inModel, err := firstFailing(ctx, r.model, "", overlay)
	if err != nil || inModel == "" {
		return "", err
	}
	return found + ", " + inModel, nil
}

// firstFailing is the first test that fails with edited copies, and whose output contains the text; empty where none does.
func firstFailing(ctx context.Context, tests []string, output string, overlay world.Overlay) (string, error) {
	for _, pkg := range tests {
		out, failed, err := world.Test(ctx, overlay, strings.Fields(pkg)...)
		if err != nil {
			return "", err
		}
		if !failed || !strings.Contains(out, output) {
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
