package doctor

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/shared/api/v1beta2"
)

// A thousand orphans of one node are one thing to know about.
func TestManyAlikeAreShownAsOne(t *testing.T) {
	w := led()
	for i := range 5 {
		w.Orphans.Items = append(w.Orphans.Items, v1beta2.Orphan{ObjectMeta: named(fmt.Sprintf("o-%d", i)), Status: v1beta2.OrphanStatus{
			Conditions: []v1beta2.Condition{condition(v1beta2.OrphanOrphaned, v1beta2.ReasonNoOwnerCR, 0)}}})
	}
	text := func() string {
		var out bytes.Buffer
		p := terminal.New(&out)
		Of(w).Text(p)
		require.NoError(t, p.Err())
		return out.String()
	}
	require.Contains(t, text(), "INFO Orphan o-0 and 4 more: NoOwnerCR")
	require.NotContains(t, text(), "o-1")
	require.Len(t, Of(w).Names(), 5, "programs get all")
	w.Orphans.Items = w.Orphans.Items[:3]
	require.Contains(t, text(), "INFO Orphan o-1: NoOwnerCR")
}
