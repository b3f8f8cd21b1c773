package webhookserver

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// A newer client may send what this version does not know.
func TestCompletingASnapshotLosesNothing(t *testing.T) {
	raw := []byte(`{"apiVersion":"longhorn.io/v1beta2","kind":"Snapshot","metadata":{"name":"snap-1","labels":{"team":"a"},"finalizers":["mine"]},
		"spec":{"volume":"vol-1","createSnapshot":true,"later":{"a":1}}}`)
	s, err := decode(raw)
	require.NoError(t, err)
	whole, err := completed(raw, s, &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1", UID: "1"}})
	require.NoError(t, err)
	var is map[string]any
	require.NoError(t, json.Unmarshal(whole, &is))
	require.Equal(t, map[string]any{"volume": "vol-1", "createSnapshot": true, "later": map[string]any{"a": 1.0}}, is["spec"])
	metadata := is["metadata"].(map[string]any)
	require.Equal(t, map[string]any{"team": "a", v1beta2.LabelVolume: "vol-1"}, metadata["labels"])
	require.Equal(t, []any{"mine", v1beta2.Finalizer}, metadata["finalizers"])
	require.Len(t, metadata["ownerReferences"], 1)

	again, err := decode(whole)
	require.NoError(t, err)
	same, err := completed(whole, again, nil)
	require.NoError(t, err)
	require.JSONEq(t, string(whole), string(same), "what is whole stays as it is")
}
