package orphancontroller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
)

// attempts are remembered by the Orphan's UID.
type attempts = execute.Memory[types.UID, attempt]

// attempt is what this process knows of its tries to delete the instance of one Orphan. All of it may be lost.
type attempt struct {
	execute.Tries
	// failure is what the status must report; nil reports nothing new, an empty one that the last try went well.
	failure *orphan.Failure
	// call is the last deletion that was sent; nil when none was.
	call *inventory.Call
	// deletionSeen is when this process first saw that the Orphan is being deleted.
	deletionSeen time.Time
}

// failed notes a try that brought no accepted call, and that the status must report.
func (t *attempt) failed(f orphan.Failure, now time.Time) {
	t.Fail(now)
	t.failure = &f
}

// accepted notes a call that the server took, or that it may have taken. A failure StillPresent stands until the
// instance ends, so that it does not come and go with every try.
func (t *attempt) accepted(call inventory.Call, still *orphan.Failure, now time.Time) {
	t.Accept(execute.AfterDeletion, now)
	t.call, t.failure = &call, &orphan.Failure{}
	if still != nil {
		t.failure = still
	}
}

// hurry makes a failed try due now, and reports whether there was one.
func hurry(a *attempts, uid types.UID) bool {
	return a.ChangeKnown(uid, func(t *attempt) bool {
		if t.Failures == 0 {
			return false // the pause after a call that was taken stands
		}
		t.NotBefore = time.Time{}
		return true
	})
}
