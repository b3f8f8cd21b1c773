package endtoend

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/upgrade/fixture"
)

// growing is a counter whose growth an alert watches, with the label that it chooses by.
var growing = regexp.MustCompile(`increase\((drover_[a-z_]+)(?:\{(\w+)=~?"([^"]+)"\})?\[`)

// An alert on a counter's growth does not see the first event of a series that appears with it: all are there from the start.
func TestEveryCounterThatAnAlertWatchesIsThereBeforeItCounts(t *testing.T) {
	s := fixture.Begin(t)
	text, err := os.ReadFile("../../../docs/alerts/rules.yaml")
	require.NoError(t, err)
	found := growing.FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, found)
	for _, f := range found {
		name, label, values := f[1], f[2], strings.Split(f[3], "|")
		for _, controller := range s.Controllers() {
			if !strings.HasPrefix(name, "drover_"+strings.ReplaceAll(controller, "-", "_")+"_") {
				continue
			}
			lines, err := s.Metrics(s.Ctx, controller)
			require.NoError(t, err)
			for _, value := range values {
				require.True(t, slices.ContainsFunc(lines, func(line string) bool {
					return strings.HasPrefix(line, name) && (label == "" || strings.Contains(line, label+`="`+value+`"`))
				}), "%s does not show %s with %s=%q", controller, name, label, value)
			}
		}
	}
}
