package machine

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// draft is one concern while it is decided: the facts that it decides on, and its result. What it decides counts for its own next steps.
// Methods of Facts have no effect; those of a draft, and of the concerns, may write, wait, or request another evaluation, also where they
// report something.
type draft struct {
	Facts
	result
}

// result is what one concern requests, apart from what later concerns read (decided).
type result struct {
	changes
	// out has everything of the verdict but its writes.
	out Verdict
}

// merge adds the result of the next concern.
func (r *result) merge(next result) {
	r.mergeWrites(next.writes)
	out := &r.out
	out.Reads = out.With(next.out.Reads)
	if len(next.out.Status) > 0 && out.Status == nil {
		out.Status = map[string]any{}
	}
	maps.Copy(out.Status, next.out.Status)
	if next.out.Conditions != nil {
		out.Conditions = next.out.Conditions
	}
	out.Events = append(out.Events, next.out.Events...)
	r.requeueAt(next.out.RequeueAt)
}

// requeueAt requests another evaluation when time alone changes the verdict; the zero time requests none.
func (r *result) requeueAt(at time.Time) {
	if !at.IsZero() && (r.out.RequeueAt.IsZero() || at.Before(r.out.RequeueAt)) {
		r.out.RequeueAt = at
	}
}

func (r *result) verdict() Verdict {
	out := r.out
	out.Writes = r.list()
	marks := func(w Write) bool { return w.Stage == StageMark }
	out.Fresh = out.Fresh || slices.ContainsFunc(out.Writes, marks)
	return out
}

// emit adds an event of a status change; emitWith adds an event of a patch of a replica.
func (r *result) emit(e Event) { r.out.Events = append(r.out.Events, e) }

func (r *result) emitWith(replica *v1beta2.Replica, e Event) {
	w := r.writeTo(StageMark, replica)
	w.Events = append(w.Events, e)
}

// setStatus sets one key of the status if it changes.
func (r *result) setStatus(key string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	if r.out.Status == nil {
		r.out.Status = map[string]any{}
	}
	r.out.Status[key] = to
}

// waiting is what a volume waits for, as a reason and a sentence.
type waiting struct{ reason, message string }

// wait records why the wanted state is not reached, unless an earlier reason is recorded. It returns false.
func (d *draft) wait(reason, message string) bool {
	if d.waitingFor.reason == "" {
		d.waitingFor = waiting{reason, message}
	}
	return false
}

// waitSuspended records why I/O is suspended; it precedes other reasons to wait. It returns false.
func (d *draft) waitSuspended(reason, message string) bool {
	d.waitingFor = waiting{reason, message}
	return false
}
