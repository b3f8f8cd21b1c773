package model

import (
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// disturb is one change from outside.
func (w *world) disturb() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	if w.moves && w.chance(0.3) {
		w.disturbMove(n)
		return
	}
	switch w.kind {
	case plain:
		w.disturbPlainly(n)
	case idle:
		w.disturbIdly(n)
	default:
		w.disturbAnyhow(n)
	}
}

func (w *world) disturbAnyhow(n *node) {
	switch w.rng.IntN(19) {
	case 0, 1, 2:
		w.movePod(n.name)
	case 3:
		w.changeMind()
	case 4, 5:
		w.newWork()
	case 6, 7:
		w.fail(n)
	case 8:
		w.mark(n, "cordoned", func(o *v1beta2.Node) { o.Status.Conditions = nodeConditions(!v1beta2.IsNodeDown(o), !cordoned(o)) })
	case 9:
		w.mark(n, "upgrading", func(o *v1beta2.Node) { o.Spec.UpgradeRequested = !o.Spec.UpgradeRequested })
	case 11, 12:
		w.crash()
	case 13:
		w.enlarge()
	case 14:
		if w.shared() {
			write(w, &w.share, nil, func(s *v1beta2.ShareManager) { s.Status.OwnerID = n.name })
		}
	case 15:
		w.restoreAgain()
	case 10, 16:
		w.evict(n)
	case 17:
		j := w.users.jobs[w.rng.IntN(len(w.users.jobs))]
		j.gone = true
	case 18:
		w.deleteAny()
	}
}

func (w *world) disturbPlainly(n *node) {
	switch w.rng.IntN(6) {
	case 0, 1:
		w.movePod(n.name)
	case 2:
		w.fail(n)
	case 3:
		w.crash()
	case 4:
		w.collapse()
	case 5:
		w.deleteAny()
	}
}

func (w *world) disturbIdly(n *node) {
	switch w.rng.IntN(6) {
	case 0, 1:
		w.newWork()
	case 2:
		w.restoreAgain()
	case 3:
		w.evict(n)
	case 4:
		w.fail(n)
	case 5:
		w.enlarge()
	}
}

func (w *world) evict(n *node) {
	w.mark(n, "evicted", func(o *v1beta2.Node) { o.Spec.EvictionRequested = !o.Spec.EvictionRequested })
}

// movePod adds or removes a pod. Of an RWO volume Kubernetes mostly lets one node have it at a time, of a migratable one two.
func (w *world) movePod(node string) {
	pods := w.users.pods
	if pods[node] {
		delete(pods, node)
		w.trace("a pod leaves %s", node)
		return
	}
	if w.volume.now.Spec.AccessMode == v1beta2.AccessModeReadWriteOnce && w.chance(0.75) {
		clear(pods)
	}
	if !w.volume.now.Spec.Migratable || len(pods) < 2 {
		pods[node] = true
		w.trace("a pod comes to %s", node)
	}
}

// changeMind changes the request of a user, who may choose a node that does not exist, or none.
func (w *world) changeMind() {
	if w.users.person != nil || w.chance(0.3) {
		w.users.person = nil
		return
	}
	nodes := []string{"", "node-9"}
	for _, n := range w.nodes {
		nodes = append(nodes, n.name)
	}
	w.users.person = &wish{nodes[w.rng.IntN(len(nodes))], []string{v1beta2.TicketValueFalse, v1beta2.TicketValueTrue}[w.rng.IntN(2)]}
	w.trace("a person wants the volume on %q, frontend off: %s", w.users.person.node, w.users.person.disable)
}

func (w *world) newWork() {
	switch w.rng.IntN(8) {
	case 0:
		if len(w.users.clones) < 2 {
			w.newClone()
		}
	case 1:
		if len(w.users.exports) < 2 {
			w.newExport()
		}
	default:
		j := w.users.jobs[w.rng.IntN(len(w.users.jobs))]
		if _, leftover := w.attachment.now.Spec.AttachmentTickets[j.id()]; !leftover || !j.gone {
			j.left, j.gone = 1+w.rng.IntN(3), false
			w.trace("a %s is wanted", j.kind)
		}
	}
}

// fail stops a node, with its instances or only from the network, or returns it.
func (w *world) fail(n *node) {
	if !n.reachable {
		w.giveBack(n)
		return
	}
	for _, x := range w.plane.running {
		if x.node == n.name {
			w.noted(x)
		}
	}
	n.reachable, n.alive = false, w.chance(0.5)
	w.trace("%s is gone, its processes live: %v", n.name, n.alive)
	if !n.alive {
		w.kill(n.name)
	}
}

func (w *world) giveBack(n *node) {
	w.io()
	w.missed(n)
	n.reachable, n.alive = true, true
	w.trace("%s is back", n.name)
}

func (w *world) mark(n *node, what string, change func(*v1beta2.Node)) {
	w.trace("%s: %s changes", n.name, what)
	write(w, &n.slot, nil, change)
}

// watchNode is im-monitor's part for a node: its object shows the node's state, a little later.
func (w *world) watchNode(n *node) {
	if v1beta2.IsNodeDown(n.now) == n.reachable {
		w.trace("monitor: %s down=%v", n.name, !n.reachable)
		write(w, &n.slot, nil, func(o *v1beta2.Node) { o.Status.Conditions = nodeConditions(n.reachable, cordoned(o)) })
	}
}

// crash ends one instance.
func (w *world) crash() {
	if len(w.plane.running) == 0 {
		return
	}
	x := w.plane.running[w.rng.IntN(len(w.plane.running))]
	if !w.reachable(x.node) {
		return
	}
	w.trace("%s %s on %s crashes", x.kind, x.name, x.node)
	w.noted(x)
	x.failed = true // it closes nothing
	w.end(x)
}

// restoreAgain starts another restore of a volume from a backup.
func (w *world) restoreAgain() {
	if w.volume.now.Spec.FromBackup == "" {
		w.trace("the volume is to be restored")
		write(w, &w.volume, nil, func(v *v1beta2.Volume) { v.Spec.FromBackup = fromBackup })
	}
}

// collapse stops an engine's replicas, one after the other, and then its node.
func (w *world) collapse() {
	engines := w.live()
	if len(engines) == 0 {
		return
	}
	e := engines[w.rng.IntN(len(engines))]
	for _, name := range slices.Sorted(maps.Keys(e.modes)) {
		x := w.plane.find(kindReplica, name, w.replicaNode(name))
		if x != nil && w.reachable(x.node) && w.chance(0.5) {
			w.trace("replica %s crashes", name)
			w.end(x)
			w.io()
		}
	}
	if n := w.node(e.node); n.reachable && w.chance(0.7) {
		w.fail(n)
	}
}

func (w *world) enlarge() {
	write(w, &w.volume, nil, func(v *v1beta2.Volume) {
		v.Spec.Size += unit
		v.Status.AcceptedSize = v.Spec.Size // there is room
	})
	w.trace("the volume is to have %d units", w.volume.now.Spec.Size/unit)
}

// evaluateOrphans ends instances that no object wants where they run.
func (w *world) evaluateOrphans() {
	for _, x := range w.plane.running {
		if w.reachable(x.node) && !w.claimed(x) {
			w.trace("orphans: ends %s %s on %s", x.kind, x.name, x.node)
			w.end(x)
			return
		}
	}
}

// claimed reports whether an object of that name exists, or is to exist.
func (w *world) claimed(x *process) bool {
	var there []instance
	for _, e := range current(w.engines) {
		there = append(there, ofEngine(e))
	}
	for _, f := range current(w.frontends) {
		there = append(there, ofFrontend(f))
	}
	for _, r := range current(w.replicas) {
		there = append(there, ofReplica(r))
	}
	for _, i := range there {
		if i.kind == x.kind && i.name == x.name && i.node == x.node {
			return true
		}
	}
	return false
}
