package machine

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// pass is one evaluation under way: the facts, and what follows from them.
type pass struct {
	Facts
	collect
	out Verdict

	// because is why the volume is faulted, if this pass found out, or what must end for that to change.
	because string
	// givenUp reports whether the volume fails over from its engine, or is about to.
	givenUp bool
	// makes reports whether this pass creates an engine to take over.
	makes bool
	// why is the reason for which the wanted state is not reached.
	why waiting
	// reverted is the condition on the revert that a user requested; nil: nothing new.
	reverted *v1beta2.Condition
}

// waiting is what a volume waits for, as a reason and a sentence.
type waiting struct{ reason, message string }

func (p *pass) wait(reason, message string) bool {
	if p.why.reason == "" {
		p.why = waiting{reason, message}
	}
	return false
}

// Decide is total and deterministic; deciding again on a world in which its writes were done changes nothing until another writer changes
// the world.
func Decide(w World) Verdict {
	p := &pass{Facts: factsOf(&w)}
	p.endAllPrevious()
	switch {
	case p.Volume.DeletionTimestamp != nil:
		p.remove()
	default:
		p.defaults()
		p.findFaults()
		p.failReplicas()
		p.move()
		p.resumeIO()
		p.salvage()
		p.progress()
		p.revert()
		p.newImage()
	}
	p.status()
	p.out.Writes = p.list()
	marks := func(w Write) bool { return w.Stage == StageFail }
	p.out.Fresh = p.out.Fresh || slices.ContainsFunc(p.out.Writes, marks)
	return p.out
}
