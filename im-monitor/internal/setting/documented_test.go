package setting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/setting/documented"
)

// docs/settings.md lists the defaults and limits that this binary reads.
func TestTheDocumentedDefaultsAndLimitsAreThoseThatAreRead(t *testing.T) {
	for _, name := range setting.ObeyedBy(setting.ImMonitor) {
		doc := documented.Settings()[name]
		values, problems := Parse(map[string]string{name: doc.Default}, Defaults())
		require.Empty(t, problems, name)
		require.Equal(t, Defaults(), values, name)
		for _, value := range doc.Accepted() {
			_, problems := Parse(map[string]string{name: value}, Defaults())
			require.Empty(t, problems, "%s: %s", name, value)
		}
		for _, value := range doc.Refused() {
			_, problems := Parse(map[string]string{name: value}, Defaults())
			require.NotEmpty(t, problems, "%s: %s", name, value)
		}
	}
}
