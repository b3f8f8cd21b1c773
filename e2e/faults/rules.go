package main

import (
	"context"
	"fmt"
	"strings"

	"drover.dev/drover/e2e/world"
)

// rule is one rule of the product, with the edit that leaves it out and the packages of whose tests one must fail then. A rule that no test
// misses is superfluous, or nobody would notice when it breaks.
type rule struct {
	name, sentence string
	edit           world.Edit
	tests          []string
}

func off(name, sentence string, tests []string, file, from, to string) rule {
	return rule{name: name, sentence: sentence, edit: world.Edit{File: strings.TrimPrefix(file, "./"), From: from, To: to}, tests: tests}
}

// rules leaves out one rule after the other, and counts those that a test misses.
func (h *harness) rules(ctx context.Context, o options) error {
	list := deal(o.shard, moveRules(), 1)
	missed := 0
	for _, r := range list {
		overlay, err := world.Mutate(r.edit)
		if err != nil {
			return fmt.Errorf("leaving out the rule %q: %w", r.name, err)
		}
		if o.rules == "first" {
			r.tests = r.tests[:1]
		}
		found, err := missedBy(ctx, r, overlay)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			h.logf("NOT TRIED   %s: %v", r.name, err)
			continue
		}
		if found == "" {
			h.logf("NOT MISSED  %s: %s", r.name, r.sentence)
			continue
		}
		missed++
		h.logf("missed      %s: %s", r.name, found)
	}
	if of := len(list); missed < of {
		return fmt.Errorf("no test misses %d of %d rules", of-missed, of)
	}
	return nil
}

// missedBy is the first test that fails without the rule; empty: none does.
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
