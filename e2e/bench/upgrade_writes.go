package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"drover.dev/drover/e2e/record"
)

// history is the list of writes to the objects of one volume since the last reset, in order: writer, request and fields.
func (b *upgradeBench) history(volume string) (lines []string) {
	names := map[string]bool{volume: true}
	for _, w := range b.world.API.Writes() {
		var body map[string]any
		if json.Unmarshal(w.Body, &body) != nil {
			body = nil
		}
		if w.Request.Verb == "create" && textAt(body, "spec", "volume") == volume {
			names[textAt(body, "metadata", "name")] = true
		}
		object := w.Request.Object
		if w.Request.Verb == "create" {
			object = textAt(body, "metadata", "name")
		}
		if !names[object] && !strings.HasPrefix(object, volume+"-") {
			continue
		}
		lines = append(lines, fmt.Sprintf("%-20s %-44s %s", w.Request.User, what(w, strings.ReplaceAll(object, volume, "V")),
			fields(w, body)))
	}
	return lines
}

func what(w record.Write, object string) string {
	resource := w.Request.Resource
	if w.Request.Subresource != "" {
		resource += "/" + w.Request.Subresource
	}
	if w.Code >= http.StatusBadRequest {
		resource += fmt.Sprintf(" (%d)", w.Code)
	}
	return fmt.Sprintf("%s %s %s", w.Request.Verb, resource, object)
}

func textAt(body map[string]any, part, field string) string {
	inner, _ := body[part].(map[string]any)
	name, _ := inner[field].(string)
	return name
}

// fields are those that a patch writes, with their values where these are short.
func fields(w record.Write, body map[string]any) string {
	if w.Request.Verb != "patch" {
		return ""
	}
	var out []string
	for _, part := range []string{"metadata", "spec", "status"} {
		inner, _ := body[part].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			if part == "metadata" && (key == "resourceVersion" || key == "name" || key == "namespace" || key == "uid") {
				continue
			}
			value, err := json.Marshal(inner[key])
			if text := string(value); err == nil {
				out = append(out, key+"="+text[:min(len(text), 160)])
			}
		}
	}
	return strings.Join(out, " ")
}
