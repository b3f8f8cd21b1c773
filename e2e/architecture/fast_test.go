package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fastConstraint is the first line of the files that "make test" leaves out.
const fastConstraint = "//go:build !fast\n"

var testFileName = regexp.MustCompile("`([a-z0-9/_]+_test\\.go)`")

// The page reports which tests "make test" leaves out and what covers them, so it has to list exactly these files.
func TestThePageListsTheTestsThatAreNotFast(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/tests.md"))
	require.NoError(t, err)
	var listed []string
	for line := range strings.Lines(string(page)) {
		if file, isItem := strings.CutPrefix(strings.TrimSpace(line), "- `"); isItem {
			listed = append(listed, strings.TrimSuffix(file, "`"))
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, match := range testFileName.FindAllStringSubmatch(first, -1) {
			listed = append(listed, "e2e/"+match[1])
		}
	}
	listed = append(listed, "tools/charts/clients_install_test.go", "tools/charts/install_test.go",
		"tools/images/images_test.go", "tools/images/push_test.go")
	slices.Sort(listed)
	require.Equal(t, filesThatAreNotFast(t), listed,
		"files with %q (expected) and the table and list of docs/tests.md (actual)", fastConstraint)
}

// filesThatAreNotFast returns the paths of the test files that the build tag "fast" leaves out, sorted.
func filesThatAreNotFast(t *testing.T) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.HasPrefix(string(text), fastConstraint) {
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			files = append(files, filepath.ToSlash(name))
		}
		return err
	}))
	slices.Sort(files)
	return files
}
