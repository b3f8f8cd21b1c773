package upgradecontroller

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// A merge patch of the difference turns the stored status into the wanted one, and names no volume that has not changed.
func TestTheDifferenceNamesOnlyVolumesThatChanged(t *testing.T) {
	type volumes = map[string]v1beta2.VolumeUpgradeStatus
	waiting, away := v1beta2.VolumeUpgradeStatus{State: v1beta2.VolumeUpgradeWaiting, Message: "why"},
		v1beta2.VolumeUpgradeStatus{State: v1beta2.VolumeUpgradeAway, TemporaryNodeID: "node-2"}
	for name, test := range map[string]struct {
		before, after volumes
		changed       []string
	}{
		"nothing":                       {volumes{"a": away}, volumes{"a": away}, nil},
		"one of two":                    {volumes{"a": waiting, "b": away}, volumes{"a": away, "b": away}, []string{"a"}},
		"the first ones":                {nil, volumes{"a": waiting, "b": {}}, []string{"a", "b"}},
		"a new one beside another":      {volumes{"a": away}, volumes{"a": away, "b": waiting}, []string{"b"}},
		"one that is gone from another": {volumes{"a": away, "b": waiting}, volumes{"a": away}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := v1beta2.NodeDataEngineUpgradeStatus{State: v1beta2.UpgradeStateInitializing, Volume: "a", Volumes: test.before}
			after := v1beta2.NodeDataEngineUpgradeStatus{State: v1beta2.UpgradeStateSwitchingOver, Volumes: test.after}
			changed, err := nodeDifference(before, after)
			require.NoError(t, err)
			named, _ := changed["volumes"].(map[string]any)
			for _, name := range test.changed {
				require.Contains(t, named, name)
			}
			require.Len(t, named, len(test.changed))
			stored, err := fields(before)
			require.NoError(t, err)
			merged, err := json.Marshal(merge(stored, changed))
			require.NoError(t, err)
			var result v1beta2.NodeDataEngineUpgradeStatus
			require.NoError(t, json.Unmarshal(merged, &result))
			require.Equal(t, after, result)
		})
	}
}

// merge applies a JSON merge patch, as an API server does.
func merge(into, patch map[string]any) map[string]any {
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		switch before, wasMap := into[key].(map[string]any); {
		case value == nil:
			delete(into, key)
		case isMap && wasMap:
			into[key] = merge(before, inner)
		case isMap:
			into[key] = merge(map[string]any{}, inner)
		default:
			into[key] = value
		}
	}
	return into
}
