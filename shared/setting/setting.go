// Package setting reads the values of Settings: it parses them and remembers the last good one of this process. It knows no
// client, and nothing of what the values are used for; each controller's own Catalogue lists the settings.
//
// A value that cannot be read never stops anything that runs: the last good value stays in force, or, after a restart, the
// default, and of a setting whose default lets data go the value that keeps it.
package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"

	"drover.dev/drover/shared/api/v1beta2"
)

// Reader puts the value of one setting into V; an error explains why it cannot be read, and leaves V as it is.
type Reader[V any] func(into *V, text string) error

// Catalogue is the settings that a controller obeys. V is their values for volumes of one data engine.
type Catalogue[V any] struct {
	// Defaults are in force where a setting does not exist or is empty.
	Defaults func() V
	// Readers are by the setting's name.
	Readers map[string]Reader[V]
	// Safe are the values that count for settings, by name, whose value cannot be read and that had no good one in this process: of those
	// whose default lets data go that a person may have wanted to keep.
	Safe map[string]string
}

// Known reports whether the controller obeys a setting of this name.
func (c Catalogue[V]) Known(name string) bool { return c.Readers[name] != nil }

// Names are the settings that the controller obeys, in order.
func (c Catalogue[V]) Names() []string { return slices.Sorted(maps.Keys(c.Readers)) }

// Check returns why a setting's value cannot be read, or nil. Settings of others are always fine.
func (c Catalogue[V]) Check(name, value string) error {
	if !c.Known(name) || strings.TrimSpace(value) == "" {
		return nil
	}
	each, err := Split(strings.TrimSpace(value))
	if err != nil {
		return err
	}
	for _, text := range each {
		var scratch V
		if text == "" {
			continue
		}
		if err := c.Readers[name](&scratch, text); err != nil {
			return err
		}
	}
	return nil
}

// Split reads a value for each data engine: the same for both, or of the form {"v1":"3","v2":"2"}, where what is not
// named has its default.
func Split(value string) (map[string]string, error) {
	if !strings.HasPrefix(value, "{") {
		return map[string]string{v1beta2.DataEngineV1: value, v1beta2.DataEngineV2: value}, nil
	}
	var each map[string]string
	if err := json.Unmarshal([]byte(value), &each); err != nil {
		return nil, fmt.Errorf(`%q is not of the form {"v1":"…","v2":"…"}`, value)
	}
	for engine := range each {
		if engine != v1beta2.DataEngineV1 && engine != v1beta2.DataEngineV2 {
			return nil, fmt.Errorf("unknown data engine %q: there are v1 and v2", engine)
		}
	}
	return each, nil
}

// Boolean reads true or false into a field.
func Boolean[V any](field func(*V) *bool) Reader[V] {
	return func(v *V, text string) error {
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*field(v) = text == "true"
		return nil
	}
}

// Number reads a whole number from least to most.
func Number[V any](least, most int, set func(*V, int)) Reader[V] {
	return func(v *V, text string) error {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < least || n > most {
			return fmt.Errorf("%q is not a whole number from %d to %d", text, least, most)
		}
		set(v, n)
		return nil
	}
}

// Text puts what a parser makes of the text into a field.
func Text[V, T any](set func(*V, T), parse func(text string) (T, error)) Reader[V] {
	return func(v *V, text string) error {
		parsed, err := parse(text)
		if err == nil {
			set(v, parsed)
		}
		return err
	}
}

// ParseImage reads the reference of an image.
func ParseImage(text string) (string, error) {
	if strings.ContainsAny(text, " \t\n;,\"'") || len(text) > 1024 {
		return "", errors.New("the value is not an image: give one name:tag or name@digest without blanks")
	}
	return text, nil
}

// ParseName reads the name of an object of that kind.
func ParseName(kind string) func(string) (string, error) {
	return func(text string) (string, error) {
		if len(validation.NameIsDNSSubdomain(text, false)) > 0 {
			return "", fmt.Errorf("%q is not the name of %s", text, kind)
		}
		return text, nil
	}
}
