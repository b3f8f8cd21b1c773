// Package enumflag provides flags that accept one of a few words.
package enumflag

import (
	"fmt"
	"slices"
	"strings"
)

// Words sets into to one of the words, or to nothing; another word is an error that names them. It is for flag.Func.
func Words(into *string, words ...string) func(string) error {
	return func(word string) error {
		if word != "" && !slices.Contains(words, word) {
			return fmt.Errorf("it is one of %s", strings.Join(words, ", "))
		}
		*into = word
		return nil
	}
}
