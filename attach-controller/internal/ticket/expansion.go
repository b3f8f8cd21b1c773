package ticket

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// expansionPause is how long the ticket is removed after an expansion failed: other tickets may move the volume meanwhile.
const expansionPause = 5 * time.Minute

// expansionAgain is when the ticket is written again after a failure; zero: nothing failed, or the pause is over.
func (w World) expansionAgain() time.Time {
	if w.Engine == nil || w.Engine.Status.IsExpanding || w.Engine.Status.LastExpansionError == "" {
		return time.Time{}
	}
	failed, err := time.Parse(time.RFC3339, w.Engine.Status.LastExpansionFailedAt)
	if again := failed.Add(expansionPause); err == nil && again.After(w.Now) {
		return again
	}
	return time.Time{}
}

// expansion holds a volume until its engine has grown to the wanted size, for which there is room. A volume without an engine gets one of
// the right size. After a failure it pauses.
func expansion(w World, _ []wish) []wish {
	if w.Engine == nil {
		return nil
	}
	size := w.Engine.Status.CurrentSize
	if size == 0 {
		size = w.Engine.Spec.VolumeSize
	}
	if size == 0 || v1beta2.SizeOf(w.Volume) <= size || !w.expansionAgain().IsZero() {
		return nil
	}
	return []wish{w.ofVolume(v1beta2.AttacherExpansion, v1beta2.TicketValueAny)}
}
