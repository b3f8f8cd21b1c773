package model

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// users are the users of the volume.
type users struct {
	// pods are the nodes on which a pod wants it.
	pods map[string]bool
	// person is the request of a user at the user interface; nil: there is none.
	person *wish
	// jobs are the snapshots and backups that need the volume attached.
	jobs []*job
	// clones are volumes that are filled from this one, exports images that are exported from it.
	clones  []v1beta2.Volume
	exports []v1beta2.BackingImageDataSource
}

type wish struct{ node, disable string }

// job is a Snapshot or Backup object with work left. A deleted one leaves its ticket to others.
type job struct {
	attacher, kind, name string
	left                 int
	gone                 bool
}

func (j *job) owner() ticket.Owner { return ticket.Owner{Kind: j.kind, Name: j.name} }

func (j *job) id() string { return v1beta2.TicketID(j.attacher, j.name) }

func (w *world) newUsers() users {
	return users{pods: map[string]bool{}, jobs: []*job{
		{attacher: v1beta2.AttacherSnapshot, kind: ticket.KindSnapshot, name: "s"},
		{attacher: v1beta2.AttacherBackup, kind: ticket.KindBackup, name: "b"},
	}}
}

// ask changes the tickets of pods, people and jobs to what they want, one at a time.
func (w *world) ask() {
	wanted, stored := w.wantedTickets(), w.attachment.now.Spec.AttachmentTickets
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if _, stays := wanted[id]; !stays && w.usersOwn(stored[id].Type) {
			w.putTickets(map[string]*v1beta2.AttachmentTicket{id: nil})
			return
		}
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		before, has := stored[id]
		if t := wanted[id]; !has || before.NodeID != t.NodeID || !maps.Equal(before.Parameters, t.Parameters) {
			t.ID, t.Generation = id, max(before.Generation, w.attachment.now.Status.AttachmentTicketStatuses[id].Generation)+1
			w.putTickets(map[string]*v1beta2.AttachmentTicket{id: &t})
			return
		}
	}
}

// wantedTickets are the tickets that pods, people and jobs want now, by their names.
func (w *world) wantedTickets() map[string]v1beta2.AttachmentTicket {
	wanted := map[string]v1beta2.AttachmentTicket{}
	for _, node := range slices.Sorted(maps.Keys(w.users.pods)) {
		if w.users.pods[node] {
			wanted["csi-"+node] = asked(v1beta2.AttacherCSI, node, v1beta2.TicketValueFalse)
		}
	}
	if p := w.users.person; p != nil {
		wanted[ticket.UITicket] = asked(v1beta2.AttacherLonghornAPI, p.node, p.disable)
	}
	stored := w.attachment.now.Spec.AttachmentTickets
	for _, j := range w.users.jobs {
		if before, has := stored[j.id()]; j.left > 0 && !j.gone {
			t := asked(j.attacher, w.place(before.NodeID), v1beta2.TicketValueAny)
			t.Parameters[v1beta2.TicketOwnerKind], t.Parameters[v1beta2.TicketOwnerName] = j.kind, j.name
			wanted[j.id()] = t
		} else if has && j.gone { // its creator is gone, too: the leftover is ATT-4's
			wanted[j.id()] = before
		}
	}
	return wanted
}

func (w *world) usersOwn(attacher string) bool {
	switch attacher {
	case v1beta2.AttacherCSI, v1beta2.AttacherLonghornAPI, v1beta2.AttacherSnapshot, v1beta2.AttacherBackup:
		return true
	}
	return false
}

func asked(attacher, node, disable string) v1beta2.AttachmentTicket {
	return v1beta2.AttachmentTicket{Type: attacher, NodeID: node, Parameters: map[string]string{v1beta2.TicketDisableFrontend: disable}}
}

// putTickets writes tickets, and removes those that are nil.
func (w *world) putTickets(changes map[string]*v1beta2.AttachmentTicket) bool {
	return write(w, &w.attachment, nil, func(a *v1beta2.VolumeAttachment) {
		next := maps.Clone(a.Spec.AttachmentTickets)
		if next == nil {
			next = map[string]v1beta2.AttachmentTicket{}
		}
		for _, id := range slices.Sorted(maps.Keys(changes)) {
			if t := changes[id]; t != nil {
				w.trace("ticket %s/%d on %q, frontend off: %s", id, t.Generation, t.NodeID, t.Parameters[v1beta2.TicketDisableFrontend])
				next[id] = *t
				continue
			}
			w.trace("ticket %s goes", id)
			delete(next, id)
		}
		a.Spec.AttachmentTickets = next
		a.Generation++
	})
}

// place is row P as the creators of snapshots and backups apply it.
func (w *world) place(before string) string {
	if at := read(w, &w.volume).Spec.NodeID; at != "" && !w.down(at) {
		return at
	}
	candidates := []string{before}
	for _, n := range w.nodes {
		candidates = append(candidates, n.name)
	}
	for _, name := range candidates {
		if w.candidate(name) {
			return name
		}
	}
	return ""
}

// candidate reports whether a node can take background work: it is ready, not cordoned, and has a replica to read.
func (w *world) candidate(name string) bool {
	n := w.node(name)
	if n == nil || v1beta2.IsNodeDown(n.now) || n.now.Spec.UpgradeRequested || cordoned(n.now) {
		return false
	}
	return slices.ContainsFunc(current(w.replicas), func(r *v1beta2.Replica) bool { return r.Spec.NodeID == name && w.holdsData(r) })
}

func cordoned(n *v1beta2.Node) bool {
	return conditions.IsFalse(n.Status.Conditions, v1beta2.NodeSchedulable)
}

// work does a step of the work for which the volume is attached.
func (w *world) work() {
	for _, j := range w.users.jobs {
		if j.left > 0 && w.served(j.id()) {
			j.left--
			w.dirty = true
			w.trace("work: %s %s has %d left", j.kind, j.name, j.left)
		}
	}
	for i := range w.users.clones {
		c := &w.users.clones[i]
		if c.Status.CloneStatus.State == "" && w.served(v1beta2.TicketID(v1beta2.AttacherClone, c.Name)) {
			w.trace("work: clone %s is done", c.Name)
			c.Status.CloneStatus.State, w.dirty = v1beta2.CloneCompleted, true
		}
	}
	for i := range w.users.exports {
		x := &w.users.exports[i]
		if !x.Spec.FileTransferred && w.served(v1beta2.TicketID(v1beta2.AttacherBackingImageData, x.Name)) {
			w.trace("work: export %s is done", x.Name)
			x.Spec.FileTransferred, w.dirty = true, true
		}
	}
}

// served reports whether a ticket is satisfied, and the volume runs there.
func (w *world) served(id string) bool {
	t, exists := w.attachment.now.Spec.AttachmentTickets[id]
	answer := w.attachment.now.Status.AttachmentTicketStatuses[id]
	if !exists || !answer.Satisfied || answer.Generation != t.Generation || !w.reachable(t.NodeID) {
		return false
	}
	return w.runs(t.NodeID)
}

// moveShare simulates the share manager: the share is on an existing node.
func (w *world) moveShare() {
	if at := w.share.now.Status.OwnerID; !w.shared() || at != "" && !w.down(at) {
		return
	}
	for _, n := range w.nodes {
		if !v1beta2.IsNodeDown(n.now) && !cordoned(n.now) {
			w.trace("share: runs on %s", n.name)
			write(w, &w.share, nil, func(s *v1beta2.ShareManager) { s.Status.OwnerID = n.name })
			return
		}
	}
}

// newClone and newExport are others who read this volume.
func (w *world) newClone() {
	c := v1beta2.Volume{}
	c.Name = fmt.Sprintf("clone-%d", len(w.users.clones))
	c.UID, c.Spec.DataSource = types.UID(c.Name), "snap://"+volumeName+"/s"
	c.Status.State = v1beta2.VolumeStateAttached // by a ticket of its own
	w.users.clones = append(w.users.clones, c)
}

func (w *world) newExport() {
	x := v1beta2.BackingImageDataSource{}
	x.Name = fmt.Sprintf("image-%d", len(w.users.exports))
	x.UID = types.UID(x.Name)
	x.Spec.SourceType, x.Spec.Parameters = "export-from-volume", map[string]string{"volume-name": volumeName}
	w.users.exports = append(w.users.exports, x)
}
