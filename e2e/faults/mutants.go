package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/snapshot"
	"drover.dev/drover/e2e/world"
)

// mutants runs every mutant in its own World and counts those that the harness detects.
func (h *harness) mutants(ctx context.Context, _ options) (caught, mutated int, err error) {
	list := mutants()
	h.logf("%d mutants run, one after the other, as overlays of the build", len(list))
	for _, p := range list {
		overlay, err := world.Mutate(p.edits...)
		if err != nil {
			return caught, len(list), fmt.Errorf("building the mutant %q: %w", p.name, err)
		}
		found, err := h.catch(ctx, p, overlay)
		if err != nil {
			return caught, len(list), fmt.Errorf("running the mutant %q: %w", p.name, err)
		}
		if found == nil {
			h.logf("NOT CAUGHT  %s: %s", p.name, p.sentence)
			continue
		}
		caught++
		h.logf("caught      %s: %.200s", p.name, found.Error())
	}
	return caught, len(list), nil
}

// catch runs the mutant's case and returns the violation that the harness found, else nil.
func (h *harness) catch(ctx context.Context, p mutant, overlay world.Overlay) (found, err error) {
	h.topology = p.testCase.scenario.Topology
	if err := h.start(ctx, overlay); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found = p.testCase.run(ctx, h)
	if err := h.stop(); err != nil {
		h.logf("            (stopping after the mutant: %v)", err)
	}
	return found, nil
}

func scenario(id string) scenarios.Scenario {
	for _, s := range slices.Concat(scenarios.Scenarios(), snapshot.Scenarios(),
		[]scenarios.Scenario{scenarios.Unreachable(), scenarios.UnknownIsNotEmpty()}) {
		if s.ID == id {
			return s
		}
	}
	panic("no scenario " + id)
}

// The files that mutants edit.
const (
	clientFile     = "im-monitor/internal/imclient/conn.go"
	callFile       = "im-monitor/internal/orphancontroller/call.go"
	reconcilerFile = "im-monitor/internal/orphancontroller/base.go"
	executorFile   = "im-monitor/internal/orphancontroller/executor.go"
	observeFile    = "im-monitor/internal/orphancontroller/observe.go"
	evaluatorFile  = "im-monitor/internal/orphan/evaluate.go"
	decideFile     = "im-monitor/internal/orphan/call.go"
	withdrawFile   = "im-monitor/internal/orphan/withdraw.go"
	statusFile     = "im-monitor/internal/orphan/status.go"
	policyFile     = "orphan-controller/internal/orphan/decide.go"
	removeFile     = "snapshot-controller/internal/snapshot/remove.go"
)

// mutants are the mistakes that the harness must detect, each with the case that shows it.
func mutants() []mutant {
	return []mutant{
		{
			name: "no UUID", sentence: "a deletion is sent without the evaluated UUID",
			edits: []world.Edit{{File: callFile, From: "UUID: o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID], CleanupRequired",
				To: "UUID: \"\", CleanupRequired"},
				{File: clientFile, From: "if request.Name == \"\" || request.UUID == \"\" && !request.ByName {",
					To: "if request.Name == \"\" {"}},
			testCase: testCase{scenario: scenario("O9"), name: "undisturbed"},
		},
		{
			name: "stale cache", sentence: "the last evaluation before a call reads the cache",
			edits:    []world.Edit{{File: callFile, From: "readers{t.uncached, t.uncached}", To: "readers{t.client, t.client}"}},
			testCase: behindEverywhere(scenario("O10")),
		},
		{
			name: "finalizer on error", sentence: "the finalizer is dropped when a cleanup failed",
			edits: []world.Edit{{File: policyFile, From: "	terminated,          // deleting",
				To: "	func(w World) *ruleResult { if deleting(w) && conditions.IsTrue(w.Orphan.Status.Conditions, " +
					"v1beta2.OrphanCleanupFailed) { return &ruleResult{outcome: OutcomeTerminated, finish: finishEnd} }; return nil " +
					"},\n	terminated,          // deleting"}},
			testCase: testCase{scenario: scenario("O11"), name: "undisturbed"},
		},
		{
			name: "cleanup of claimed data", sentence: "cleanupRequired is sent although a Replica claims the data",
			edits:    []world.Edit{{File: decideFile, From: "	if claimed {\n		return Call{Allowed: true}\n	}\n", To: ""}},
			testCase: testCase{scenario: scenario("O6"), name: "undisturbed"},
		},
		{
			name: "unknown is empty", sentence: "an instance manager whose list cannot be read is treated as empty",
			edits: []world.Edit{
				{File: reconcilerFile, From: "	if s.store.Absent(subject(o)) {",
					To: "	if _, known := s.store.Latest(o.InstanceManager); !known || s.store.Absent(subject(o)) {"},
				{File: observeFile, From: "	if s == nil {\n		return nil\n	}\n	out := &orphan.Inventory",
					To: "	if s == nil {\n		return &orphan.Inventory{}\n	}\n	out := &orphan.Inventory"},
			},
			testCase: testCase{scenario: scenario("O16"), name: "undisturbed"},
		},
		{
			name: "withdrawal executed", sentence: "an orphan that was withdrawn is executed when its object is deleted",
			edits: []world.Edit{
				{File: withdrawFile, From: "	return o.Deleting && !ended(o) && conditions.IsTrue(o.Conditions, " +
					"v1beta2.OrphanCleanupApproved) &&\n		conditions.Reason(o.Conditions, v1beta2.OrphanCleanupApproved) == " +
					"v1beta2.ReasonApproved", To: "	return o.Deleting"},
				{File: statusFile, From: "	if ended(o) || o.FencingDelayed {\n		return v\n	}\n",
					To: "	if o.FencingDelayed {\n		return v\n	}\n	v.Execute = o.Deleting && w.Inventory != nil && " +
						"w.Inventory.Instance != nil && w.Inventory.Instance.UUID == o.UUID\n	if ended(o) || o.Deleting " +
						"{\n		return v\n	}\n"},
				{File: policyFile, From: "	withdrawn,           // nothing to execute, final\n	terminated,          // deleting",
					To: "	terminated,          // deleting"},
			},
			testCase: testCase{scenario: scenario("O10"), name: "undisturbed"},
		},
		{
			name: "gone without a poll", sentence: "a snapshot that no running engine reports is treated as removed",
			edits: []world.Edit{{File: removeFile,
				From: "w.seen() && w.known() && w.info() == nil && w.isTrue(v1beta2.SnapshotRemovalApproved)",
				To:   "w.seen() && w.info() == nil"}},
			testCase: testCase{scenario: scenario("S7b"), name: "undisturbed"},
		},
	}
}

// behindEverywhere keeps the caches of both controllers stale for the claims, so that only an uncached read detects the claim.
func behindEverywhere(s scenarios.Scenario) testCase {
	return testCase{scenario: s, name: "stale caches of both controllers",
		arm: func(ctx context.Context, h *harness, scene *scenarios.Scene) (func(context.Context) error, error) {
			one, err := staleReadsFor(staleForMutant, s, world.IMMonitor, "engines", "replicas").arm(ctx, h, scene)
			if err != nil {
				return nil, err
			}
			other, err := staleReadsFor(staleForMutant, s, world.OrphanController, "engines", "replicas").arm(ctx, h, scene)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) error { return errors.Join(one(ctx), other(ctx)) }, nil
		}}
}
