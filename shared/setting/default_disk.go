package setting

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Names of the Settings for default disks.
const (
	DefaultDiskLabeledOnly = "create-default-disk-labeled-nodes"
	DefaultDataPath        = "default-data-path"
	DefaultDiskReserved    = "storage-reserved-percentage-for-default-disk"
)

// DefaultDisk are the settings for the disk that a new node gets.
type DefaultDisk struct {
	// LabeledOnly leaves it to labels of Kubernetes nodes which nodes get default disks.
	LabeledOnly bool
	// Path is the directory, or the device of a v2 disk.
	Path string
	// ReservedPercent is the part of a disk that replicas leave free.
	ReservedPercent int
}

// DefaultDiskDefaults returns the values in force without Settings.
func DefaultDiskDefaults() DefaultDisk {
	return DefaultDisk{Path: "/var/lib/longhorn", ReservedPercent: 30}
}

// DefaultDiskReaders returns the readers of the settings for default disks.
func DefaultDiskReaders[V any](field func(*V) *DefaultDisk) map[string]Reader[V] {
	return map[string]Reader[V]{
		DefaultDiskLabeledOnly: Boolean(func(v *V) *bool { return &field(v).LabeledOnly }),
		DefaultDataPath:        Text(func(v *V, s string) { field(v).Path = s }, parseDataPath),
		DefaultDiskReserved:    Number(0, 100, func(v *V, n int) { field(v).ReservedPercent = n }),
	}
}

func parseDataPath(text string) (string, error) {
	return text, CheckDiskPath(text)
}

// longestPath is the number of characters that the API server takes as the path of a disk.
const longestPath = 512

// CheckDiskPath returns why a text cannot be the path of a disk, or nil.
func CheckDiskPath(text string) error {
	switch {
	case isPCIAddress(text):
		return nil
	case !strings.HasPrefix(text, "/"):
		return fmt.Errorf("%q is not absolute: write it from the root of the node, such as /var/lib/longhorn", text)
	case path.Clean(text) != text && path.Clean(text)+"/" != text:
		return fmt.Errorf("%q has empty parts, . or ..: write it without them, such as /var/lib/longhorn", text)
	case len(text) > longestPath:
		return errors.New("the path is longer than 512 characters")
	}
	return nil
}

// IsDevicePath reports whether a path is of a device, and so of a v2 disk.
func IsDevicePath(text string) bool { return isPCIAddress(text) || strings.HasPrefix(text, "/dev/") }

var pciAddress = regexp.MustCompile(`^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$`)

func isPCIAddress(text string) bool { return pciAddress.MatchString(text) }
