package model

import (
	"fmt"

	policy "drover.dev/drover/orphan-controller/model"
)

// orphanController makes the one step that its policy returns. Every write carries the version that was read, so that
// a write on a stale read fails; where the policy asks to confirm, it is called again with an uncached read.
func (b *builder) orphanController() {
	for k := range b.from.orphans {
		read, stored := b.from.seen[k], b.from.orphans[k]
		if !read.exists {
			continue
		}
		a := b.decide(read, uint8(k+1), b.from.cached, b.from)
		if a.confirm {
			a = b.decide(stored, uint8(k+1), b.from.replica, b.from)
			read = stored
		}
		if read == stored && stored.exists {
			b.policyStep(k, a)
		}
		if b.fault == finalizerDroppedOnError && stored.deleting && stored.failed != 0 {
			b.dropFinalizer(k)
		}
	}
}

func (b *builder) policyStep(k int, a policyAnswer) {
	switch a.step {
	case policy.StepConditions:
		b.work(fmt.Sprintf("oc: orphan %d reports %s", k+1, approvals[a.next.approval]), func(t *state) { t.orphans[k] = a.next })
	case policy.StepDelete:
		b.add(false, fmt.Sprintf("oc: deletes orphan %d", k+1), func(t *state) []string {
			t.orphans[k].deleting = true
			t.orphans[k].asked = t.orphans[k].withdrawn == 0
			if t.orphans[k].asked && t.orphans[k].approval == approved && !t.replica.exists && t.abandoned != uint8(k+1) {
				return []string{"ORP-5"}
			}
			return nil
		})
	case policy.StepDropFinalizer:
		b.dropFinalizer(k)
	}
}

func (b *builder) dropFinalizer(k int) {
	b.add(false, fmt.Sprintf("oc: drops the finalizer of orphan %d", k+1), func(t *state) []string {
		o := t.orphans[k]
		t.orphans[k] = orphan{incarnation: o.incarnation}
		if o.withdrawn == 0 && o.instanceState != stateTerminated {
			return []string{"ORP-4"}
		}
		return nil
	})
}
