package upgradecontroller

import (
	"encoding/json"
	"fmt"
	"reflect"
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
