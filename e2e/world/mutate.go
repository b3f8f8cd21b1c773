package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"drover.dev/drover/shared/testkit/cluster"
)

// Edit replaces a text of a source file, which must be there exactly once.
type Edit struct{ File, From, To string }

// Mutate creates an overlay of edited copies. A text that is not found exactly once is an error: the edit must be updated
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
			return nil, fmt.Errorf("%s has the text %q %d times, not once: update the edit", e.File, e.From, n)
		}
		out[e.File] = bytes.Replace(content, []byte(e.From), []byte(e.To), 1)
	}
	return out, nil
}

// Test runs the tests of a package with an edited copy, uncached, and reports whether one failed. A compile error is an error. The
// arguments are the package and the flags of its tests.
func Test(ctx context.Context, overlay Overlay, arguments ...string) (out string, failed bool, err error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", false, err
	}
	dir, err := os.MkdirTemp("", "drover-edited-")
	if err != nil {
		return "", false, fmt.Errorf("creating the directory of an edited copy: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	flag, err := writeOverlay(dir, root, overlay)
	if err != nil {
		return "", false, err
	}
	command := exec.CommandContext(ctx, "go", append([]string{"test", flag, "-count=1", "-failfast", "-timeout=15m"}, arguments...)...)
	command.Dir = root
	output, err := command.CombinedOutput()
	if err == nil {
		return string(output), false, nil
	}
	if ctx.Err() != nil || bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")) {
		return "", false, fmt.Errorf("testing an edited copy: %w\n%s", err, output)
	}
	return string(output), true, nil
}
