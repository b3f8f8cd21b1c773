package upgradecontroller

import (
	"encoding/json"
	"fmt"
	"reflect"

	"drover.dev/drover/shared/api/v1beta2"
)

// difference returns the fields of a status that differ, as a JSON merge patch: of maps only the keys that changed, null
// for what is gone. Empty: nothing differs.
func difference(before, after any) (map[string]any, error) {
	old, err := fields(before)
	if err != nil {
		return nil, err
	}
	wanted, err := fields(after)
	if err != nil {
		return nil, err
	}
	return between(old, wanted), nil
}

// nodeDifference is difference for the upgrade of a node: of its volumes only those that changed are rendered.
func nodeDifference(before, after v1beta2.NodeDataEngineUpgradeStatus) (map[string]any, error) {
	old, wanted := before.Volumes, after.Volumes
	before.Volumes, after.Volumes = nil, nil
	out, err := difference(before, after)
	if err != nil {
		return nil, err
	}
	volumes := map[string]any{}
	for name := range old {
		if _, kept := wanted[name]; !kept {
			volumes[name] = nil
		}
	}
	for name, x := range wanted {
		y, had := old[name]
		if had && x == y {
			continue
		}
		changed, err := difference(y, x)
		if err != nil {
			return nil, err
		}
		if !had || len(changed) > 0 {
			volumes[name] = changed
		}
	}
	if len(volumes) > 0 {
		out["volumes"] = volumes
	}
	return out, nil
}

func between(old, wanted map[string]any) map[string]any {
	out := map[string]any{}
	for key := range old {
		if _, kept := wanted[key]; !kept {
			out[key] = nil
		}
	}
	for key, value := range wanted {
		before, had := old[key]
		inner, isMap := value.(map[string]any)
		beforeInner, wasMap := before.(map[string]any)
		switch {
		case isMap && wasMap:
			if changed := between(beforeInner, inner); len(changed) > 0 {
				out[key] = changed
			}
		case !had || !reflect.DeepEqual(before, value):
			out[key] = value
		}
	}
	return out
}

func fields(status any) (map[string]any, error) {
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("rendering a status: %w", err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("reading a status back: %w", err)
	}
	return out, nil
}
