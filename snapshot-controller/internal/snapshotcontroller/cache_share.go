package snapshotcontroller

import (
	"slices"
	"sync"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
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

// ofOwner is the content of an owner reference.
type ofOwner struct{ apiVersion, kind, name, uid string }

var (
	labelled       parts[string, map[string]string]
	repeated       parts[string, map[string]string]
	owned          parts[ofOwner, []metav1.OwnerReference]
	conditionLists parts[v1beta2.Condition, []v1beta2.Condition]
	moments        parts[string, string]
	finalized      = []string{v1beta2.Finalizer}
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

// conditionsOf are these conditions; a single one is shared by all of whom the same is reported since the same second.
func conditionsOf(list []v1beta2.Condition) []v1beta2.Condition {
	if len(list) != 1 {
		return list
	}
	return conditionLists.of(list[0], func() []v1beta2.Condition { return list })
}

// moment keeps one copy of a time that many objects share: what a job makes of many volumes is made in few seconds.
func moment(at string) string { return moments.of(at, func() string { return at }) }
