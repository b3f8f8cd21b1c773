// Package mergepatch builds JSON merge patches. It writes nothing: package status sends them.
package mergepatch

// OfMap returns the patch that changes one map into another: the entries that differ, and null for each key to remove. It must be sent to
// the version of the object that from was read from.
func OfMap[V comparable](from, to map[string]V) map[string]any {
	out := map[string]any{}
	for key := range from {
		if _, stays := to[key]; !stays {
			out[key] = nil
		}
	}
	for key, value := range to {
		if before, found := from[key]; !found || before != value {
			out[key] = value
		}
	}
	return out
}
