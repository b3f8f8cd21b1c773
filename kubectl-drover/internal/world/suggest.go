package world

import (
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Values are those of the placeholders of a suggested command, by name: {"volume": "vol-1"} for {volume}.
type Values map[string]string

var (
	// placeholder is {volume}, or '{ticket}' for a value that is no name of an object.
	placeholder = regexp.MustCompile(`'?\{\w+\}'?`)
	// bare are the texts that a shell takes as they are.
	bare = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)
)

// Suggest returns a command to type next, for the cluster and the access of this one: Connection is added to it, and {ns} is the namespace.
// A placeholder takes the name of an object, one in single quotes any text. A command that lacks a value, or would have one that is no
// name, is empty: a person types what is suggested, and without its name it would be about other objects.
func (w *World) Suggest(command string, values Values) string {
	complete := true
	command = placeholder.ReplaceAllStringFunc(command, func(found string) string {
		name := strings.Trim(found, "'{}")
		value := values[name]
		if name == "ns" {
			value = w.Namespace
		}
		if strings.HasPrefix(found, "'") {
			complete = complete && value != "" && !strings.ContainsFunc(value, unicode.IsControl)
			return quoted(value)
		}
		complete = complete && len(validation.IsDNS1123Subdomain(value)) == 0
		return value
	})
	if !complete {
		return ""
	}
	for _, word := range w.Connection {
		command += " " + quoted(word)
	}
	return command
}

// quoted returns a text as one word of a shell.
func quoted(text string) string {
	if bare.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
