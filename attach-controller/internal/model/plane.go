package model

import (
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// noData is the version of a replica that was never filled.
const noData = -1

// plane is the data plane: the instances that really run, and the writes that are really stored.
type plane struct {
	running []*process
	// versions are the last write that each replica has, by its directory, which is named as the replica that was placed there; writes
	// counts them. A replica that missed a write keeps its version until it is rebuilt.
	versions map[string]int
	writes   int
	// givenUp are replicas that were marked as failed because they were unreachable: what is written there is lost.
	givenUp map[string]bool
	// markedAt are the versions that those had when they were marked.
	markedAt map[string]int
	started  int
}

// process is one runtime instance.
type process struct {
	kind, name, node string
	uuid             int
	// modes are an engine's modes of its replicas. An engine that has none left in mode RW has failed.
	modes map[string]string
	// failed is listed as an error.
	failed bool
	// target is the engine that a frontend leads to; nil: none yet.
	target *process
	// held reports whether a frontend suspends all I/O.
	held bool
	// moves reports whether a frontend is about to switch to another engine.
	moves bool
	// opener is the engine that has a v1 replica open, until that engine ends in an orderly way: others are refused.
	opener *process
	// reported reports whether im-monitor reported it as running. There is no write through an engine before.
	reported bool
}

const (
	kindEngine   = "engine"
	kindFrontend = "frontend"
	kindReplica  = "replica"
)

// find returns the instance of the name on the node, or nil.
func (p *plane) find(kind, name, node string) *process {
	for _, x := range p.running {
		if x.kind == kind && x.name == name && x.node == node {
			return x
		}
	}
	return nil
}

// begin starts an instance.
func (p *plane) begin(kind, name, node string) *process {
	p.started++
	x := &process{kind: kind, name: name, node: node, uuid: p.started}
	p.running = append(p.running, x)
	return x
}

// end ends an instance. Any engine that used an ended replica notices at once: its connection breaks.
func (w *world) end(x *process) {
	w.plane.running = slices.DeleteFunc(w.plane.running, func(o *process) bool { return o == x })
	if x.kind != kindReplica {
		w.closeReplicas(x)
		return
	}
	for _, e := range w.plane.running {
		if e.kind == kindEngine && e.modes[x.name] != "" && w.alive(e.node) {
			w.drop(e, x.name)
		}
	}
}

// closeReplicas lets an engine that ends close its replicas. One that failed closes none.
func (w *world) closeReplicas(x *process) {
	for _, r := range w.plane.running {
		if r.opener == x && !x.failed && w.linked(x.node, r.node) {
			r.opener = nil
		}
	}
}

// opens reports whether an engine may use a replica: it answers, and no other engine has a v1 process open.
func (w *world) opens(replica string, e *process) bool {
	if !w.serves(replica, e) {
		return false
	}
	r := w.plane.find(kindReplica, replica, w.replicaNode(replica))
	if w.v2() || r.opener == nil || r.opener == e {
		r.opener = e
		return true
	}
	w.trace("data: %s is open, and refuses engine %s on %s", replica, e.name, e.node)
	return false
}

// data is the key of the data that a replica serves: several processes serve one v1 directory.
func (w *world) data(replica string) string {
	if r := w.replicaNamed(replica); r != nil && r.Spec.DataDirectoryName != "" {
		return r.Spec.DataDirectoryName
	}
	return replica
}

// drop removes a replica from an engine, which continues. Without its last one it fails, and keeps that one's mode.
func (w *world) drop(e *process, replica string) {
	mode := e.modes[replica]
	if e.failed || mode == v1beta2.ReplicaModeERR {
		return
	}
	e.modes[replica] = v1beta2.ReplicaModeERR
	if e.usable() {
		w.trace("data: engine %s on %s drops %s", e.name, e.node, replica)
		return
	}
	e.modes[replica] = mode
	w.fails(e)
}

// fails lets an engine fail. A poll reported before what it dropped: a drop that no poll reports is a known limit of the rules.
func (w *world) fails(e *process) {
	w.trace("data: engine %s on %s fails", e.name, e.node)
	w.noted(e)
	e.failed = true
}

// noted is a poll right before an engine is lost.
func (w *world) noted(e *process) {
	if e.kind == kindEngine && e.reported && w.reachable(e.node) && !e.failed {
		crashes := w.crashes
		w.crashes = 0
		w.lastPoll(e)
		w.crashes = crashes
	}
}

// usable reports whether an engine has a replica left.
func (e *process) usable() bool {
	for _, mode := range e.modes {
		if mode == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

func (w *world) alive(name string) bool {
	n := w.node(name)
	return n != nil && n.alive
}

// linked reports whether data gets from one node to the other.
func (w *world) linked(a, b string) bool {
	return w.alive(a) && w.alive(b) && (a == b || w.reachable(a) && w.reachable(b))
}

// replicaNode is the node of a replica's data.
func (w *world) replicaNode(name string) string {
	if r := w.replicaNamed(name); r != nil {
		return r.Spec.NodeID
	}
	return ""
}

// replicaNamed finds a replica, also one that was just deleted.
func (w *world) replicaNamed(name string) *v1beta2.Replica {
	for _, s := range w.replicas {
		for _, r := range []*v1beta2.Replica{s.now, s.before} {
			if r != nil && r.Name == name {
				return r
			}
		}
	}
	return nil
}

// serves reports whether a replica runs where an engine can reach it.
func (w *world) serves(replica string, e *process) bool {
	at := w.replicaNode(replica)
	return w.plane.find(kindReplica, replica, at) != nil && w.linked(e.node, at)
}

// live are the engines that can do input and output.
func (w *world) live() []*process {
	var out []*process
	for _, x := range w.plane.running {
		if x.kind == kindEngine && !x.failed && w.alive(x.node) {
			out = append(out, x)
		}
	}
	return out
}

// led reports whether I/O gets to an engine: a v2 engine needs a frontend that leads to it, if the volume has any.
func (w *world) led(e *process) bool {
	return !w.v2() || len(current(w.frontends)) == 0 || len(w.leading(e)) > 0
}

// leading are the nodes of the frontends whose I/O gets to an engine.
func (w *world) leading(e *process) []string {
	var out []string
	for _, x := range w.plane.running {
		if x.kind == kindFrontend && x.target == e && !x.held && w.linked(x.node, e.node) {
			out = append(out, x.node)
		}
	}
	return out
}

// io is one write by each engine in use. Of two engines of a migration that is the one on the volume's wanted node, and both observe the
// replicas that do not answer.
func (w *world) io() {
	engines := w.live()
	w.rng.Shuffle(len(engines), func(i, j int) { engines[i], engines[j] = engines[j], engines[i] })
	for _, e := range engines {
		if e.reported && (!w.migrating() || e.node == w.volume.now.Spec.NodeID) && w.led(e) {
			w.writeThrough(e, engines)
		}
	}
}

// together reports whether two engines are those of a migration, between nodes that reach each other.
func (w *world) together(a, b *process) bool {
	return w.volume.now.Spec.Migratable && a.name != b.name && w.linked(a.node, b.node)
}

// writeThrough writes to every replica that the engine can reach; it drops the others, unless it can reach none.
func (w *world) writeThrough(e *process, all []*process) {
	var lost, kept []string
	for _, name := range slices.Sorted(maps.Keys(e.modes)) {
		switch {
		case e.modes[name] == v1beta2.ReplicaModeERR:
		case !w.serves(name, e):
			lost = append(lost, name)
		case e.modes[name] == v1beta2.ReplicaModeRW:
			kept = append(kept, name)
		}
	}
	if len(kept) == 0 {
		w.fails(e)
		return
	}
	for _, name := range lost {
		w.drop(e, name)
		for _, other := range all {
			if other != e && w.together(e, other) {
				w.dropUnreachable(other, w.data(name))
			}
		}
	}
	newest := noData
	for _, name := range kept {
		newest = max(newest, w.plane.versions[w.data(name)])
	}
	w.plane.writes++
	for _, name := range kept {
		if w.plane.versions[w.data(name)] == newest {
			w.plane.versions[w.data(name)] = w.plane.writes
		}
	}
}

// dropUnreachable drops the replica of a directory from an engine that cannot reach it either.
func (w *world) dropUnreachable(e *process, directory string) {
	for _, name := range slices.Sorted(maps.Keys(e.modes)) {
		if w.data(name) == directory && !w.serves(name, e) {
			w.drop(e, name)
		}
	}
}

// kill ends everything on a node.
func (w *world) kill(node string) {
	for _, x := range slices.Clone(w.plane.running) {
		if x.node == node {
			x.failed = true
			w.end(x)
		}
	}
}
