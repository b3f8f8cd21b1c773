package model

import (
	"fmt"
	"slices"
	"time"
)

// step is one transition: by the environment (a person, a fault, a crash) or by a controller.
type step struct {
	to          state
	label       string
	environment bool
	violations  []string
}

// result is what an exploration found.
type result struct {
	states, steps int
	took          time.Duration
	truncated     bool
	// traces has the shortest trace to each kind of violation.
	traces map[string][]string
}

// explore visits every reachable state once. It fails at limit states; it stops once it has found a violation of the
// invariant until.
func explore(m *machine, initial []state, limit int, until string) result {
	e := &explorer{ids: map[state]uint32{}, found: map[string][]string{}}
	began := time.Now()
	for _, s := range initial {
		e.add(s, root, "start")
	}
	for at := 0; at < len(e.states) && len(e.states) <= limit && e.found[until] == nil; at++ {
		for _, next := range m.steps(e.states[at]) {
			e.follow(uint32(at), next)
		}
	}
	r := result{states: len(e.states), steps: e.steps, truncated: len(e.states) > limit, traces: e.found}
	if !r.truncated && until == "" {
		e.checkEnds()
	}
	r.took = time.Since(began)
	return r
}

const root = ^uint32(0)

type explorer struct {
	ids    map[state]uint32
	states []state
	parent []uint32
	label  []string
	// work are the steps that are not the environment's, as (to, from).
	work  [][2]uint32
	steps int
	found map[string][]string
}

func (e *explorer) add(s state, parent uint32, label string) uint32 {
	if id, ok := e.ids[s]; ok {
		return id
	}
	id := uint32(len(e.states))
	e.ids[s] = id
	e.states, e.parent, e.label = append(e.states, s), append(e.parent, parent), append(e.label, label)
	return id
}

func (e *explorer) follow(from uint32, next step) {
	e.steps++
	for _, v := range next.violations {
		if e.found[v] == nil {
			e.found[v] = append(e.trace(from), next.label)
		}
	}
	to := e.add(next.to, from, next.label)
	if !next.environment {
		e.work = append(e.work, [2]uint32{to, from})
	}
}

func (e *explorer) trace(id uint32) []string {
	var out []string
	for ; id != root; id = e.parent[id] {
		out = append(out, e.label[id])
	}
	slices.Reverse(out)
	return out
}

// checkEnds walks back from the states in which every orphan has ended along the controllers' steps; a state that it does
// not reach can wait for ever.
func (e *explorer) checkEnds() {
	back := make([][]uint32, len(e.states))
	for _, w := range e.work {
		back[w[0]] = append(back[w[0]], w[1])
	}
	reached := make([]bool, len(e.states))
	var queue []uint32
	for id, s := range e.states {
		if s.ended() {
			reached[id] = true
			queue = append(queue, uint32(id))
		}
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, p := range back[id] {
			if !reached[p] {
				reached[p] = true
				queue = append(queue, p)
			}
		}
	}
	if id := slices.Index(reached, false); id >= 0 {
		e.found["ENDS"] = append(e.trace(uint32(id)), fmt.Sprintf("%+v", e.states[id]))
	}
}
