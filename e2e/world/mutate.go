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
type Edit struct {
	// File is the source file, or the directory of the package with Func, relative to the module root.
	File string
	// Func is the function ("Decide") or method ("Facts.healthy") to which the edit is limited; its file is found by its name. Without From,
	// To is inserted as the first statement of its body.
	Func     string
	From, To string
}

// Mutate creates an overlay of edited copies. A text that is not found exactly once is an error: the edit must be updated
// together with the code that it changes.
func Mutate(edits ...Edit) (Overlay, error) {
	root, err := cluster.SourceRoot()
	if err != nil {
		return nil, err
	}
	out := Overlay{}
	for _, e := range edits {
		if e.Func != "" {
			if err := editFunction(root, e, out); err != nil {
				return nil, err
			}
			continue
		}
		content, err := out.source(root, e.File)
		if err != nil {
			return nil, err
		}
		if out[e.File], err = replaceOnce(content, e.File, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// source returns a file as it was edited so far.
func (o Overlay) source(root, file string) ([]byte, error) {
	if content := o[file]; content != nil {
		return content, nil
	}
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, fmt.Errorf("editing a copy of the source: %w", err)
	}
	return content, nil
}

func replaceOnce(content []byte, where string, e Edit) ([]byte, error) {
	if n := bytes.Count(content, []byte(e.From)); n != 1 {
		return nil, fmt.Errorf("%s has the text %q %d times, not once: update the edit", where, e.From, n)
	}
	return bytes.Replace(content, []byte(e.From), []byte(e.To), 1), nil
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
	// A property that fails without the rule must not leave its draw as a case of the rule's own tests.
	command.Env = append(os.Environ(), "RAPID_NOFAILFILE=1")
	output, err := command.CombinedOutput()
	if err == nil {
		return string(output), false, nil
	}
	if ctx.Err() != nil || bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")) {
		return "", false, fmt.Errorf("testing an edited copy: %w\n%s", err, output)
	}
	return string(output), true, nil
}
