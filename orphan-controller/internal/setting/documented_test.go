package setting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/setting/documented"
)

// docs/settings.md lists the defaults and limits that this binary reads.
func TestTheDocumentedDefaultsAndLimitsAreThoseThatAreRead(t *testing.T) {
	grace := documented.Settings()[GracePeriod]
	byDefault, err := ParseGracePeriods(grace.Default)
	require.NoError(t, err)
	require.Equal(t, GracePeriods{V1: DefaultGracePeriod, V2: DefaultGracePeriod}, byDefault)
	for _, value := range grace.Accepted() {
		_, err := ParseGracePeriods(value)
		require.NoError(t, err, value)
	}
	for _, value := range grace.Refused() {
		_, err := ParseGracePeriods(value)
		require.Error(t, err, value)
	}
	off, err := ParseItems(documented.Settings()[AutoDeletion].Default)
	require.NoError(t, err)
	require.Equal(t, Items{}, off)
}
