package snapshot

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// What an engine refused is tried again after a pause, which is as long as it has been failing, within these.
const (
	pauseShortest = 10 * time.Second
	pauseLongest  = 10 * time.Minute
	// takingPatience is for how long a snapshot that an engine refuses is asked for again.
	takingPatience = 24 * time.Hour
)

// failure is what im-monitor reports about the last try: when it failed, since when every try did, and the engine's answer. Both
// times are of im-monitor's clock, and compared only with each other and with what they answer.
type failure struct {
	at, first time.Time
	message   string
}

func failureOf(c *v1beta2.Condition) (failure, bool) {
	if c == nil {
		return failure{}, false
	}
	at, err := time.Parse(time.RFC3339, c.LastProbeTime)
	first, problem := time.Parse(time.RFC3339, c.LastTransitionTime)
	if problem != nil {
		first = at
	}
	return failure{at: at, first: first, message: strings.TrimSuffix(c.Message, ".")}, err == nil
}

func (f failure) pause() time.Duration {
	return min(max(f.at.Sub(f.first).Truncate(time.Second), pauseShortest), pauseLongest)
}

// after is a time, by our clock or later, that is after the failure by both clocks.
func (f failure) after(now time.Time) time.Time {
	if now.After(f.at) {
		return now
	}
	return f.at.Add(time.Nanosecond)
}

// nextSecond is a time whose second is after the failure.
func (f failure) nextSecond(now time.Time) time.Time {
	if now.Truncate(time.Second).After(f.at) {
		return now
	}
	return f.at.Truncate(time.Second).Add(time.Second)
}

// IsRequestedAgain reports whether the engine refused to take the snapshot, and that it is requested again.
func IsRequestedAgain(s *v1beta2.Snapshot) bool {
	if conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) != v1beta2.ReasonFailed {
		return false
	}
	_, _, again := refusalOf(s)
	return again
}

// refusalOf is what is known of the last refusal, when that was requested, and whether it is requested again.
func refusalOf(s *v1beta2.Snapshot) (f failure, asked time.Time, again bool) {
	f, known := failureOf(conditions.Get(s.Status.Conditions, v1beta2.SnapshotProvisioned))
	asked, err := time.Parse(time.RFC3339, s.Status.RequestedTime)
	return f, asked, known && err == nil && f.at.Sub(f.first) < takingPatience
}

// refused is about a snapshot that its engine did not take. It is asked for again after a pause, for as long as that may help.
func (w World) refused() Verdict {
	f, asked, requested := refusalOf(w.Snapshot)
	refusal := "The engine did not take it."
	if f.message != "" {
		refusal = "The engine did not take it: " + f.message + "."
	}
	if !requested {
		return w.report(w.mirrored(nil), ready(v1beta2.ReasonFailed, refusal+" Delete this Snapshot and create another one."), nil)
	}
	again := asked.Add(f.pause())
	if w.Now.Before(again) {
		v := w.report(w.mirrored(nil), ready(v1beta2.ReasonFailed, fmt.Sprintf("%s It is requested again at %s.", refusal, text(again))),
			nil)
		v.Enqueue = again
		return v
	}
	return w.create()
}

// unremoved is about a snapshot that its engine could not remove: the approval is taken back, so that it holds no place among the
// purges, and given again after a pause. false: nothing failed, or that was long ago enough.
func (w World) unremoved() (Verdict, bool) {
	f, known := w.removalFailure()
	approved := conditions.Get(w.Snapshot.Status.Conditions, v1beta2.SnapshotRemovalApproved)
	if !known || approved == nil {
		return Verdict{}, false
	}
	since, err := time.Parse(time.RFC3339, approved.LastTransitionTime)
	if err != nil {
		return Verdict{}, false
	}
	if approved.Status == v1beta2.ConditionTrue {
		if since.After(f.at) {
			return Verdict{}, false // it is being tried again
		}
		since = w.Now.Truncate(time.Second)
	}
	again := since.Add(f.pause())
	if approved.Status != v1beta2.ConditionTrue && !w.Now.Before(again) {
		return Verdict{}, false
	}
	v := w.report(w.mirrored(w.info()), approval(v1beta2.ReasonRemovalFailed,
		fmt.Sprintf("The engine could not remove it: %s. It is tried again at %s.", f.message, text(again))), nil)
	v.Enqueue = again
	return v, true
}

// removalFailure is what im-monitor reports about the last try to remove it.
func (w World) removalFailure() (failure, bool) {
	c := conditions.Get(w.Snapshot.Status.Conditions, v1beta2.SnapshotRemovalFailed)
	if c == nil || c.Status != v1beta2.ConditionTrue {
		return failure{}, false
	}
	return failureOf(c)
}

func text(t time.Time) string { return t.UTC().Format(time.RFC3339) }
