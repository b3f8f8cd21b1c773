package setting

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/shared/setting"
)

// Names of the settings.
const (
	// AutoDeletion lists what may be deleted without a person.
	AutoDeletion = "orphan-resource-auto-deletion"
	// GracePeriod is how many seconds an orphan stays before it is deleted automatically.
	GracePeriod = "orphan-resource-auto-deletion-grace-period"
	// OldAutoDeletion is the switch of older clusters: true means the item replica-data.
	OldAutoDeletion = "orphan-auto-deletion"
)

// DefaultGracePeriod is in force while the setting does not exist or is empty.
const DefaultGracePeriod = 300 * time.Second

const (
	itemReplicaData = "replica-data"
	itemInstance    = "instance"
	separator       = ";"

	maxValueLength = 256
	maxGracePeriod = 100 * 365 * 24 * time.Hour
)

// Items is what may be deleted automatically.
type Items struct {
	// ReplicaData covers orphaned replica directories.
	ReplicaData bool
	// Instance covers orphaned engine and replica runtime instances of both data engines.
	Instance bool
}

// String returns the items as the setting holds them, always in the same order.
func (i Items) String() string {
	var items []string
	if i.ReplicaData {
		items = append(items, itemReplicaData)
	}
	if i.Instance {
		items = append(items, itemInstance)
	}
	return strings.Join(items, separator)
}

// ParseItems reads the value of AutoDeletion: items separated by semicolons, blanks around them allowed. The error
// names what to write instead.
func ParseItems(value string) (Items, error) {
	if len(value) > maxValueLength {
		return Items{}, fmt.Errorf("the value has %d characters, at most %d are read: list each of %s and %s once", len(value),
			maxValueLength, itemReplicaData, itemInstance)
	}
	var items Items
	if strings.TrimSpace(value) == "" {
		return items, nil
	}
	for _, item := range strings.Split(value, separator) {
		switch strings.TrimSpace(item) {
		case itemReplicaData:
			items.ReplicaData = true
		case itemInstance:
			items.Instance = true
		case "":
			return Items{}, errors.New("there is an empty item: write no semicolon at the beginning, at the end or twice in a row")
		default:
			return Items{}, fmt.Errorf("unknown item %q: the items are %s and %s, separated by semicolons", strings.TrimSpace(item),
				itemReplicaData, itemInstance)
		}
	}
	return items, nil
}

// parseSeconds reads the value of GracePeriod for one data engine: whole seconds, not negative.
func parseSeconds(value string) (time.Duration, error) {
	seconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number of seconds, such as 300", truncate(value))
	}
	if seconds < 0 || seconds > int64(maxGracePeriod/time.Second) {
		return 0, fmt.Errorf("%d seconds is out of range: give 0 to %d", seconds, int64(maxGracePeriod/time.Second))
	}
	return time.Duration(seconds) * time.Second, nil
}

// Merge returns the value that AutoDeletion must have so that OldAutoDeletion can go: the items of the present value
// (nil: the setting does not exist), and replica-data if the old switch was on. changed is false if the present
// value already contains them, in any order; the value then stays as it was written.
func Merge(old string, present *string) (value string, changed bool, err error) {
	on, err := parseOld(old)
	if err != nil {
		return "", false, err
	}
	var items Items
	if present != nil {
		value = *present
		if items, err = ParseItems(value); err != nil {
			return "", false, fmt.Errorf("%s waits for %s to be readable: %w", OldAutoDeletion, AutoDeletion, err)
		}
	}
	if !on || items.ReplicaData {
		return value, false, nil
	}
	items.ReplicaData = true
	return items.String(), true, nil
}

// parseOld reads the old switch; of one for each data engine, true in either turns it on.
func parseOld(value string) (bool, error) {
	each, err := setting.Split(strings.TrimSpace(value))
	if err != nil {
		return false, fmt.Errorf("%s: %w", OldAutoDeletion, err)
	}
	on := false
	for _, v := range each {
		switch strings.TrimSpace(v) {
		case "true":
			on = true
		case "false", "":
		default:
			return false, fmt.Errorf("%s is %q, neither true nor false: correct it, or delete the setting", OldAutoDeletion, truncate(value))
		}
	}
	return on, nil
}

func truncate(value string) string {
	const limit = 40
	if len(value) <= limit {
		return value
	}
	return strings.ToValidUTF8(value[:limit], "") + "..."
}
