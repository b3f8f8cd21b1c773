// Package enumflag provides flags that accept one of a few words.
package enumflag

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// Words is a flag that sets into to one of the words, or to nothing; another word is an error that names them. It is for flag.Var.
func Words(into *string, words ...string) flag.Value { return word{into, words} }

type word struct {
	into  *string
	words []string
}

// Set implements flag.Value.
func (w word) Set(text string) error {
	if text != "" && !slices.Contains(w.words, text) {
		return fmt.Errorf("it is one of %s", strings.Join(w.words, ", "))
	}
	*w.into = text
	return nil
}

// String implements flag.Value; the flag package calls it on an empty value, too.
func (w word) String() string {
	if w.into == nil {
		return ""
	}
	return *w.into
}
