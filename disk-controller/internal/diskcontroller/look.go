package diskcontroller

import (
	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/disk-controller/internal/disk"
)

// Looker looks at directories. A directory that does not answer, as on a dead network file system, delays no
// other directory.
type Looker struct{ attempts *directory.Attempts }

// NewLooker returns a looker at the directories of the host.
func NewLooker(options Options) *Looker {
	return &Looker{directory.NewAttempts(directory.At(options.Root), options.LookTimeout)}
}

// Look reads the directory of a disk.
func (l *Looker) Look(path string) disk.Sight {
	var seen disk.Sight
	_, problem := l.attempts.Do(path, func(d *directory.Disk) error {
		s, err := d.Look()
		seen = disk.Sight{Unreadable: s.Unreadable, HasReplicas: s.Replicas, ReadOnly: s.ReadOnly, Filesystem: s.Filesystem, Type: s.Type,
			Maximum: s.Maximum, Available: s.Available}
		if s.Config != nil {
			seen.UUID = s.Config.DiskUUID
		}
		return err
	})
	if problem != nil {
		return disk.Sight{Problem: problem.Error()}
	}
	return seen
}

// prepare gives a directory its configuration file.
func (l *Looker) prepare(path string, c directory.Config) error {
	_, err := l.attempts.Do(path, func(d *directory.Disk) error { return d.Prepare(c) })
	return err
}
