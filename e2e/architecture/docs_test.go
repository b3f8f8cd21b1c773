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

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
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

// An alert on a metric that no binary exports never fires.
func TestEveryAlertUsesExportedMetricsAndHasAPage(t *testing.T) {
	rules, err := testkit.AlertRules(filepath.Join(root, "docs/alerts/rules.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, rules)
	code := source(t)
	for _, rule := range rules {
		require.FileExists(t, filepath.Join(root, "docs/alerts", rule.Alert+".md"))
		require.True(t, slices.ContainsFunc(rule.Alternatives(), func(expr string) bool {
			names := metricName.FindAllString(expr, -1)
			return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(code, `"`+name+`"`) })
		}), "alert %s: %s", rule.Alert, rule.Expr)
	}
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
