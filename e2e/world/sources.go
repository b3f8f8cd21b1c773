package world

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sources looks at every file that the binaries, the definitions and the roles come from. go test remembers a package's verdict together
// with the files that its tests looked at, and cannot know what those binaries were built from; so a test that uses them says it here.
// Bazel knows: they are inputs of the test.
func Sources(ctx context.Context) error {
	if os.Getenv(bazelTest) != "" {
		return nil
	}
	root, err := ModuleRoot(ctx)
	if err != nil {
		return err
	}
	for _, dir := range append([]string{"crds", "shared", "go.mod", "go.sum"}, EveryController()...) {
		if err := filepath.WalkDir(filepath.Join(root, dir), poll); err != nil {
			return fmt.Errorf("looking at the sources in %s: %w", dir, err)
		}
	}
	return nil
}

func poll(path string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case entry.IsDir() && entry.Name() == "testdata":
		return fs.SkipDir
	case entry.IsDir(), strings.HasSuffix(path, "_test.go"):
		return nil
	}
	_, err = os.Stat(path)
	return err
}
