package removalcontroller

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/removal"
)

// attempt is what this process knows of its tries to destroy one replica's data. All of it may be lost.
type attempt struct {
	execute.Tries
	// uid and approval are what the tries were about; another one starts again.
	uid      types.UID
	approval string
	// began is when this process learned of the removal: lists that are older prove nothing about it.
	began time.Time
	// failure is what the last try failed with; nil when it did not.
	failure *removal.Failure
	// call is the last deletion that was sent; nil when none was.
	call *inventory.Call
}

// memory remembers the removals that are under way, by the Replica's name.
type memory struct {
	execute.Memory[string, attempt]
}

// begin remembers that a removal is under way. What was tried under another approval is due at once; another Replica of
// the name has no past.
func (m *memory) begin(name string, uid types.UID, approval string, now time.Time) attempt {
	return m.Change(name, func(a *attempt) {
		switch {
		case a.uid != uid:
			*a = attempt{uid: uid, approval: approval, began: now}
		case a.approval != approval:
			a.approval, a.failure, a.Tries = approval, nil, execute.Tries{}
		}
	})
}

// underWay reports which of the names are being removed.
func (m *memory) underWay(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !m.Known(name) })
}

// failed notes a try that sent no call, or one that is known to have had no effect. The failure may be nil: then nothing
// is to be reported.
func (m *memory) failed(name string, failure *removal.Failure, now time.Time) {
	if m.Known(name) {
		m.Change(name, func(a *attempt) {
			a.Fail(now)
			a.failure = failure
		})
	}
}

// sent notes a call that the server took, or may have taken.
func (m *memory) sent(name string, call inventory.Call, failure *removal.Failure, now time.Time) {
	if m.Known(name) {
		m.Change(name, func(a *attempt) {
			a.Accept(execute.AfterDeletion, now)
			a.call, a.failure = &call, failure
		})
	}
}

// retry makes tries due now that failed for a reason, those of the names, or all; it reports which.
func (m *memory) retry(reason string, names ...string) []string {
	return m.ChangeAll(func(name string, a *attempt) bool {
		if a.failure == nil || a.failure.Reason != reason || len(names) > 0 && !slices.Contains(names, name) {
			return false
		}
		a.NotBefore = time.Time{}
		return true
	})
}
