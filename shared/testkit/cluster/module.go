package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const module = "module drover.dev/drover\n"

// ModuleRoot returns the directory of Drover's go.mod, searched for from the working directory upwards: `go test` runs
// each test in its package's directory.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(data, []byte(module)) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the working directory is not inside Drover's repository")
		}
		dir = parent
	}
}

// SourceRoot is the directory of the project's sources. In a Bazel test ModuleRoot has only the declared inputs; this is
// the tree that they are links into, for tests about the tree itself, whose targets are tagged external and local.
func SourceRoot() (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	file, err := filepath.EvalSymlinks(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("following the module's root to the sources: %w", err)
	}
	return filepath.Dir(file), nil
}

func sourceDir() (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "e2e", "devcluster"), nil
}
