package world

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestATablePrintsBytesAsKubectlDoes(t *testing.T) {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name"}, {Name: "Size"}, {Name: "Why"}},
		Rows: []metav1.TableRow{{Cells: []any{"db-1", float64(1 << 30), nil}}}}
	printed, err := format(table, "snapshots")
	require.NoError(t, err)
	require.Contains(t, printed, "1073741824")
	require.NotContains(t, printed, "e+")
}
