package orphans

import (
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/world"
)

// Selection is which orphans are meant. With names the others narrow what the names mean.
type Selection struct {
	// Names are complete names of instances or of Orphans.
	Names []string
	// Node selects those of one node; Approved those that policy would delete, and that wait for nothing but time.
	Node     string
	Approved bool
	// Data selects those, too, whose deletion destroys data.
	Data bool
}

// Plan is what a deletion would do.
type Plan struct {
	Delete []Orphan `json:"delete"`
	// Left are selected, and left alone.
	Left []Left `json:"left"`
}

// Left is one orphan that is left alone, and why.
type Left struct {
	Orphan `json:",inline"`
	Reason string `json:"reason"`
}

// Choose selects. An orphan that a person names is deleted, whatever it is; of those that only a selector names, what destroys data is left
// alone unless Data says otherwise, and what is held back in any case: what may be a volume's last copy, or still be used.
func Choose(w *world.World, all []Orphan, s Selection) (Plan, error) {
	pool := slices.DeleteFunc(slices.Clone(all), func(o Orphan) bool {
		return s.Node != "" && o.Node != s.Node || s.Approved && !slices.Contains(approved, o.Decision.Reason)
	})
	chosen, left, err := chooseNamed(w, pool, s.Names, func(o *Orphan) string { return refusal(o, s) })
	return Plan{Delete: chosen, Left: left}, err
}

// chooseNamed returns the orphans of the pool that have the names, each once, or the whole pool if there are no names. If refusal returns a
// reason for an orphan, the orphan is left alone with it. It is an error if a name fits no orphan of the pool, or several.
func chooseNamed(w *world.World, pool []Orphan, names []string, refusal func(*Orphan) string) ([]Orphan, []Left, error) {
	selected := pool
	if len(names) > 0 {
		selected = nil
		for _, name := range names {
			o, err := Complete(w, pool, name)
			if err != nil {
				return nil, nil, err
			}
			if !slices.ContainsFunc(selected, func(c Orphan) bool { return c.Object == o.Object }) {
				selected = append(selected, *o)
			}
		}
	}
	chosen, left := []Orphan{}, []Left{}
	for i := range selected {
		if why := refusal(&selected[i]); why != "" {
			left = append(left, Left{selected[i], why})
		} else {
			chosen = append(chosen, selected[i])
		}
	}
	return chosen, left, nil
}

// refusal states why a selected orphan is left alone; empty where it is not.
func refusal(o *Orphan, s Selection) string {
	byName := len(s.Names) > 0
	switch {
	case o.DeletedSince != "" && (!byName || !o.Releasable):
		return "It is deleted already."
	case byName:
		return ""
	case o.Held != "":
		return strings.TrimSuffix(o.Held, ".") + "; name it to delete it."
	case o.DestroysData && !s.Data:
		return "Its data would be destroyed: add --include-data, or name it."
	}
	return ""
}

// Named returns the orphan of the name of an instance or an object, or of a beginning that only one has.
func Named(w *world.World, all []Orphan, name string) (*Orphan, error) {
	found := called(all, name)
	if len(found) == 0 && name != "" {
		found = matching(all, func(o *Orphan) bool { return strings.HasPrefix(o.Instance, name) || strings.HasPrefix(o.Object, name) })
	}
	return only(w, found, name, ", or begins so")
}

// Complete returns the orphan of the complete name of an instance or an object.
func Complete(w *world.World, all []Orphan, name string) (*Orphan, error) {
	return only(w, called(all, name), name, "")
}

func called(all []Orphan, name string) []*Orphan {
	return matching(all, func(o *Orphan) bool { return o.Instance == name || o.Object == name })
}

// only returns the one that was found by a name; besides is what was looked for in addition.
func only(w *world.World, found []*Orphan, name, besides string) (*Orphan, error) {
	list := w.Suggest("kubectl drover orphans -n {ns}", nil)
	switch {
	case name == "":
		return nil, fmt.Errorf("the name of the orphan is empty; list all with: %s", list)
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return nil, fmt.Errorf("no orphan is called %s%s; list all with: %s", name, besides, list)
	}
	var which []string
	for _, o := range found {
		which = append(which, fmt.Sprintf("%s (%s %s on node %s)", o.Object, o.Type, o.Instance, o.Node))
	}
	const most = 8
	if more := len(which) - most; more > 0 {
		which = append(which[:most], fmt.Sprintf("%d more", more))
	}
	return nil, fmt.Errorf("%s names %d orphans: %s; name one by its object, or add --node", name, len(found), strings.Join(which, ", "))
}

func matching(all []Orphan, is func(*Orphan) bool) []*Orphan {
	var out []*Orphan
	for i := range all {
		if is(&all[i]) {
			out = append(out, &all[i])
		}
	}
	return out
}
