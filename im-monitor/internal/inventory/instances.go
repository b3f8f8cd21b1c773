package inventory

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// Instances are the entries of one whole list, by name. A large cluster has a hundred thousand: each takes one line of the processor's
// cache and one text, so that a new list is compared with the last one at the cost of reading it. It is immutable; the zero value is empty.
type Instances struct{ entries []entry } // sorted by name

// entry is one instance.
type entry struct {
	text string // the name, followed by the UUID
	disk string
	more *more // what few instances have; nil is nothing
	// ports are PortStart, PortEnd, TargetPortStart and TargetPortEnd.
	ports [4]int32
	// name is how many bytes of text are the name.
	name uint32
	// kind, engine, state and source are positions in words.
	kind, engine, state, source uint8
}

// more is what errors, frontends and engines of v2 have beside the rest, and words that are in no list of ours.
type more struct {
	kind, engine, state, source, errorMsg, endpoint string
	replicas                                        map[string]string
	frontend                                        *imclient.Frontend
}

// other is the position of words that are in more.
const other = 0

// words are what types, data engines, states and sources of UUIDs are nearly always.
var words = []string{other: "", v1beta2.DataEngineV1, v1beta2.DataEngineV2,
	v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeReplica, v1beta2.InstanceTypeEngineFrontend,
	v1beta2.InstanceStateRunning, v1beta2.InstanceStateStarting, v1beta2.InstanceStateStopping, v1beta2.InstanceStateStopped,
	v1beta2.InstanceStateError, v1beta2.InstanceStatePending, v1beta2.InstanceStateTerminating, v1beta2.InstanceStateSuspended,
	string(imclient.UUIDFromInstanceStatus), string(imclient.UUIDFromHeadLvol)}

// InstancesOf keeps instances by their names.
func InstancesOf(list map[string]Instance) Instances {
	kept, _ := Instances{}.merge(list)
	return kept
}

// Len is the number of instances.
func (l Instances) Len() int { return len(l.entries) }

// Find returns the instance of a name.
func (l Instances) Find(name string) (Instance, bool) {
	at, found := slices.BinarySearchFunc(l.entries, name, func(e entry, name string) int { return strings.Compare(e.Name(), name) })
	if !found {
		return Instance{}, false
	}
	return l.entries[at].instance(), true
}

// At returns the instance of a name; the zero value where there is none.
func (l Instances) At(name string) Instance {
	instance, _ := l.Find(name)
	return instance
}

// Has reports whether there is an instance of a name.
func (l Instances) Has(name string) bool {
	_, found := l.Find(name)
	return found
}

// All are the instances, sorted by name.
func (l Instances) All() iter.Seq2[string, Instance] {
	return func(yield func(string, Instance) bool) {
		for i := range l.entries {
			if instance := l.entries[i].instance(); !yield(instance.Name, instance) {
				return
			}
		}
	}
}

// names are those of all instances, sorted.
func (l Instances) names() []string {
	out := make([]string, len(l.entries))
	for i := range l.entries {
		out[i] = l.entries[i].Name()
	}
	return out
}

// Name is the instance's name.
func (e *entry) Name() string { return e.text[:e.name] }

func (e *entry) uuid() string { return e.text[e.name:] }

// rest is what few instances have.
func (e *entry) rest() more {
	if e.more == nil {
		return more{}
	}
	return *e.more
}

// word is the one at a position; other is what an instance has instead.
func word(at uint8, instead string) string {
	if at == other {
		return instead
	}
	return words[at]
}

// instance converts an entry back to a value.
func (e *entry) instance() Instance {
	rest := e.rest()
	return Instance{
		Name: e.Name(), Type: word(e.kind, rest.kind), DataEngine: word(e.engine, rest.engine), State: word(e.state, rest.state),
		UUID: e.uuid(), UUIDSource: imclient.UUIDSource(word(e.source, rest.source)), DiskUUID: e.disk,
		ErrorMsg: rest.errorMsg, Endpoint: rest.endpoint,
		PortStart: e.ports[0], PortEnd: e.ports[1], TargetPortStart: e.ports[2], TargetPortEnd: e.ports[3],
		Replicas: rest.replicas, Frontend: rest.frontend,
	}
}

// entryOf converts a value. What it keeps of the value are texts that are shared or rare; name and UUID become a text of their own.
func entryOf(i *Instance) entry {
	var rest more
	e := entry{text: i.Name + i.UUID, name: uint32(len(i.Name)), disk: i.DiskUUID, ports: ports(i)}
	e.kind, rest.kind = position(i.Type)
	e.engine, rest.engine = position(i.DataEngine)
	e.state, rest.state = position(i.State)
	e.source, rest.source = position(string(i.UUIDSource))
	rest.errorMsg, rest.endpoint, rest.replicas, rest.frontend = i.ErrorMsg, i.Endpoint, i.Replicas, i.Frontend
	if rest.frontend != nil || rest.replicas != nil || rest.kind+rest.engine+rest.state+rest.source+rest.errorMsg+rest.endpoint != "" {
		e.more = &rest
	}
	return e
}

// position finds a word; one that is not in words stays a text.
func position(text string) (uint8, string) {
	if at := slices.Index(words[other+1:], text); at >= 0 {
		return uint8(other + 1 + at), ""
	}
	return other, text
}

// is compares all that is known of an instance.
func (e *entry) is(i *Instance) bool {
	if e.uuid() != i.UUID || e.ports != ports(i) || e.disk != i.DiskUUID {
		return false
	}
	rest := e.more
	if rest == nil {
		rest = &nothing
	}
	return word(e.state, rest.state) == i.State && word(e.kind, rest.kind) == i.Type && word(e.engine, rest.engine) == i.DataEngine &&
		word(e.source, rest.source) == string(i.UUIDSource) && rest.errorMsg == i.ErrorMsg && rest.endpoint == i.Endpoint &&
		(rest.replicas == nil) == (i.Replicas == nil) && maps.Equal(rest.replicas, i.Replicas) && rest.frontend.Equal(i.Frontend)
}

var nothing more

func ports(i *Instance) [4]int32 {
	return [4]int32{i.PortStart, i.PortEnd, i.TargetPortStart, i.TargetPortEnd}
}
