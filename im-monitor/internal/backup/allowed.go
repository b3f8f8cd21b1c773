package backup

import (
	"errors"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// Allowed reports why an engine must not be asked for a Backup now; nil where it may. The Backup must be the version that was evaluated:
// one that was requested since then is not requested a second time. After this try's own write ahead, which makes another version, it
// must be as that write left it, approved, and not being deleted.
func Allowed(c CallWorld) error {
	switch {
	case c.Now == nil || !c.unchanged():
		return errors.New("the Backup changed since the evaluation")
	case c.Target == nil || c.Target.URL == "" || c.Target.Deleting:
		return fmt.Errorf("backup target %s is gone, being deleted, or has no URL", c.TargetName)
	}
	return nil
}

// unchanged reports whether the Backup is the version that was evaluated, or as the write ahead left it.
func (c CallWorld) unchanged() bool {
	b, noted := c.Now, c.Noted
	if noted == nil {
		return b.Version == c.Evaluated.Version
	}
	same := b.UID == noted.UID && b.State == v1beta2.BackupPending && b.Run == noted.Run && b.Requested.Equal(noted.Requested)
	return same && b.Approved && !b.Deleting
}
