package setting

import (
	"fmt"
	"strings"
	"sync"

	"drover.dev/drover/shared/api/v1beta2"
)

// Memory keeps the last good value of each setting of a Catalogue for as long as the process lives. It is safe for
// concurrent use.
type Memory[V any] struct {
	catalogue Catalogue[V]

	mutex sync.Mutex
	good  map[string]string
	// unknown are the settings with a value that cannot be read, and with no good one before it.
	unknown map[string]bool
	// values are what good comes to for each data engine, until it changes.
	values map[string]V
}

// Remember returns a Memory that holds the defaults.
func Remember[V any](catalogue Catalogue[V]) *Memory[V] {
	return &Memory[V]{catalogue: catalogue, good: map[string]string{}, unknown: map[string]bool{}, values: map[string]V{}}
}

// Set takes the present value of a setting; nil: it does not exist. It reports whether the values in force changed, and why
// a value cannot be read.
func (m *Memory[V]) Set(name string, value *string) (changed bool, err error) {
	if !m.catalogue.Known(name) {
		return false, nil
	}
	text := ""
	if value != nil {
		text = strings.TrimSpace(*value)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if before, read := m.good[name]; read && before == text {
		return false, nil
	}
	if err := m.catalogue.Check(name, text); err != nil {
		if _, read := m.good[name]; !read && !m.unknown[name] {
			m.unknown[name], changed = true, m.catalogue.Safe[name] != ""
			clear(m.values)
		}
		return changed, fmt.Errorf("setting %s: %w", name, err)
	}
	changed = m.good[name] != text || m.unknown[name] && m.catalogue.Safe[name] != ""
	m.good[name] = text
	delete(m.unknown, name)
	clear(m.values)
	return changed, nil
}

// Known reports whether a person's value, or the default where none is set, is in force for every setting that was read: not after a start
// with a value that cannot be read.
func (m *Memory[V]) Known() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return len(m.unknown) == 0
}

// Values returns those in force for volumes of a data engine; empty means v1. Whoever gets them does not change the maps and lists in them.
func (m *Memory[V]) Values(dataEngine string) V {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if dataEngine == "" {
		dataEngine = v1beta2.DataEngineV1
	}
	if known, ok := m.values[dataEngine]; ok {
		return known
	}
	out := m.catalogue.Defaults()
	for name, text := range m.good {
		// Set let only values in that can be read.
		each, _ := Split(text)
		if one := each[dataEngine]; one != "" {
			_ = m.catalogue.Readers[name](&out, one)
		}
	}
	for name := range m.unknown {
		if safe := m.catalogue.Safe[name]; safe != "" {
			_ = m.catalogue.Readers[name](&out, safe)
		}
	}
	m.values[dataEngine] = out
	return out
}
