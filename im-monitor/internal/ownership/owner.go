// Package ownership decides status.ownerID: the node that answers for an object. It knows nodes as down, ready or
// neither, and nothing of what the object is.
package ownership

// World is what the owner of one object depends on.
type World struct {
	// NodeID is the object's spec.nodeID; Owner its status.ownerID.
	NodeID, Owner string
	// Unreported reports that the object gets its first status yet, and its first owner in the same write.
	Unreported bool
	// Down reports whether NodeID's node is proven down or does not exist.
	Down bool
	// OwnerReady reports whether Owner's node is ready.
	OwnerReady bool
	// FirstReady is the first ready node by name, "" where there is none. It is read only where Down.
	FirstReady string
}

// Owner is the object's node while that is not down. Else it is the node that serves in its place: the present owner
// for as long as it is ready, so that a third node's coming and going moves nothing, else the first ready node by name.
// An object without a node, and one that no one can serve, has no owner.
func Owner(w World) string {
	switch {
	case w.NodeID == "":
		return ""
	case !w.Down && w.Owner == "" && w.Unreported:
		return ""
	case !w.Down:
		return w.NodeID
	case w.Owner != w.NodeID && w.OwnerReady:
		return w.Owner
	case w.FirstReady != w.NodeID:
		return w.FirstReady
	}
	return ""
}
