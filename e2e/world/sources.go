package world

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sources reads the metadata of every file from which the binaries, the definitions and the roles come. go test caches a package's result
// with the files that its tests opened, and does not know the sources of those binaries; so a test that uses the binaries calls Sources.
// Bazel does not need it: the binaries are inputs of the test.
func Sources(ctx context.Context) error {
	if os.Getenv(bazelTest) != "" {
		return nil
	}
	root, err := ModuleRoot(ctx)
	if err != nil {
		return err
	}
	for _, dir := range append([]string{"crds", "shared", "go.mod", "go.sum", APIGateway}, EveryController()...) {
		if err := filepath.WalkDir(filepath.Join(root, dir), readMetadata); err != nil {
			return fmt.Errorf("reading the sources in %s: %w", dir, err)
		}
	}
	return nil
}

func readMetadata(path string, entry fs.DirEntry, err error) error {
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
