package crds_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// A ticket whose type the definition accepts is no ticket of an unknown type for the controller.
func TestEachTypeOfATicketThatTheDefinitionAcceptsIsKnown(t *testing.T) {
	raw, err := os.ReadFile("longhorn.io_volumeattachments.yaml")
	require.NoError(t, err)
	rule := regexp.MustCompile(`(?s)self in \["", ("csi-attacher".*?)\]`).FindSubmatch(raw)
	require.NotNil(t, rule)
	types := regexp.MustCompile(`"([a-z-]+)"`).FindAllSubmatch(rule[1], -1)
	require.Greater(t, len(types), 10)
	for _, kind := range types {
		require.Positive(t, v1beta2.TicketPriority(string(kind[1])), "%s", kind[1])
	}
}
