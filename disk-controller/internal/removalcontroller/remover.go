package removalcontroller

import (
	"errors"
	"time"

	"k8s.io/utils/clock"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/shared/api/v1beta2"
)

var (
	// errGoesOn reports that a removal takes longer than the timeout, and goes on.
	errGoesOn = errors.New("the removal goes on")
	// errStale reports that the objects that a removal was decided on are too old to begin it.
	errStale = errors.New("the decision is too old to begin the removal")
)

// remover removes one directory of a disk at a time.
type remover struct {
	attempts *directory.Attempts
	clock    clock.PassiveClock
}

// remove removes the directory of a replica, and reports whether there was anything of it. It changes nothing on the disk after a time.
func (r *remover) remove(replica *v1beta2.Replica, until time.Time) (bool, error) {
	disk, name, uid := replica.Spec.DiskID, replica.Spec.DataDirectoryName, string(replica.UID)
	var there bool
	ended, err := r.attempts.Do(replica.Spec.DiskPath, func(d *directory.Disk) (err error) {
		there, err = d.Remove(disk, name, uid, func() error {
			if r.clock.Now().After(until) {
				return errStale
			}
			return nil
		})
		return err
	})
	if !ended {
		return false, errGoesOn
	}
	return there, err
}
