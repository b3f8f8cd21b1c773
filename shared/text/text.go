// Package text has what is done to texts for people.
package text

import "strings"

// Sentence returns a text that ends with a full stop.
func Sentence(text string) string { return strings.TrimSuffix(strings.TrimSpace(text), ".") + "." }

// Truncate cuts a text to a number of bytes, four or more, and marks the cut.
func Truncate(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes-3], "") + "..."
}
