package world

import (
	"sync"
	"time"

	"drover.dev/drover/e2e/record"
)

// CrashEach calls crash on one side of each stride-th step of a controller, from the first one on, and drops that step; until the next
// Reset of the Sequence, or until the time is over: a controller that writes after each start would otherwise never finish. Steps in flight
// at a crash count. CrashEach returns a function that returns the number of crashes so far.
func (w *World) CrashEach(actor string, first, stride int, side record.Side, within time.Duration, crash func()) func() int {
	var mutex sync.Mutex
	crashes, before, began := 0, first-stride, time.Now()
	w.Sequence.CutWhere(func(s record.Step) bool { return s.Actor == actor && s.Own >= first }, side, false,
		func(step record.Step) record.Verdict {
			mutex.Lock()
			defer mutex.Unlock()
			if step.Own < before+stride || time.Since(began) > within {
				return record.Pass
			}
			before = step.Own
			crashes++
			crash()
			return record.Drop
		})
	return func() int {
		mutex.Lock()
		defer mutex.Unlock()
		return crashes
	}
}

// StepsOf returns how many steps a controller made since the last Reset of the Sequence.
func (w *World) StepsOf(actor string) int {
	last := 0
	for _, step := range w.Sequence.Steps() {
		if step.Actor == actor {
			last = step.Own
		}
	}
	return last
}
