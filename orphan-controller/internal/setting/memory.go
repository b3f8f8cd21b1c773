package setting

import (
	"sync"
	"time"
)

// Values is what the settings say.
type Values struct {
	Items       Items
	GracePeriod time.Duration
	// Known is false while a value that cannot be read has no good predecessor in this process. Automatic deletion is
	// off then, but nobody turned it off.
	Known bool
}

// Memory keeps the last good value of each setting for as long as the process lives. Losing it only turns automatic
// deletion off. It is safe for concurrent use.
type Memory struct {
	mutex sync.Mutex
	items *Items
	grace *time.Duration
}

// Read takes the present values (nil: the setting does not exist) and returns those in force.
func (m *Memory) Read(autoDeletion, gracePeriod *string) Values {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if items, err := ParseItems(text(autoDeletion)); err == nil {
		m.items = &items
	}
	if grace, err := ParseGracePeriod(text(gracePeriod)); err == nil {
		m.grace = &grace
	}
	if m.items == nil || m.grace == nil {
		return Values{GracePeriod: DefaultGracePeriod}
	}
	return Values{Items: *m.items, GracePeriod: *m.grace, Known: true}
}

// Check says why a setting's value cannot be read, or nil. Settings that are not about orphans are always fine.
func Check(name, value string) error {
	var err error
	switch name {
	case AutoDeletion:
		_, err = ParseItems(value)
	case GracePeriod:
		_, err = ParseGracePeriod(value)
	}
	return err
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
