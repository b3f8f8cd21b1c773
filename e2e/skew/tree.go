package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"drover.dev/drover/e2e/world"
)

// checkOut writes the tree of an earlier commit into its own directory.
func checkOut(ctx context.Context, base string) (string, error) {
	root, err := world.ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	if base == "" {
		content, err := os.ReadFile(filepath.Join(root, "e2e", "skew", "BASE"))
		if err != nil {
			return "", fmt.Errorf("reading which commit is the earlier one: %w", err)
		}
		base = strings.TrimSpace(string(content))
	}
	dir, err := os.MkdirTemp("", "drover-skew-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the earlier tree: %w", err)
	}
	archive := filepath.Join(dir, "tree.tar")
	for _, command := range [][]string{
		{"git", "-C", root, "archive", "--format=tar", "-o", archive, base},
		{"tar", "-C", dir, "-xf", archive},
	} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return "", errors.Join(fmt.Errorf("laying out the tree of %s (a shallow clone lacks it: git fetch --unshallow): %w\n%s", base,
				err, out), os.RemoveAll(dir))
		}
	}
	return dir, nil
}
