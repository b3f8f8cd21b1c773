package backupexecutor

import "time"

// Options are the settings of this package.
type Options struct {
	// PostElectionDelay is how long after its election a leader treats a call of an earlier leader as in progress.
	PostElectionDelay time.Duration
}

const (
	// fieldOwner owns the condition Available of BackupTargets and nothing else.
	fieldOwner = "im-monitor"
	// soon is when to poll after a call or a conflict.
	soon = time.Millisecond
	// conflictPause is the wait for the event of a change that a write met.
	conflictPause = 50 * time.Millisecond
	// repeatAfter is when the same refusal of a target is recorded again. snapshot-controller pauses the target for longer.
	repeatAfter = 30 * time.Second
	// credentialPause is when to retry a target whose credentials are missing, if the approval is not withdrawn before.
	credentialPause = time.Minute
	// lostAfter is how many consecutive polls may fail to report a backup before the engine counts as not having it: many
	// servers have no error code for that.
	lostAfter = 3
)

// Keys of the parameters of a backup request.
const (
	parameterMode      = "backup-mode"
	parameterBlockSize = "backup-block-size"
)
