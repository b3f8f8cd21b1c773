package backup

import (
	"errors"
	"fmt"
)

// Allowed reports why an engine must not be asked for a Backup now; nil where it may. The Backup must be the version that was evaluated: one
// that was requested since then is not requested a second time.
func Allowed(c CallWorld) error {
	switch {
	case c.Now == nil || c.Now.Version != c.Evaluated.Version:
		return errors.New("the Backup changed since the evaluation")
	case c.Target == nil || c.Target.URL == "" || c.Target.Deleting:
		return fmt.Errorf("backup target %s is gone, being deleted, or has no URL", c.TargetName)
	}
	return nil
}
