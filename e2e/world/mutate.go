package world

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"drover.dev/drover/shared/testkit/cluster"
)

// Edit replaces a text of a source file, which must be there exactly once.
type Edit struct{ File, From, To string }

// Mutate makes an overlay of edited copies. A text that is not found exactly once is an error: the edit must be renewed
// together with the code that it changes.
func Mutate(edits ...Edit) (Overlay, error) {
	root, err := cluster.SourceRoot()
	if err != nil {
		return nil, err
	}
	out := Overlay{}
	for _, e := range edits {
		content := out[e.File]
		if content == nil {
			if content, err = os.ReadFile(filepath.Join(root, e.File)); err != nil {
				return nil, fmt.Errorf("editing a copy of the source: %w", err)
			}
		}
		if n := bytes.Count(content, []byte(e.From)); n != 1 {
			return nil, fmt.Errorf("%s has the text %q %d times, not once: renew the edit", e.File, e.From, n)
		}
		out[e.File] = bytes.Replace(content, []byte(e.From), []byte(e.To), 1)
	}
	return out, nil
}
