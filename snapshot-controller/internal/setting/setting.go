// Package setting reads the settings that snapshot-controller obeys. It parses values and remembers the last good one of
// this process; it knows no client, and nothing of what the values are used for.
//
// A value that cannot be read never stops anything that runs: the last good value stays in force, or, after a restart, the
// default.
package setting

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Names of the settings.
const (
	DisablePurge     = "disable-snapshot-purge"
	PurgesPerNode    = "snapshot-heavy-task-concurrent-limit"
	SnapshotMaxCount = "snapshot-max-count"
)

// Values is what the settings say to volumes of one data engine.
type Values struct {
	// PurgeDisabled forbids purges: deleted snapshots stay until it is false again.
	PurgeDisabled bool
	// PurgesPerNode is how many volumes of a node may purge at once; 0 means no limit.
	PurgesPerNode int
	// SnapshotMaxCount is how many snapshots a volume may have that names no number.
	SnapshotMaxCount int
}

// Defaults are in force where a setting does not exist or is empty.
func Defaults() Values { return Values{PurgesPerNode: 5, SnapshotMaxCount: 250} }

// Known tells whether snapshot-controller obeys a setting of this name.
func Known(name string) bool { return readers[name] != nil }

// Names are the settings that snapshot-controller obeys, in order.
func Names() []string {
	out := make([]string, 0, len(readers))
	for name := range readers {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Check says why a setting's value cannot be read, or nil. Settings of others are always fine.
func Check(name, value string) error {
	read := readers[name]
	if read == nil || strings.TrimSpace(value) == "" {
		return nil
	}
	each, err := split(strings.TrimSpace(value))
	if err != nil {
		return err
	}
	for _, engine := range []string{"v1", "v2"} {
		var scratch Values
		if text := each[engine]; text != "" {
			if err := read(&scratch, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// split reads a value for each data engine: the same for both, or of the form {"v1":"3","v2":"2"}, where what is not
// named has its default.
func split(value string) (map[string]string, error) {
	if !strings.HasPrefix(value, "{") {
		return map[string]string{"v1": value, "v2": value}, nil
	}
	var each map[string]string
	if err := json.Unmarshal([]byte(value), &each); err != nil {
		return nil, fmt.Errorf(`%q is not of the form {"v1":"…","v2":"…"}`, value)
	}
	for engine := range each {
		if engine != "v1" && engine != "v2" {
			return nil, fmt.Errorf("unknown data engine %q: there are v1 and v2", engine)
		}
	}
	return each, nil
}

// Memory keeps the last good value of each setting for as long as the process lives. The zero value holds the defaults.
// It is safe for concurrent use.
type Memory struct {
	mutex sync.Mutex
	good  map[string]string
}

// Set takes the present value of a setting; nil: it does not exist. It tells whether the values in force changed, and why
// a value cannot be read.
func (m *Memory) Set(name string, value *string) (changed bool, err error) {
	if !Known(name) {
		return false, nil
	}
	text := ""
	if value != nil {
		text = strings.TrimSpace(*value)
	}
	if err := Check(name, text); err != nil {
		return false, fmt.Errorf("setting %s: %w", name, err)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.good == nil {
		m.good = map[string]string{}
	}
	changed = m.good[name] != text
	m.good[name] = text
	return changed, nil
}

// Values returns those in force for volumes of a data engine; empty means v1.
func (m *Memory) Values(dataEngine string) Values {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if dataEngine == "" {
		dataEngine = "v1"
	}
	out := Defaults()
	for name, text := range m.good {
		// Set let only values in that can be read.
		each, _ := split(text)
		if one := each[dataEngine]; one != "" {
			_ = readers[name](&out, one)
		}
	}
	return out
}

var readers = map[string]func(*Values, string) error{
	DisablePurge:     boolean(func(v *Values) *bool { return &v.PurgeDisabled }),
	PurgesPerNode:    number(0, 100_000, func(v *Values, n int) { v.PurgesPerNode = n }),
	SnapshotMaxCount: number(2, 250, func(v *Values, n int) { v.SnapshotMaxCount = n }),
}

func boolean(field func(*Values) *bool) func(*Values, string) error {
	return func(v *Values, text string) error {
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*field(v) = text == "true"
		return nil
	}
}

func number(least, most int, set func(*Values, int)) func(*Values, string) error {
	return func(v *Values, text string) error {
		n, err := within(text, least, most)
		if err == nil {
			set(v, n)
		}
		return err
	}
}

func within(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", text, least, most)
	}
	return n, nil
}
