package record

import (
	"sync"
	"sync/atomic"
)

// Side reports whether something happens before or after an effect.
type Side int

// The sides of an effect.
const (
	Before Side = iota // the effect never reaches the server
	After              // the effect is done, its answer never reaches the caller
)

// String returns before or after.
func (s Side) String() string {
	if s == Before {
		return "before"
	}
	return "after"
}

// Step is one numbered effect: a write at the API server or a call that changes an instance.
type Step struct {
	// Number counts from 1 since the last Reset, Own the steps of the same actor: steps of other actors do not change it.
	Number, Own int
	// Actor is the user at the API server, or DataPlaneActor.
	Actor string
	// What has verb, resource and name, or the method and the instance.
	What string
}

// DataPlaneActor is the actor of every call to an instance manager: only one binary makes them.
const DataPlaneActor = "im-monitor"

// Sequence numbers effects and cuts a run at one of them. The zero value numbers and never cuts.
type Sequence struct {
	ended  atomic.Int64
	mutex  sync.Mutex
	steps  []Step
	own    map[string]int
	filter func(Step) bool
	cut    *cut
}

type cut struct {
	side Side
	at   func(Step) bool
	act  func(Step) Verdict
	once bool
}

// Verdict decides on a step at which a run was cut.
type Verdict int

// The verdicts. Drop simulates a crash; Pass simulates a pause: the step is only late.
const (
	Drop Verdict = iota
	Pass
)

// Reset removes all steps and an armed cut. Steps that the filter refuses are not numbered; nil accepts all.
func (s *Sequence) Reset(filter func(Step) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.steps, s.own, s.filter, s.cut = nil, map[string]int{}, filter, nil
}

// CutAt calls act once, on the given side of the n-th step. The proxy waits for act; if it returns Drop, the caller's
// connection breaks without an answer.
func (s *Sequence) CutAt(number int, side Side, act func(Step) Verdict) {
	s.arm(&cut{side: side, at: func(step Step) bool { return step.Number == number }, act: act, once: true})
}

// CutWhere calls act on the given side of the first matching step, or, unless once, of every matching step until the next Reset.
func (s *Sequence) CutWhere(at func(Step) bool, side Side, once bool, act func(Step) Verdict) {
	s.arm(&cut{side: side, at: at, act: act, once: once})
}

func (s *Sequence) arm(c *cut) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cut = c
}

// Cut reports whether the armed cut has happened, or none is armed. A repeated cut stays armed.
func (s *Sequence) Cut() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.cut == nil
}

// Steps returns what was numbered since the last Reset, in order.
func (s *Sequence) Steps() []Step {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]Step(nil), s.steps...)
}

// begin numbers a step and reports whether the step is to be dropped.
func (s *Sequence) begin(actor, what string) (Step, bool) {
	s.mutex.Lock()
	step := Step{Actor: actor, What: what}
	if s.filter != nil && !s.filter(step) {
		s.mutex.Unlock()
		return step, false
	}
	if s.own == nil {
		s.own = map[string]int{}
	}
	s.own[actor]++
	step.Number, step.Own = len(s.steps)+1, s.own[actor]
	s.steps = append(s.steps, step)
	act := s.take(step, Before)
	s.mutex.Unlock()
	return step, act != nil && act(step) == Drop
}

// Ended counts the effects that were answered, those that were not numbered among them. While the number is constant, nothing is changed
// through the proxies.
func (s *Sequence) Ended() int64 { return s.ended.Load() }

// end reports whether the step's answer is to be dropped.
func (s *Sequence) end(step Step) bool {
	s.ended.Add(1)
	if step.Number == 0 {
		return false
	}
	s.mutex.Lock()
	act := s.take(step, After)
	s.mutex.Unlock()
	return act != nil && act(step) == Drop
}

func (s *Sequence) take(step Step, side Side) func(Step) Verdict {
	if s.cut == nil || s.cut.side != side || !s.cut.at(step) {
		return nil
	}
	act := s.cut.act
	if s.cut.once {
		s.cut = nil
	}
	return act
}
