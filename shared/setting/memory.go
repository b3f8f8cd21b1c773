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
}

// Remember returns a Memory that holds the defaults.
func Remember[V any](catalogue Catalogue[V]) *Memory[V] {
	return &Memory[V]{catalogue: catalogue, good: map[string]string{}}
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
	if err := m.catalogue.Check(name, text); err != nil {
		return false, fmt.Errorf("setting %s: %w", name, err)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	changed = m.good[name] != text
	m.good[name] = text
	return changed, nil
}

// Values returns those in force for volumes of a data engine; empty means v1.
func (m *Memory[V]) Values(dataEngine string) V {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if dataEngine == "" {
		dataEngine = v1beta2.DataEngineV1
	}
	out := m.catalogue.Defaults()
	for name, text := range m.good {
		// Set let only values in that can be read.
		each, _ := split(text)
		if one := each[dataEngine]; one != "" {
			_ = m.catalogue.Readers[name](&out, one)
		}
	}
	return out
}
