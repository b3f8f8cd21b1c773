package setting

import "sync"

// Values are the values of the settings.
type Values struct {
	Items        Items
	GracePeriods GracePeriods
	// Known is false while a value that cannot be read has no good predecessor in this process. Automatic deletion is
	// off then, but no person turned it off.
	Known bool
}

// Memory keeps the last good value of each setting for as long as the process lives. Losing it only turns automatic
// deletion off. It is safe for concurrent use.
type Memory struct {
	mutex sync.Mutex
	items *Items
	grace *GracePeriods
}

// Read takes the present values (nil: the setting does not exist) and returns those in force.
func (m *Memory) Read(autoDeletion, gracePeriod *string) Values {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if items, err := ParseItems(text(autoDeletion)); err == nil {
		m.items = &items
	}
	if grace, err := ParseGracePeriods(text(gracePeriod)); err == nil {
		m.grace = &grace
	}
	if m.items == nil || m.grace == nil {
		return Values{GracePeriods: GracePeriods{V1: DefaultGracePeriod, V2: DefaultGracePeriod}}
	}
	return Values{Items: *m.items, GracePeriods: *m.grace, Known: true}
}

// Check returns why a setting's value cannot be read, or nil. Settings that are not about orphans are always fine.
func Check(name, value string) error {
	var err error
	switch name {
	case AutoDeletion:
		_, err = ParseItems(value)
	case GracePeriod:
		_, err = ParseGracePeriods(value)
	}
	return err
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
