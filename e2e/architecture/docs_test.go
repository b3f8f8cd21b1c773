package architecture

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/alerts"
)

var metricName = regexp.MustCompile(`drover_[a-z_]+`)

// source is all Go code of the binaries that is not a test.
func source(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range append([]string{"shared"}, binaries...) {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(text)
			return err
		}))
	}
	return all.String()
}

// An alert on a metric that no binary exports never fires. Metrics of libraries are read from running binaries, in e2e/upgrade/endtoend.
func TestEveryAlertUsesExportedMetrics(t *testing.T) {
	code := source(t)
	for _, rule := range alertRules(t) {
		require.True(t, slices.ContainsFunc(rule.Alternatives(), func(expr string) bool {
			names := alerts.Metrics(expr)
			return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
				return strings.HasPrefix(name, "drover_") && !strings.Contains(code, `"`+name+`"`)
			})
		}), "alert %s: %s", rule.Alert, rule.Expr)
	}
}

func alertRules(t *testing.T) []alerts.Rule {
	t.Helper()
	rules, err := alerts.Read(filepath.Join(root, "docs/alerts/rules.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, rules)
	return rules
}

// Whoever is paged knows the object and the next step, and finds the rest in the runbook.
func TestEveryAlertLeadsToItsRunbook(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/alerts/*.md"))
	require.NoError(t, err)
	guide, err := os.ReadFile(filepath.Join(root, "docs/monitoring.md"))
	require.NoError(t, err)
	wanted := map[string]bool{}
	for _, rule := range alertRules(t) {
		require.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
		require.Regexp(t, `^[A-Z].*\.$`, rule.Annotations["summary"], rule.Alert)
		require.Regexp(t, `\. Next: .*kubectl drover [a-z].*\.$`, rule.Annotations["description"], rule.Alert)
		file, based := strings.CutPrefix(rule.Annotations["runbook_url"], alerts.RunbookBase)
		require.True(t, based, "the runbook of %s is %s", rule.Alert, rule.Annotations["runbook_url"])
		require.Equal(t, rule.Alert+".md", file)
		row := regexp.MustCompile(`\n\| \[` + rule.Alert + `\]\(alerts/` + rule.Alert + `\.md\) \| [^|]*\b` + rule.Labels["severity"] + `\b`)
		require.Regexp(t, row, string(guide), "docs/monitoring.md lists the alerts with their severity")
		wanted[filepath.Join(root, "docs/alerts", file)] = true
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(wanted)), pages, "each alert has a runbook, and each runbook an alert")
}

var (
	runbookParts = []string{"Meaning", "Impact", "Diagnosis", "Mitigation"}
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link         = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	noAnchor     = regexp.MustCompile("[^a-z0-9 -]")
)

func TestARunbookHasItsPartsCommandsAndNoDeadLink(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/alerts/*.md"))
	require.NoError(t, err)
	for _, page := range pages {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		text := string(content)
		parts := strings.Split(text, "\n## ")
		require.Equal(t, "# "+strings.TrimSuffix(filepath.Base(page), ".md"), strings.TrimSpace(parts[0]), page)
		require.Len(t, parts, 1+len(runbookParts), page)
		for i, name := range runbookParts {
			title, body, _ := strings.Cut(parts[i+1], "\n")
			require.Equal(t, name, title, page)
			require.NotEmpty(t, strings.TrimSpace(body), "%s: %s", page, name)
			require.True(t, i < 2 || strings.Contains(body, "kubectl "), "%s: %s has no command", page, name)
		}
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, err := os.ReadFile(filepath.Join(filepath.Dir(page), found[1]))
			require.NoError(t, err, page)
			require.True(t, found[2] == "" || slices.Contains(anchors(string(target)), found[2]), "%s: %s%s", page, found[1], found[2])
		}
	}
}

// anchors are the links to the headings of a page.
func anchors(page string) []string {
	var all []string
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, "#"+strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return all
}

// Operators search the README of a binary for a metric.
func TestREADMEOfABinaryListsItsMetrics(t *testing.T) {
	for _, name := range metricName.FindAllString(source(t), -1) {
		for _, binary := range binaries {
			if strings.HasPrefix(name, "drover_"+strings.ReplaceAll(binary, "-", "_")+"_") {
				readme, err := os.ReadFile(filepath.Join(root, binary, "README.md"))
				require.NoError(t, err)
				require.True(t, strings.Contains(string(readme), name), "%s is missing in %s/README.md", name, binary)
			}
		}
	}
}

func TestPagesNameOnlyMetricsThatAreExported(t *testing.T) {
	code := source(t)
	for _, pattern := range []string{"docs/*.md", "docs/alerts/*.md", "*/README.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, pages)
		for _, page := range pages {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			for _, name := range metricName.FindAllString(string(text), -1) {
				require.True(t, strings.Contains(code, `"`+name+`"`), "%s: no binary exports %s", page, name)
			}
		}
	}
}

// Operators find each reason in the guide, with the next step.
func TestOperatorsGuideListsEveryAttachReason(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs/attaching.md"))
	require.NoError(t, err)
	for _, contract := range v1beta2.ConditionContracts() {
		if contract.Kind != "Volume" && contract.Kind != "VolumeAttachment" && contract.Type != v1beta2.ReplicaDataRemovalApproved &&
			contract.Type != v1beta2.ReplicaDataRemoved {
			continue
		}
		for _, reason := range append(contract.True, contract.False...) {
			require.True(t, strings.Contains(string(guide), "`"+reason+"`"), "%s, a reason of %s of %s, is missing", reason, contract.Type,
				contract.Kind)
		}
	}
}
