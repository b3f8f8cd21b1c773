package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	typesDir = "shared/api/v1beta2"
	pagesDir = "docs/crds"
)

// A changed type without `make generate` fails here.
func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Chdir(root)
	out := t.TempDir()
	run(t, controllerGen(t), "object", "crd", "paths=./"+typesDir, "output:object:dir="+out, "output:crd:dir="+out)
	requireSame(t, out, typesDir, "zz_generated.*.go")
	requireSame(t, out, "crds", "longhorn.io_*.yaml")

	pages := t.TempDir()
	run(t, "./crds/docgen", "-definitions", "crds", "-source", typesDir, "-out", pages)
	requireSame(t, pages, pagesDir, "*.md")

	plugin := t.TempDir()
	run(t, "./kubectl-drover/docgen", "-out", filepath.Join(plugin, "kubectl-drover.md"),
		"-waits", filepath.Join(plugin, "waits.md"))
	requireSame(t, plugin, "docs", "kubectl-drover*.md")
	requireSame(t, plugin, "docs", "waits.md")

	settings := t.TempDir()
	run(t, "./shared/setting/docgen", "-out", filepath.Join(settings, "settings.md"))
	requireSame(t, settings, "docs", "settings.md")
}

// controllerGen is the generator in the version that `go generate` uses.
func controllerGen(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(typesDir, "generate.go"))
	require.NoError(t, err)
	tool := regexp.MustCompile(`sigs\.k8s\.io/controller-tools/cmd/controller-gen@\S+`).Find(raw)
	require.NotEmpty(t, tool)
	return string(tool)
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", append([]string{"run", program}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// requireSame: both directories hold the same files of that pattern.
func requireSame(t *testing.T, fresh, committed, pattern string) {
	t.Helper()
	names := map[string]bool{}
	for _, dir := range []string{fresh, committed} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files, dir)
		for _, file := range files {
			names[filepath.Base(file)] = true
		}
	}
	for name := range names {
		want, err := os.ReadFile(filepath.Join(fresh, name))
		require.NoError(t, err, "%s is not generated any more: delete it", name)
		got, err := os.ReadFile(filepath.Join(committed, name))
		require.NoError(t, err, "run make generate")
		require.Equal(t, string(want), string(got), "%s is stale: run make generate", name)
	}
}
