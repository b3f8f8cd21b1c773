package snapshotcontroller

import (
	"maps"
	"slices"
	"sync"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Objects in the cache are read and never changed; whoever gets one gets a copy. So parts that are the same may be the same.

// word keeps one copy of a string that many objects share.
func word(s string) string { return unique.Make(s).Value() }

// sharedLimit is how many parts are remembered. Those of a volume's snapshots mostly come together, so that forgetting all
// of them now and then costs little.
const sharedLimit = 4096

// parts remembers one copy of what many objects have. It is safe for concurrent use.
type parts[K comparable, V any] struct {
	mutex sync.Mutex
	known map[K]V
}

// of is the remembered copy, or the given one from now on.
func (p *parts[K, V]) of(key K, fresh func() V) V {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if v, ok := p.known[key]; ok {
		return v
	}
	if p.known == nil || len(p.known) >= sharedLimit {
		p.known = map[K]V{}
	}
	v := fresh()
	p.known[key] = v
	return v
}

// ofOwner is what an owner reference says.
type ofOwner struct{ apiVersion, kind, name, uid string }

var (
	labelled  parts[string, map[string]string]
	repeated  parts[string, map[string]string]
	owned     parts[ofOwner, []metav1.OwnerReference]
	finalized = []string{v1beta2.Finalizer}
	ofTheHead = map[string]bool{snapshot.VolumeHead: true}
)

// volumeLabel is a map of the one label that names the volume.
func volumeLabel(volume string) map[string]string {
	return labelled.of(volume, func() map[string]string { return map[string]string{v1beta2.LabelVolume: word(volume)} })
}

// jobLabel is a map of the one label that names the recurring job.
func jobLabel(job string) map[string]string {
	return repeated.of(job, func() map[string]string { return map[string]string{v1beta2.LabelRecurringJob: word(job)} })
}

// owners are the references; a single one is shared by all that have it.
func owners(list []metav1.OwnerReference) []metav1.OwnerReference {
	if len(list) != 1 || list[0].Controller != nil || list[0].BlockOwnerDeletion != nil {
		return list
	}
	o := list[0]
	return owned.of(ofOwner{o.APIVersion, o.Kind, o.Name, string(o.UID)}, func() []metav1.OwnerReference {
		o.APIVersion, o.Kind, o.Name = word(o.APIVersion), word(o.Kind), word(o.Name)
		return []metav1.OwnerReference{o}
	})
}

func finalizers(list []string) []string {
	if slices.Equal(list, finalized) {
		return finalized
	}
	return words(list)
}

func words(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, word(s))
	}
	return out
}

// children shares what every newest snapshot has.
func children(of map[string]bool) map[string]bool {
	if maps.Equal(of, ofTheHead) {
		return ofTheHead
	}
	return of
}

// noChildren is said by an entry that has none although another one names it as its parent.
var noChildren = map[string]bool{}

// chained keeps an engine's list in little: names, each of which is there four times, become the same strings, and
// children that are those who name the entry as their parent, as they are, are left out.
func chained(list map[string]v1beta2.SnapshotInfo) map[string]v1beta2.SnapshotInfo {
	if len(list) == 0 {
		return nil
	}
	names, named := make(map[string]string, len(list)), make(map[string]int, len(list))
	for name, info := range list {
		names[name] = name
		named[info.Parent]++
	}
	same := func(name string) string {
		if known, ok := names[name]; ok {
			return known
		}
		return name
	}
	out := make(map[string]v1beta2.SnapshotInfo, len(list))
	for name, info := range list {
		switch {
		case info.Children == nil: // it may be done twice
		case told(list, name, named[name]):
			info.Children = nil
		case len(info.Children) == 0:
			info.Children = noChildren
		}
		info.Name, info.Parent = same(info.Name), same(info.Parent)
		out[same(name)] = info
	}
	return out
}

// told tells that an entry's children are exactly those, so many, that name it as their parent.
func told(list map[string]v1beta2.SnapshotInfo, name string, many int) bool {
	children := list[name].Children
	for child, is := range children {
		if other, there := list[child]; !is || !there || other.Parent != name {
			return false
		}
	}
	return len(children) == many
}
