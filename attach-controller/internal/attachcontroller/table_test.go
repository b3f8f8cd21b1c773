package attachcontroller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

// A17: the holder of each volume, its node, and what blocks it, in one command.
func TestKubectlShowsTheHolderOfAVolumeAndWhatBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	require.Equal(t, "Volume=vol-1 Holder= Node= Satisfied=True Why=Detached",
		w.columns("volumeattachments", "Volume", "Holder", "Node", "Satisfied", "Why"))
	w.put(vol, "pod", v1beta2.AttacherCSI, "node-1")
	w.put(vol, "snap", v1beta2.AttacherSnapshot, "node-2")
	w.shows(vol, "node-1", "pod Attaching", "snap LowerPriority")
	require.Equal(t, "Holder=pod Node=node-1 Satisfied=False Why=Attaching",
		w.columns("volumeattachments", "Holder", "Node", "Satisfied", "Why"))

	w.status(v, map[string]any{"state": v1beta2.VolumeStateAttaching, "conditions": status.ConditionsField([]v1beta2.Condition{{
		Type: v1beta2.VolumeAttached, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonNoUsableReplica, Message: "Start node-3 again.",
	}})})
	require.Contains(t, w.ready(vol, v1beta2.ReasonBlocked), "Start node-3 again.")
	require.Equal(t, "Satisfied=False Why=Blocked", w.columns("volumeattachments", "Satisfied", "Why"))
	message := w.columns("volumeattachments", "Message")
	require.Contains(t, message, "Start node-3 again.")
	require.Contains(t, message, `snapshot-controller "snap" for node node-2 (LowerPriority)`)
	require.Equal(t, "State=attaching Wanted=node-1 Node= Why=NoUsableReplica Message=Start node-3 again.",
		w.columns("volumes", "State", "Wanted", "Node", "Why", "Message"))
}

// columns are those cells of the only row that kubectl prints of a kind.
func (w *world) columns(resource string, names ...string) string {
	w.t.Helper()
	config := rest.CopyConfig(testkit.Cluster().AdminConfig())
	config.AcceptContentTypes = "application/json;as=Table;v=v1;g=meta.k8s.io"
	config.APIPath, config.GroupVersion = "/apis", &v1beta2.GroupVersion
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	require.NoError(w.t, err)
	raw, err := c.Get().Namespace(w.namespace).Resource(resource).DoRaw(w.t.Context())
	require.NoError(w.t, err)
	table := metav1.Table{}
	require.NoError(w.t, json.Unmarshal(raw, &table))
	require.Len(w.t, table.Rows, 1)
	cells := map[string]string{}
	for i, column := range table.ColumnDefinitions {
		cells[column.Name] = ""
		if cell := table.Rows[0].Cells[i]; cell != nil {
			cells[column.Name] = fmt.Sprint(cell)
		}
	}
	var out []string
	for _, name := range names {
		require.Contains(w.t, cells, name)
		out = append(out, name+"="+cells[name])
	}
	return strings.Join(out, " ")
}
