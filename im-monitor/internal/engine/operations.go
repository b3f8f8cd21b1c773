package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// operations sets the condition EngineOperations. A failure stays in it until its call is no longer due: neither another call
// in between, nor a new leader that has not tried the call yet, removes it.
func (p *pass) operations() {
	s := &p.out.Status
	if len(p.Failed) == 0 && !conditions.IsFalse(s.Conditions, v1beta2.EngineOperations) {
		return
	}
	var failed []string
	due := p.due()
	for _, key := range slices.SortedFunc(maps.Keys(p.Failed), byOpAndName) {
		if due[key] || p.isUnknown(key.Op) {
			failed = append(failed, p.sentence(key))
		}
	}
	c := v1beta2.Condition{Type: v1beta2.EngineOperations, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonOperationFailed,
		Message: strings.Join(failed, " ")}
	switch {
	case len(failed) > 0:
	case len(due) > 0, p.Seen.Unanswered.Any(), !conditions.IsFalse(s.Conditions, v1beta2.EngineOperations):
		return
	default:
		c.Status, c.Reason = v1beta2.ConditionTrue, v1beta2.ReasonNoOperationFails
	}
	if old := conditions.Get(s.Conditions, c.Type); old == nil || old.Status != c.Status || old.Message != c.Message {
		s.Conditions = conditions.Set(s.Conditions, c, p.Now)
	}
}

// isUnknown reports whether the poll did not learn if calls of this kind are due.
func (p *pass) isUnknown(op Op) bool {
	lost := p.Seen.Unanswered
	switch op {
	case OpExpand:
		return lost.Volume
	case OpClone:
		return lost.Clones
	case OpRestore, OpVerify:
		return lost.Restores
	case OpPurge:
		return lost.Snapshots || lost.Rebuilds
	}
	return false
}

func byOpAndName(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Name, b.Name))
}

// sentence is the failed operation, the engine's answer and the next step.
func (p *pass) sentence(key Key) string {
	next := "It is tried again."
	if p.Failures[key.Name] >= FailuresToErr && key.Op == OpAdd {
		next = "It is not tried again: the replica is marked as failed."
	}
	return p.Engine.Name + " could not " + p.phrase(key) + ": " + strings.TrimSuffix(p.Failed[key], ".") + ". " + next
}

// phrase is the operation as a verb with its object.
func (p *pass) phrase(key Key) string {
	s := p.Engine.Spec
	switch key.Op {
	case OpAdd:
		return "add replica " + key.Name
	case OpVerify:
		return "verify replica " + key.Name
	case OpRemove:
		return "remove replica " + key.Name
	case OpExpand:
		return "begin to grow"
	case OpClone:
		return "begin to copy " + s.RequestedDataSource
	case OpRestore:
		return "begin to restore backup " + s.RequestedBackupRestore
	case OpRevert:
		return "revert to " + s.RequestedRevert
	case OpPurge:
		return "purge snapshots"
	default:
		return "change a limit (" + string(key.Op) + ")"
	}
}
