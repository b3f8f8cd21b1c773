package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
)

// TestEveryEditedCopyCompiles finds the edit of a rule or a mutant that does not fit the code any more: its text or function is gone, or
// the function returns something now. Otherwise only `make rules` finds it, after many minutes.
func TestEveryEditedCopyCompiles(t *testing.T) {
	overlays := map[string]world.Overlay{}
	for _, m := range mutants() {
		overlays["mutant "+m.name] = applyEdits(t, m.name, m.edits)
	}
	for _, r := range allRules() {
		require.NotEmpty(t, r.edits, r.name)
		require.NotEmpty(t, r.tests, r.name)
		overlays["rule "+r.name] = applyEdits(t, r.name, r.edits)
	}
	c := newChecker(t, overlays)
	for _, name := range slices.Sorted(maps.Keys(overlays)) {
		for dir := range editedPackages(overlays[name]) {
			require.NoError(t, c.check(dir, overlays[name]), name)
		}
	}
}

func applyEdits(t *testing.T, name string, edits []world.Edit) world.Overlay {
	t.Helper()
	overlay, err := world.Mutate(edits...)
	require.NoError(t, err, name)
	return overlay
}

// editedPackages returns the directories of the Go files in an overlay, relative to the root of the module.
func editedPackages(overlay world.Overlay) map[string]bool {
	dirs := map[string]bool{}
	for file := range overlay {
		if filepath.Ext(file) == ".go" {
			dirs[filepath.Dir(file)] = true
		}
	}
	return dirs
}

// checker checks the types of a package with edited files. Imported packages are read as the Go command compiled them, without edits.
type checker struct {
	root     string
	packages map[string]listedPackage // by directory
	files    *token.FileSet
	imports  types.Importer
}

// listedPackage is an answer of `go list -json`.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

func newChecker(t *testing.T, overlays map[string]world.Overlay) *checker {
	t.Helper()
	root, err := world.ModuleRoot(t.Context())
	require.NoError(t, err)
	dirs := map[string]bool{}
	for _, o := range overlays {
		maps.Copy(dirs, editedPackages(o))
	}
	arguments := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		arguments = append(arguments, "./"+dir)
	}
	list := exec.CommandContext(t.Context(), "go", arguments...)
	list.Dir = root
	output, err := list.Output()
	require.NoError(t, err, "go list")

	c := &checker{root: root, packages: map[string]listedPackage{}, files: token.NewFileSet()}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		c.packages[p.Dir] = p
		exports[p.ImportPath] = p.Export
	}
	c.imports = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// check returns the first error that a compiler finds in a package with the edited files of an overlay.
func (c *checker) check(dir string, overlay world.Overlay) error {
	p := c.packages[filepath.Join(c.root, dir)]
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		var source any // nil: the parser reads the file
		if edited, ok := overlay[filepath.Join(dir, name)]; ok {
			source = edited
		}
		file, err := parser.ParseFile(c.files, path, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	_, err := (&types.Config{Importer: c.imports}).Check(p.ImportPath, c.files, files, nil)
	return err
}
