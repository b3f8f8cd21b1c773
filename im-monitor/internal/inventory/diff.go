package inventory

import (
	"slices"
	"strings"
)

// difference is what one whole list changed against the one before.
type difference struct{ added, removed, changed []string }

// none reports whether nothing changed.
func (d difference) none() bool { return len(d.added)+len(d.removed)+len(d.changed) == 0 }

// merge compares a new list with this one, and returns what to keep: this one when nothing changed, else the new one with the earlier
// entries of what is the same. So the texts of a list that reports nothing new are not kept.
func (l Instances) merge(now map[string]Instance) (Instances, difference) {
	names := make([]string, 0, len(now))
	for name := range now {
		names = append(names, name)
	}
	slices.Sort(names)
	var d difference
	kept, earlier := make([]entry, 0, len(now)), l.entries
	for _, name := range names {
		order := -1
		for len(earlier) > 0 {
			if order = strings.Compare(name, earlier[0].Name()); order <= 0 {
				break
			}
			d.removed = append(d.removed, earlier[0].Name())
			earlier, order = earlier[1:], -1
		}
		instance := now[name]
		instance.Name = name
		if order == 0 && earlier[0].is(&instance) {
			kept, earlier = append(kept, earlier[0]), earlier[1:]
			continue
		}
		e := entryOf(&instance)
		kept = append(kept, e)
		if order == 0 {
			earlier, d.changed = earlier[1:], append(d.changed, e.Name())
		} else {
			d.added = append(d.added, e.Name())
		}
	}
	for i := range earlier {
		d.removed = append(d.removed, earlier[i].Name())
	}
	if d.none() && l.entries != nil {
		return l, d
	}
	return Instances{kept}, d
}
