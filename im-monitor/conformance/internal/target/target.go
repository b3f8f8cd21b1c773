package target

import (
	"crypto/tls"
	"errors"
	"time"
)

// Target is everything that the checks of one run may use. Nil and empty fields mean that the target has no such thing.
type Target struct {
	// V1 and V2 are instance managers of the two data engines; the Second ones are on other nodes.
	V1, V1Second, V2, V2Second *Manager
	// TLS is the client's side of mutual TLS; nil in plaintext.
	TLS *tls.Config

	// EngineBinary and ReplicaBinary are the paths of a v1 engine image's binary inside the instance manager, as engines and as replicas
	// use it.
	EngineBinary, ReplicaBinary string
	// DataPath is the directory inside a v1 instance manager below which replicas keep their data.
	DataPath string
	// BackingFile is a backing file inside the first v1 instance manager; it is no larger than VolumeSize and its first block is not empty.
	BackingFile string
	// BackupTarget is the URL of a backup target that needs no credentials.
	BackupTarget string
	// FrontendV1 and FrontendV2 are the kinds of block device that volumes get.
	FrontendV1, FrontendV2 string
	// VolumeSize is the size of the volumes, in bytes.
	VolumeSize int64

	// Disk and SecondDisk are block devices of the nodes of V2 and V2Second.
	Disk, SecondDisk Disk
	// SpareDevice is one more block device of the node of V2, whose content may be destroyed.
	SpareDevice string
	// Destroy is true when a person allowed the content of the devices to be destroyed.
	Destroy bool

	Content Content
	Lab     Lab

	// Patience is how long a check waits for something that has to happen; Observation how long it watches that something does not.
	Patience, Observation time.Duration
	// Outage is how long an engine without I/O keeps a replica in mode RW whose link is cut.
	Outage time.Duration
}

// Disk is a block device and, where it is known, the UUID of the lvstore on it.
type Disk struct {
	Device, UUID, Driver string
}

// Managers are the instance managers that the target has.
func (t *Target) Managers() []*Manager {
	var out []*Manager
	for _, m := range []*Manager{t.V1, t.V1Second, t.V2, t.V2Second} {
		if m != nil {
			out = append(out, m)
		}
	}
	return out
}

// FirstHosts are the addresses of the first managers.
func (t *Target) FirstHosts() []string {
	var out []string
	for _, m := range []*Manager{t.V1, t.V2} {
		if m != nil {
			out = append(out, m.Host)
		}
	}
	return out
}

// Close ends every connection.
func (t *Target) Close() error {
	var errs []error
	for _, m := range t.Managers() {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
