// Package settings has the settings that the API lists, with their defaults and the values that they accept. It is pure.
package settings

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/setting/documented"
)

// Definition describes a setting, as clients see it.
type Definition struct {
	DisplayName        string  `json:"displayName"`
	Description        string  `json:"description"`
	Category           string  `json:"category"`
	Type               string  `json:"type"`
	Required           bool    `json:"required"`
	ReadOnly           bool    `json:"readOnly"`
	DataEngineSpecific bool    `json:"dataEngineSpecific"`
	Default            string  `json:"default"`
	Options            []any   `json:"options,omitempty"`
	Range              *Limits `json:"range,omitempty"`
	FloatRange         *Limits `json:"floatRange,omitempty"`
	name               string  // of the Setting object
}

// Limits are the smallest and the largest number that a setting accepts; nil: there is none.
type Limits struct {
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
}

// Name returns the name of the Setting object.
func (d Definition) Name() string { return d.name }

//go:embed definitions.yaml
var table []byte

// load reads the table once. It is part of the program, so that an unreadable table is a fault of the program.
var load = sync.OnceValue(func() []Definition {
	var rows []struct {
		Name string `json:"name"`
		Definition
	}
	if err := yaml.UnmarshalStrict(table, &rows); err != nil {
		panic(fmt.Sprintf("the table of settings is unreadable: %v", err))
	}
	obeyed := documented.Settings()
	out := make([]Definition, 0, len(rows))
	for _, row := range rows {
		d := row.Definition
		d.name, d.DisplayName, d.Description = row.Name, title(row.Name), describe(row.Name, obeyed[row.Name].Meaning)
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Definition) int { return strings.Compare(a.name, b.name) })
	return out
})

// All returns the definitions of all settings, by name. The slice is shared: nobody changes it.
func All() []Definition { return load() }

// Find returns the definition of a setting.
func Find(name string) (Definition, bool) {
	all := load()
	i, found := slices.BinarySearchFunc(all, name, func(d Definition, name string) int { return strings.Compare(d.name, name) })
	if !found {
		return Definition{}, false
	}
	return all[i], true
}

// linkToPage matches a link to a page of the documentation, which a client has not: in the web interface it would lead nowhere.
var linkToPage = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)

// describe returns the effect of a setting here.
func describe(name, meaning string) string {
	if meaning != "" {
		return strings.ToUpper(meaning[:1]) + linkToPage.ReplaceAllString(meaning[1:], "$1") + "."
	}
	if len(setting.Obeying(name)) > 0 {
		return "Obeyed by " + strings.Join(setting.Obeying(name), ", ") + "."
	}
	return "No controller of Drover obeys this setting. Its value is kept."
}

// title returns a name with capital letters and blanks; interfaces use it as a key.
func title(name string) string {
	words := strings.Split(name, "-")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// Normalize returns a value as it is stored: without blanks around it, and with a text for each data engine if the setting distinguishes
// them.
func (d Definition) Normalize(value string) (string, error) {
	value = strings.TrimSpace(value)
	if !d.DataEngineSpecific {
		return value, d.check(value)
	}
	engines, order, err := d.perEngine(value)
	if err != nil {
		return "", err
	}
	for _, engine := range order {
		if err := d.check(engines[engine]); err != nil {
			return "", fmt.Errorf("data engine %s: %w", engine, err)
		}
	}
	return compact(order, engines), nil
}

// perEngine returns the value for each data engine that the default names, in order. A plain value is meant for each of them.
func (d Definition) perEngine(value string) (map[string]string, []string, error) {
	engines, err := textsOf(d.Default)
	if err != nil {
		return nil, nil, fmt.Errorf("the default of %s is unreadable: %w", d.name, err)
	}
	var order []string
	for _, engine := range []string{"v1", "v2"} {
		if _, ok := engines[engine]; ok {
			order = append(order, engine)
		}
	}
	if !strings.HasPrefix(value, "{") {
		for engine := range engines {
			engines[engine] = value
		}
		return engines, order, nil
	}
	given, err := textsOf(value)
	if err != nil {
		return nil, nil, fmt.Errorf("a value for each data engine is a JSON object such as %s: %w", d.Default, err)
	}
	for engine := range engines {
		if text, ok := given[engine]; ok {
			engines[engine] = strings.TrimSpace(text)
		}
	}
	return engines, order, nil
}

// textsOf reads a JSON object; numbers and booleans count as their text.
func textsOf(value string) (map[string]string, error) {
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.UseNumber()
	var given map[string]any
	if err := decoder.Decode(&given); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(given))
	for key, v := range given {
		out[key] = fmt.Sprint(v)
	}
	return out, nil
}

// compact writes a value for each data engine as clients compare it: without blanks, and in order.
func compact(order []string, engines map[string]string) string {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, engine := range order {
		if i > 0 {
			out.WriteByte(',')
		}
		text, _ := json.Marshal(engines[engine]) // a text is always JSON
		fmt.Fprintf(&out, "%q:%s", engine, text)
	}
	out.WriteByte('}')
	return out.String()
}

// check returns why a value is refused.
func (d Definition) check(value string) error {
	if value == "" {
		if d.Required && d.Type != "string" {
			return fmt.Errorf("it must have a value, such as %q", d.Default)
		}
		return nil
	}
	if len(d.Options) > 0 && !slices.ContainsFunc(d.Options, func(o any) bool { return fmt.Sprint(o) == value }) {
		return fmt.Errorf("it must be one of %v", d.Options)
	}
	switch d.Type {
	case "bool":
		if value != "true" && value != "false" {
			return fmt.Errorf("it must be true or false")
		}
	case "int":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("it must be a whole number")
		}
		return d.Range.check(float64(n))
	case "float":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("it must be a number")
		}
		return d.FloatRange.check(n)
	}
	return nil
}

func (l *Limits) check(n float64) error {
	switch {
	case l == nil:
	case l.Minimum != nil && n < *l.Minimum:
		return fmt.Errorf("it must be at least %g", *l.Minimum)
	case l.Maximum != nil && n > *l.Maximum:
		return fmt.Errorf("it must be at most %g", *l.Maximum)
	}
	return nil
}

// ValueFor returns the value that applies to a data engine if stored is the stored value; the default if stored is empty or unreadable.
func (d Definition) ValueFor(stored, dataEngine string) string {
	value, err := d.Normalize(stored)
	if stored == "" || err != nil {
		value = d.Default
	}
	if !d.DataEngineSpecific {
		return value
	}
	engines, err := textsOf(value)
	if err != nil {
		return ""
	}
	return engines[dataEngine]
}
