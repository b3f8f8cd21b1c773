package world

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"drover.dev/drover/shared/api/v1beta2"
)

// Table is what `kubectl get <resource>` prints: the API server computes the columns, in both cases.
func (w *World) Table(ctx context.Context, resource string) (string, error) {
	config := rest.CopyConfig(w.Config)
	config.GroupVersion, config.APIPath = &v1beta2.GroupVersion, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	caller, err := rest.RESTClientFor(config)
	if err != nil {
		return "", fmt.Errorf("building the client that prints tables: %w", err)
	}
	raw, err := caller.Get().Namespace(w.Namespace).Resource(resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	if err != nil {
		return "", fmt.Errorf("requesting the table of %s: %w", resource, err)
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(raw, table); err != nil {
		return "", fmt.Errorf("reading the table of %s: %w", resource, err)
	}
	return format(table, resource)
}

func format(table *metav1.Table, resource string) (string, error) {
	if len(table.Rows) == 0 {
		return "No resources found: " + resource + "\n", nil
	}
	var out strings.Builder
	writer := tabwriter.NewWriter(&out, 0, 8, 3, ' ', 0)
	var header []string
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			header = append(header, strings.ToUpper(column.Name))
		}
	}
	fmt.Fprintln(writer, strings.Join(header, "\t"))
	for _, row := range table.Rows {
		var cells []string
		for i, cell := range row.Cells {
			if table.ColumnDefinitions[i].Priority == 0 {
				cells = append(cells, text(cell))
			}
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	if err := writer.Flush(); err != nil {
		return "", fmt.Errorf("printing the table of %s: %w", resource, err)
	}
	return out.String(), nil
}

func text(cell any) string {
	switch value := cell.(type) {
	case nil:
		return ""
	case float64: // JSON has no other numbers; kubectl prints bytes as digits
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(cell)
}
