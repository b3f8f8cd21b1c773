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

// README has figures that change with the repository.
func TestTheFiguresOfTheREADME(t *testing.T) {
	root, err := cluster.SourceRoot()
	require.NoError(t, err)
	content := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		return string(text)
	}
	for _, engine := range []string{"v1", "v2"} {
		all, real := checksOf(content("im-monitor/conformance/ledger.yaml"), engine)
		require.Greater(t, all, 50)
		if real > 0 { // none is recorded here until somebody runs the checks of this engine again
			require.Contains(t, content("README.md"), fmt.Sprintf("%d of %d %s checks passed", real, all, engine))
		}
	}
	rules, _, _ := strings.Cut(content("docs/rules.md"), "## Mistakes")
	left := strings.Count(rules, "\n| ") - strings.Count(rules, "\n| rule |")
	require.Contains(t, content("README.md"), fmt.Sprintf("each of %d [rules]", left))
}

// checksOf counts the checks of a data engine in the ledger, and those of them that passed on a real server.
func checksOf(ledger, engine string) (all, real int) {
	for _, entry := range strings.Split(ledger, "\n"+engine+"-")[1:] {
		all++
		if version, _, _ := strings.Cut(entry, "\nv"); strings.Contains(version, "version:") {
			real++
		}
	}
	return all, real
}
