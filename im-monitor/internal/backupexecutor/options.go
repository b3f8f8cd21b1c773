package backupexecutor

import "time"

// Options are the settings of this package.
type Options struct {
	// PostElectionDelay is how long after its election a leader takes a call of an earlier one to be under way.
	PostElectionDelay time.Duration
}

const (
	// fieldOwner owns the condition Available of BackupTargets and nothing else.
	fieldOwner = "im-monitor"
	// soon is when to poll after a call or a conflict.
	soon = time.Millisecond
	// conflictPause is the wait for the event of a change that a write met.
	conflictPause = 50 * time.Millisecond
	// repeatAfter is when the same refusal of a target is noted again. snapshot-controller leaves the target alone for longer.
	repeatAfter = 30 * time.Second
	// credentialPause is when to poll again at a target whose credentials are missing, if no one takes the approval back before.
	credentialPause = time.Minute
	// lostAfter is how often in a row an engine may fail to tell of a backup before that means that it knows none: many
	// servers have no word for that.
	lostAfter = 3
)

// Keys of the parameters that an engine is asked with.
const (
	parameterMode      = "backup-mode"
	parameterBlockSize = "backup-block-size"
)
