package model

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
)

// merge applies a merge patch of these fields to an object that has no other reader yet. Maps of the object are replaced, never changed:
// its earlier versions share them.
func merge(into any, fields map[string]any) {
	target := reflect.ValueOf(into).Elem()
	for name, value := range fields {
		field := target.Field(index(target.Type(), name))
		if nested, ok := value.(map[string]any); ok && field.Kind() == reflect.Struct {
			merge(field.Addr().Interface(), nested)
			continue
		}
		field.Set(converted(field, value))
	}
}

// index finds a field by its JSON name.
func index(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
			return i
		}
	}
	panic(fmt.Sprintf("%s has no field %q", t, name))
}

// converted converts a value of a patch to the type of its field.
func converted(field reflect.Value, value any) reflect.Value {
	if patch, ok := value.(map[string]any); ok {
		return reflect.ValueOf(patched(field.Interface().(map[string]string), patch))
	}
	if text, ok := value.(string); ok && field.Kind() == reflect.Int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("%q is no number: %v", text, err))
		}
		return reflect.ValueOf(n)
	}
	return reflect.ValueOf(value).Convert(field.Type())
}

func patched(before map[string]string, patch map[string]any) map[string]string {
	out := maps.Clone(before)
	if out == nil {
		out = map[string]string{}
	}
	for key, value := range patch {
		if value == nil {
			delete(out, key)
			continue
		}
		out[key] = value.(string)
	}
	return out
}
