package model

import (
	"fmt"

	evaluate "drover.dev/drover/im-monitor/model"
	policy "drover.dev/drover/orphan-controller/model"
	"drover.dev/drover/shared/api/v1beta2"
)

// scope is the size of the explored world.
type scope struct {
	name string
	v2   bool
	// caches lets reads be stale; twoUUIDs lets a new instance use the name again; elections lets leaders change;
	// mapping brings the forgotten engine.
	caches, twoUUIDs, mapping bool
	budget                    budget
}

// machine generates the steps of one scope. It caches the results of the product's functions.
type machine struct {
	scope
	fault    fault
	verdicts map[observation]evaluate.Verdict
	decided  map[policyFacts]policyAnswer
}

type policyFacts struct {
	orphan                  orphan
	uuid                    uint8
	replica                 replica
	volume, otherCopy, auto bool
	abandoned               bool
}

type policyAnswer struct {
	next    orphan
	step    policy.Step
	confirm bool
}

func newMachine(s scope, f fault) *machine {
	return &machine{scope: s, fault: f, verdicts: map[observation]evaluate.Verdict{}, decided: map[policyFacts]policyAnswer{}}
}

func (m *machine) dataEngine() string {
	if m.v2 {
		return v1beta2.DataEngineV2
	}
	return v1beta2.DataEngineV1
}

// initial returns the first states: a replica that runs on the first manager, auto deletion off and on.
func (m *machine) initial() []state {
	s := state{
		replica: replica{exists: true, wanted: true, running: true, node: 1, manager: 1, uuid: 1},
		runtime: alive, uuid: 1, nextUUID: 2, volume: true, otherCopy: true, reachable: true, left: m.budget,
	}
	s.cached = s.replica
	on := s
	on.auto = true
	return []state{s, on}
}

// steps are all possible next steps.
func (m *machine) steps(s state) []step {
	b := &builder{machine: m, from: s}
	b.people()
	b.dataPlane()
	b.caching()
	b.orphanController()
	for i := range s.monitors {
		b.imMonitor(uint8(i))
	}
	return b.out
}

// builder collects the steps from one state.
type builder struct {
	*machine
	from state
	out  []step
}

func (b *builder) add(environment bool, label string, change func(*state) []string) {
	to := b.from
	violations := change(&to)
	if !b.caches {
		to.cached = to.replica
	}
	to = to.normal()
	if !b.caches {
		to.seen = to.orphans
	}
	if to != b.from || len(violations) > 0 {
		b.out = append(b.out, step{to, label, environment, violations})
	}
}

// environment is a step of a person or a fault, limited by a budget.
func (b *builder) environment(pay *uint8, cost func(*budget), label string, change func(*state)) {
	if *pay == 0 {
		return
	}
	b.add(true, label, func(s *state) []string { cost(&s.left); change(s); return nil })
}

// work is a step of a controller.
func (b *builder) work(label string, change func(*state)) {
	b.add(false, label, func(s *state) []string { change(s); return nil })
}

func (m *machine) evaluate(l observation) evaluate.Verdict {
	v, ok := m.verdicts[l]
	if !ok {
		v = evaluate.Evaluate(m.world(l))
		m.verdicts[l] = v
	}
	return v
}

// decide calls the policy for one orphan as read. Changed messages alone are no difference here, so the answer is the one
// after they were stored.
func (m *machine) decide(o orphan, uuid uint8, r replica, s state) policyAnswer {
	key := policyFacts{o, uuid, r, s.volume, s.otherCopy, s.auto, s.abandoned == uuid}
	if a, ok := m.decided[key]; ok {
		return a
	}
	w := m.policyWorld(o, uuid, r, s)
	v := policy.Decide(w)
	if v.Step == policy.StepConditions && o.withConditions(v.Conditions, true) == o {
		w.Orphan.Status.Conditions = append(withoutPolicy(w.Orphan.Status.Conditions), v.Conditions...)
		v = policy.Decide(w)
		if v.Step == policy.StepConditions {
			panic(fmt.Sprintf("the policy is not idempotent on %+v", o))
		}
	}
	a := policyAnswer{next: o.withConditions(v.Conditions, true), step: v.Step, confirm: v.Confirm}
	m.decided[key] = a
	return a
}

func withoutPolicy(list []v1beta2.Condition) []v1beta2.Condition {
	var out []v1beta2.Condition
	for _, c := range list {
		if c.Type != v1beta2.OrphanCleanupApproved && c.Type != v1beta2.OrphanDeletionReason {
			out = append(out, c)
		}
	}
	return out
}
