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
		if doc.Default != "" {
			values := Defaults()
			require.NoError(t, Catalogue.Readers[name](&values, doc.Default))
			require.Equal(t, Defaults(), values, name)
		}
		for _, value := range doc.Accepted() {
			require.NoError(t, Catalogue.Check(name, value), "%s: %s", name, value)
		}
		for _, value := range doc.Refused() {
			require.Error(t, Catalogue.Check(name, value), "%s: %s", name, value)
		}
	}
}
