package setting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting/documented"
)

// docs/settings.md lists the defaults and limits that this binary reads.
func TestTheDocumentedDefaultsAndLimitsAreThoseThatAreRead(t *testing.T) {
	for _, name := range Catalogue.Names() {
		doc := documented.Settings()[name]
		values := Catalogue.Defaults()
		require.NoError(t, Catalogue.Check(name, doc.Default))
		if doc.Default != "" {
			require.NoError(t, Catalogue.Readers[name](&values, doc.Default))
		}
		require.Equal(t, Catalogue.Defaults(), values, name)
		for _, value := range doc.Accepted() {
			require.NoError(t, Catalogue.Check(name, value), "%s: %s", name, value)
		}
		for _, value := range doc.Refused() {
			require.Error(t, Catalogue.Check(name, value), "%s: %s", name, value)
		}
	}
}
