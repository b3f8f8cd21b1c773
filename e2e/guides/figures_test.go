//go:build !fast

package guides

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit/cluster"
)

// README has two figures that change with the repository.
func TestTheFiguresOfTheREADME(t *testing.T) {
	root, err := cluster.SourceRoot()
	require.NoError(t, err)
	content := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		return string(text)
	}
	ledger := content("im-monitor/conformance/ledger.yaml")
	checks := strings.Count(ledger, "onlySimulator: true")
	require.Equal(t, strings.Count(ledger, ":\n"), checks, "a check has passed on a real server: README is to report it")
	rules, _, _ := strings.Cut(content("docs/rules.md"), "## Mistakes")
	left := strings.Count(rules, "\n| ") - strings.Count(rules, "\n| rule |")
	for _, figure := range []string{fmt.Sprintf("each of the %d [conformance]", checks), fmt.Sprintf("each of %d [rules]", left)} {
		require.Contains(t, content("README.md"), figure)
	}
}
