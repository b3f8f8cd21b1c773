// Package bundle makes the files of a report for support: objects, without values that look like credentials, in a zip. It imports no
// client.
package bundle

import (
	"regexp"
	"strings"
)

// Redacted is what stands in the place of a value that looks like a credential.
const Redacted = "(left out by kubectl drover report)"

var (
	// secretKey is the name of a field, label, annotation or variable whose value is a credential.
	secretKey = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|authorization|cryptokeyvalue)`)
	// reference is the name of one that only names an object.
	reference = regexp.MustCompile(`(?i)(secret|credential)s?[-_]?(name|namespace|ref|refs|version)$|^credentialSecret$|^imagePullSecrets$|^automount`)
	// secretText is a credential within a text: a PEM block, a JWT, an AWS key id, a URL with a password, a header.
	secretText = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)` +
		`|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|\b(AKIA|ASIA)[A-Z0-9]{16}\b|(?i:bearer|basic) [A-Za-z0-9+/=._-]{12,}`)
	inURL = regexp.MustCompile(`([a-z][a-z0-9+.-]*://)[^/@\s"]+:[^/@\s"]+@`)
	// assigned is a credential in a line of a log: password=…, "token": "…".
	assigned = regexp.MustCompile(`(?i)((?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key)"?\s*[=:]\s*"?)([^\s",}]+)`)
)

// lastApplied repeats the whole object, in a form whose fields are not known here.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Object returns an object, or a part of one, without what looks like credentials.
func Object(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		named, _ := v["name"].(string)
		for key, field := range v {
			_, text := field.(string)
			switch {
			case key == lastApplied, key == "managedFields":
				continue
			case text && field != "" && (isSecret(key) || key == "value" && isSecret(named)):
				out[key] = Redacted
			default:
				out[key] = Object(field)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Object(v[i])
		}
		return out
	case string:
		return Text(v)
	}
	return value
}

func isSecret(key string) bool { return secretKey.MatchString(key) && !reference.MatchString(key) }

// Text returns a text without what looks like credentials.
func Text(text string) string {
	text = secretText.ReplaceAllString(text, Redacted)
	text = inURL.ReplaceAllString(text, "${1}"+Redacted+"@")
	return assigned.ReplaceAllStringFunc(text, func(found string) string {
		parts := assigned.FindStringSubmatch(found)
		if strings.HasPrefix(parts[2], "(") {
			return found
		}
		return parts[1] + Redacted
	})
}
