package backuplist

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Retry bounds the pause after a reading that failed.
const Retry = time.Minute

// Tried is the last reading that failed in this process, of the same spec; zero: none did.
type Tried struct {
	Generation int64
	At         time.Time
}

// Turn is when a target is read.
type Turn struct {
	// Now is whether it is read now, and All whether all of it is, also what did not change.
	Now, All bool
	// At is when it is read next, if it is not now; zero: when somebody requests it.
	At time.Time
}

// NextTurn returns when a target is read. One that was never read is read at once, unless it is read by request only.
func NextTurn(t *v1beta2.BackupTarget, tried Tried, now time.Time) Turn {
	if t.Spec.BackupTargetURL == "" || t.DeletionTimestamp != nil {
		return Turn{}
	}
	last, _ := time.Parse(time.RFC3339, t.Status.LastSyncedAt)       // zero: it was never read
	requested, _ := time.Parse(time.RFC3339, t.Spec.SyncRequestedAt) // zero: nobody requests it
	every, err := time.ParseDuration(t.Spec.PollInterval)
	if err != nil || every < 0 {
		every = 0
	}
	asked := requested.After(last)
	if every == 0 && !asked {
		return Turn{}
	}
	at := last.Add(every)
	switch {
	case asked && (every == 0 || requested.Before(at)):
		at = requested
	case last.IsZero():
		at = now
	}
	if tried.Generation == t.Generation && !tried.At.IsZero() {
		pause := Retry
		if every > 0 {
			pause = min(every, Retry)
		}
		if again := tried.At.Add(pause); again.After(at) {
			at = again
		}
	}
	if at.After(now) {
		return Turn{At: at}
	}
	return Turn{Now: true, All: asked || last.IsZero()}
}
