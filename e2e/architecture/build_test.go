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

// leftOut begins the comment that explains why Bazel doesn't run a test that go test runs, or skips one of its files.
const leftOut = "# Not under Bazel: "

// target is one rule of a BUILD file, as far as gazelle's shape goes.
type target struct{ pkg, kind, name, text string }

var (
	ruleOfBuildFile = regexp.MustCompile(`(?ms)^([a-z_]+)\(\n(.*?)^\)$`)
	quoted          = regexp.MustCompile(`"([^"]*)"`)
)

// targets reads every BUILD file.
func targets(t *testing.T) []target {
	t.Helper()
	var all []target
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || path == filepath.Join(root, "tools")) && path != root {
			return filepath.SkipDir
		}
		if err != nil || entry.Name() != "BUILD.bazel" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		for _, match := range ruleOfBuildFile.FindAllStringSubmatch(string(text), -1) {
			rule := target{pkg: filepath.ToSlash(pkg), kind: match[1], text: match[2]}
			rule.name = strings.Join(rule.list("name"), "")
			all = append(all, rule)
		}
		return err
	}))
	require.NotEmpty(t, all)
	return all
}

// list returns the strings of an attribute, which is a string, a list, or a glob and lists.
func (r target) list(attribute string) []string {
	_, value, found := strings.Cut("\n"+r.text, "\n    "+attribute+" = ")
	if !found {
		return nil
	}
	if end := regexp.MustCompile(`(?m),\n(    \S|\z)`).FindStringIndex(value); end != nil {
		value = value[:end[0]]
	}
	var out []string
	for _, match := range quoted.FindAllStringSubmatch(value, -1) {
		out = append(out, match[1])
	}
	return out
}

func (r target) label() string { return "//" + r.pkg + ":" + r.name }

// What only one of the two builds runs is a test that its users don't have.
func TestBazelRunsEveryTestThatGoRuns(t *testing.T) {
	underBazel, reasons := map[string][]string{}, map[string]bool{}
	for _, rule := range targets(t) {
		if rule.kind != "go_test" {
			continue
		}
		if slices.Contains(rule.list("tags"), "manual") {
			require.Contains(t, rule.text, leftOut, "%s is manual: explain why in a comment inside it", rule.label())
		}
		underBazel[rule.pkg] = append(underBazel[rule.pkg], rule.list("srcs")...)
		reasons[rule.pkg] = reasons[rule.pkg] || strings.Contains(rule.text, leftOut)
	}
	seen := map[string]bool{}
	list := goList(t, "-f", `{{.ImportPath}}{{range .TestGoFiles}} {{.}}{{end}}{{range .XTestGoFiles}} {{.}}{{end}}`, module+"...")
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		pkg, files := strings.TrimPrefix(fields[0], module), fields[1:]
		if len(files) == 0 {
			continue
		}
		seen[pkg] = true
		if !reasons[pkg] {
			require.ElementsMatch(t, files, underBazel[pkg],
				"test files of %s: go test (expected) and its BUILD file (actual); run make generate", pkg)
		}
	}
	for pkg := range underBazel {
		require.True(t, seen[pkg], "//%s has a test that go test doesn't run", pkg)
	}
}

// Bazel's default of five minutes is too little for a control plane on two busy cores, and too much for the rest.
func TestEveryTestThatStartsAControlPlaneDeclaresItsSize(t *testing.T) {
	starts := map[string]bool{"shared/testkit": true, "shared/testkit/cluster": true, "e2e/world": true}
	for _, rule := range targets(t) {
		if rule.kind != "go_test" || len(rule.list("size")) > 0 {
			continue
		}
		for _, label := range append(rule.list("deps"), rule.list("embed")...) {
			pkg, _, _ := strings.Cut(strings.TrimPrefix(label, "//"), ":")
			itself := pkg == "" && rule.pkg != "e2e/world" // whose own tests start none
			require.False(t, starts[pkg] || itself && starts[rule.pkg],
				`%s depends on %s: add size = "large" (15 minutes at most) or "enormous" (an hour)`, rule.label(), label)
		}
	}
}

// Visibility keeps a change of one controller out of the others: Bazel refuses an import that isn't listed.
func TestVisibilityIsAsNarrowAsTheDesignSays(t *testing.T) {
	public := []string{"//crds:manifests"}
	for _, binary := range append([]string{"im-monitor/simulator", plugin}, binaries...) {
		public = append(public, "//"+binary+":"+filepath.Base(binary))
	}
	var open []string
	for _, rule := range targets(t) {
		visibility := rule.list("visibility")
		if slices.Contains(visibility, "//visibility:public") {
			open = append(open, rule.label())
			continue
		}
		owner, _, _ := strings.Cut(rule.pkg, "/")
		for _, to := range visibility {
			require.True(t, mayOpenTo(rule, owner, to), "%s is visible to %s", rule.label(), to)
		}
	}
	for _, label := range open { // gazelle opens a new package to everybody
		require.Contains(t, public, label, `%s is visible to everybody: write "//:__subpackages__" below shared, "//e2e:__subpackages__" below e2e`, label)
	}
	require.Len(t, open, len(public), "only %v are visible to everybody, but of %v", open, public)
}

func mayOpenTo(rule target, owner, to string) bool {
	switch {
	case to == "//visibility:private", strings.HasPrefix(to, "//"+owner+":"), strings.HasPrefix(to, "//"+owner+"/"):
		return true
	case rule.kind == "filegroup", rule.kind == "exports_files": // data: roles, definitions, alerts, the module's root
		return true
	case to == "//im-monitor/simulator:__subpackages__": // the recording proxy, which real nodes have in front of their servers
		return rule.pkg == "e2e/record"
	case to == "//snapshot-controller/internal:__subpackages__": // the simulator's engine, which answers in tests about backup targets
		return rule.pkg == "im-monitor/simulator/enginecli"
	case to == "//:__subpackages__":
		return owner == "shared" || owner == "crds"
	default:
		return to == "//e2e/model:__pkg__" && rule.pkg == owner+"/model"
	}
}
