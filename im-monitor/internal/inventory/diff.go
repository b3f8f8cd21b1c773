package inventory

import (
	"maps"
	"slices"
)

// difference is what one whole list changed against the one before.
type difference struct{ added, removed, changed []string }

// none reports whether nothing changed.
func (d difference) none() bool { return len(d.added)+len(d.removed)+len(d.changed) == 0 }

// merge compares a new list with the one before and returns what to keep: the earlier map when nothing changed, else the new one with the
// earlier values for what is the same. So the texts of a list that reports nothing new are not kept.
func merge(before, now map[string]Instance) (map[string]Instance, difference) {
	var d difference
	for name, instance := range now {
		earlier, ok := before[name]
		switch {
		case !ok:
			d.added = append(d.added, name)
		case equal(earlier, instance):
			now[earlier.Name] = earlier // the earlier copies of all texts, the key's included
		default:
			d.changed = append(d.changed, name)
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			d.removed = append(d.removed, name)
		}
	}
	if d.none() && before != nil {
		return before, d
	}
	return now, d
}

// equal compares all that is known of an instance.
func equal(a, b Instance) bool {
	return a.Name == b.Name && a.Type == b.Type && a.DataEngine == b.DataEngine && a.State == b.State &&
		a.UUID == b.UUID && a.UUIDSource == b.UUIDSource && a.DiskUUID == b.DiskUUID &&
		a.ErrorMsg == b.ErrorMsg && a.Endpoint == b.Endpoint && ports(a) == ports(b) &&
		(a.Replicas == nil) == (b.Replicas == nil) && maps.Equal(a.Replicas, b.Replicas) && a.Frontend.Equal(b.Frontend)
}

func ports(i Instance) [4]int32 {
	return [4]int32{i.PortStart, i.PortEnd, i.TargetPortStart, i.TargetPortEnd}
}

// names are the keys of a list.
func names(instances map[string]Instance) []string {
	return slices.Collect(maps.Keys(instances))
}
