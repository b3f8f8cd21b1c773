// Package bundle makes the files of a report for support: objects, without values that look like credentials, in a zip. It imports no
// client.
package bundle

import (
	"regexp"
	"slices"
	"strings"
)

// Redacted is what stands in the place of a value that looks like a credential.
const Redacted = "(left out by kubectl drover report)"

// secretWords are what the name of a credential has in it: of a field, label, annotation, variable, flag, or of an assignment in a log.
const secretWords = `(?:password|passwd|passphrase|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|` +
	`authorization|crypto[-_]?key[-_]?value)`

var (
	secretKey = regexp.MustCompile(`(?i)` + secretWords)
	// reference is the name of a field that only names an object.
	reference = regexp.MustCompile(`(?i)(secret|credential)s?[-_]?(name|namespace|ref|refs|version)$|^credentialSecret$|^imagePullSecrets$|^secret[-_]?key[-_]?ref$|^automount`)
	// secretText is a credential within a text: a PEM block, a JWT, an AWS key id, a header.
	secretText = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)` +
		`|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|\b(AKIA|ASIA)[A-Z0-9]{16}\b|(?i:bearer|basic) [A-Za-z0-9+/=._-]{12,}`)
	// inURL are the user and the password of a URL, up to the last @ of the word.
	inURL = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^:@/\s"'\\]*:[^\s"']*@`)
	// assigned is a credential in a line of a log: password=…, "token": "…", \"secretKey\":\"…\", --token …. A value in quotes ends with them.
	assigned = regexp.MustCompile(`(?i)((?:[\w.-]*` + secretWords + `[\w-]*(?:\\*["'])?\s*[=:]\s*|--[\w-]*` + secretWords + `[\w-]*\s+))` +
		`(\\*"(?:[^"\\]|\\+[^"\\])*\\*"|'[^']*'|[^\s",}]+)`)
	// flagName is an argument whose value is the next one.
	flagName = regexp.MustCompile(`(?i)^--?[\w-]*` + secretWords + `[\w-]*$`)
)

// lastApplied repeats the whole object, in a form whose fields are not known here.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// dropped are the keys of an object that a report leaves out.
var dropped = []string{lastApplied, "managedFields"}

// Object returns an object, or a part of one, without what looks like credentials.
func Object(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		named, _ := v["name"].(string)
		for key, field := range v {
			switch {
			case slices.Contains(dropped, key):
			case isSecret(key), key == "value" && isSecret(named):
				out[key] = hidden(field)
			default:
				out[key] = Object(field)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Object(v[i])
			if i > 0 && isFlag(v[i-1]) {
				out[i] = hidden(v[i])
			}
		}
		return out
	case string:
		return Text(v)
	}
	return value
}

// hidden returns what stands for a credential of any shape: its texts and numbers are left out. What is empty stays, as does what is true
// or false.
func hidden(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, field := range v {
			out[key] = hidden(field)
			if reference.MatchString(key) {
				out[key] = Object(field)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = hidden(v[i])
		}
		return out
	case nil, bool:
		return value
	case string:
		if v == "" {
			return v
		}
	}
	return Redacted
}

func isSecret(key string) bool { return secretKey.MatchString(key) && !reference.MatchString(key) }

// isFlag reports whether an argument is a flag whose value, a credential, is the next argument.
func isFlag(argument any) bool {
	text, ok := argument.(string)
	return ok && flagName.MatchString(text) && !reference.MatchString(text)
}

// Text returns a text without what looks like credentials.
func Text(text string) string {
	text = secretText.ReplaceAllString(text, Redacted)
	text = inURL.ReplaceAllString(text, "${1}"+Redacted+"@")
	return assigned.ReplaceAllStringFunc(text, func(found string) string {
		parts := assigned.FindStringSubmatch(found)
		name, value := parts[1], parts[2]
		if value == "(left" || reference.MatchString(strings.TrimRight(name, " \t=:\"'\\")) {
			return found
		}
		open, end := quotes(value)
		return name + open + Redacted + end
	})
}

// quotes returns the quotes around a value; empty where it has none.
func quotes(value string) (open, end string) {
	for _, quote := range []string{`"`, `'`} {
		if at := strings.Index(value, quote); at >= 0 && strings.Trim(value[:at], `\`) == "" {
			return value[:at+1], value[len(value)-at-1:]
		}
	}
	return "", ""
}
