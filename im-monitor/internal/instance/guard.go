package instance

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// guard is the last check before a creation: no engine is created while another one of the volume may be live, unless the volume migrates
// or its target moves (ATT-1); then only over replicas that the live one has in mode RW (rule M7). It allows the creation while the peers
// were not read: the check is repeated right before the call.
func guard(w World) (Verdict, bool) {
	if ready := w.Here.Since.Add(w.Settings.Rediscovery); w.v2() && ready.After(w.Now) {
		v := rest(w, ReasonRediscovering, fmt.Sprintf("%s just started and may not list everything yet.", w.Here.InstanceManager))
		v.At = ready
		return v, false
	}
	if v, ok := overData(w); !ok {
		return v, false
	}
	if w.replica() || !w.Peers.Read {
		return Verdict{}, true
	}
	second := w.maySecond()
	for _, peer := range w.Peers.Same {
		if v, ok := beside(w, peer, second); !ok {
			return v, false
		}
	}
	if len(w.Peers.Leftovers) > 0 && !second {
		return rest(w, ReasonUnclaimedLive, fmt.Sprintf("%s of the same volume may still run, and no object of that name exists: delete "+
			"its Orphan; if it has none, see the event NoUUID of its instance manager, and whether that answers, or end its pod.",
			w.Peers.Leftovers[0])), false
	}
	return Verdict{}, true
}

// overData reports whether a v2 replica that was complete may be created although the list lacks it: an empty one in its place would count
// as the volume's data. A server lists what a disk holds only some seconds after it loaded it, so one list is no proof. Where the Node does
// not show that the disk is loaded, the creation is refused for that.
func overData(w World) (Verdict, bool) {
	switch o := w.Object; {
	case !w.OverData() || w.Here.Entry != nil || w.DiskName == "":
		return Verdict{}, true
	case len(w.Here.Unloaded) > 0:
		return rest(w, ReasonIncomplete, unloaded(w.Here)), false
	case w.Here.Absent:
		return rest(w, ReasonDataMissing, fmt.Sprintf("Disk %s of node %s has no data of replica %s, which was complete: an empty one in "+
			"its place would count as the volume's data. If an earlier state of etcd was restored, the data has another name now, see "+
			"the orphans of the volume. Else, if another replica of the volume is complete, delete this one, and it is rebuilt.",
			o.Replica.DiskID, o.NodeID, o.Name)), false
	}
	v := rest(w, ReasonUnproven, fmt.Sprintf("%s does not list the data of this replica, which was complete; one list is no proof.",
		w.Here.InstanceManager))
	v.ExpectAbsence = true
	return v, false
}

// maySecond reports whether the engine may run beside another one: the volume migrates, or its target moves.
func (w World) maySecond() bool {
	return !w.Object.Active && (w.Peers.Migrating || w.v2() && w.engine() && slices.Contains(w.Peers.Targets, w.Object.NodeID))
}

// beside checks a creation against one peer.
func beside(w World, peer Peer, second bool) (Verdict, bool) {
	switch {
	case !peer.live():
	case !second:
		return rest(w, ReasonOtherLive, fmt.Sprintf("%s of the same volume is %s; one at a time, unless the volume migrates.",
			peer.Name, orUnseen(peer.State))), false
	case w.engine():
		if name := w.shared(peer); name != "" {
			return rest(w, ReasonReplicaNotReady, fmt.Sprintf("Replica %s serves engine %s, and a v1 process serves one engine.", name,
				peer.Name)), false
		}
		if name := w.unready(peer); name != "" {
			return rest(w, ReasonReplicaNotReady, fmt.Sprintf("Replica %s is not in mode RW of engine %s.", name, peer.Name)), false
		}
	}
	return Verdict{}, true
}

// live reports whether the peer may do I/O. A peer that is concluded stopped is fenced.
func (p Peer) live() bool {
	return p.Begun || p.State != "" && p.State != v1beta2.InstanceStateStopped
}

// shared returns a v1 replica that this engine would use and a live one has open.
func (w World) shared(peer Peer) string {
	for _, name := range slices.Sorted(maps.Keys(w.Object.Engine.Replicas)) {
		if _, open := peer.Modes[name]; open && !w.v2() {
			return name
		}
	}
	return ""
}

// unready returns a replica that this engine would use and whose data a live one does not have in mode RW. The engine of a v1 migration has
// processes of its own: the live one has another process over the same directory.
func (w World) unready(peer Peer) string {
	for _, name := range slices.Sorted(maps.Keys(w.Object.Engine.Replicas)) {
		over := []string{name}
		if !w.v2() {
			over = w.Peers.SameData[name]
		}
		if !slices.ContainsFunc(over, func(name string) bool { return peer.Modes[name] == v1beta2.ReplicaModeRW }) {
			return name
		}
	}
	return ""
}

func orUnseen(state string) string {
	if state == "" {
		return "not listed yet"
	}
	return state
}
