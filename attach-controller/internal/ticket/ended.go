package ticket

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// ended are the tickets of others whose time is over (ATT-4), and when the next one's will be.
func (w World) ended() ([]Change, time.Time) {
	var out []Change
	var requeueAt time.Time
	tickets := w.tickets()
	for _, id := range slices.Sorted(maps.Keys(tickets)) {
		t := tickets[id]
		if ours(id, t) {
			continue
		}
		owner, why := w.over(id, t)
		if why != "" {
			out = append(out, Change{ID: id, Before: &t, Why: why, Owner: owner})
			continue
		}
		if at, ok := expiry(t); ok && (requeueAt.IsZero() || at.Before(requeueAt)) {
			requeueAt = at
		}
	}
	return out, requeueAt
}

// over returns why a ticket ends now, and with which owner; "": it stays. The first rule that applies wins.
func (w World) over(id string, t v1beta2.AttachmentTicket) (Owner, Why) {
	if owner, uid, ok := OwnerOf(w.Volume.Name, id, t); ok {
		presence, known := w.Owners[owner]
		if known && (!presence.Exists || uid != "" && presence.UID != uid) {
			return owner, WhyOwnerGone
		}
	}
	if at, ok := expiry(t); ok && !w.Now.Before(at) {
		return Owner{}, WhyExpired
	}
	if node := w.Nodes[t.NodeID]; w.Settings.DetachWhenCordoned && t.Type == v1beta2.AttacherLonghornAPI &&
		v1beta2.IsNodeCordoned(node) {
		return Owner{}, WhyCordoned
	}
	return Owner{}, ""
}

// expiry is when a ticket without an owner ends; ok is false if it does not, or the time cannot be read.
func expiry(t v1beta2.AttachmentTicket) (at time.Time, ok bool) {
	if t.Parameters[v1beta2.TicketOwnerKind] != "" {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, t.Parameters[v1beta2.TicketExpiresAt])
	return at, err == nil
}

// OwnerOf returns the object that a ticket of the volume ends with, and its UID if the ticket has it. Without owner parameters, the owner
// is known for tickets of controllers, whose id is the object's name, and for those of the Kubernetes attach, whose id is a hash of volume
// and node. Every other ticket ends when its creator removes it.
func OwnerOf(volume, id string, t v1beta2.AttachmentTicket) (owner Owner, uid types.UID, ok bool) {
	owner = Owner{Kind: t.Parameters[v1beta2.TicketOwnerKind], Name: t.Parameters[v1beta2.TicketOwnerName]}
	if owner.Kind != "" || owner.Name != "" {
		return owner, types.UID(t.Parameters[v1beta2.TicketOwnerUID]), owner.Name != "" && slices.Contains(OwnerKinds, owner.Kind)
	}
	if t.Type == v1beta2.AttacherCSI && id != "" && id == kubernetesName(volume, t.NodeID) {
		return Owner{KindKubernetesAttachment, id}, "", true
	}
	object, named := strings.CutPrefix(id, t.Type+"-")
	if !named || v1beta2.TicketID(t.Type, object) != id || len(id) == cutLength {
		return Owner{}, "", false
	}
	switch t.Type {
	case v1beta2.AttacherSnapshot:
		return Owner{KindSnapshot, object}, "", true
	case v1beta2.AttacherBackup:
		return Owner{KindBackup, object}, "", true
	}
	return Owner{}, "", false
}

// cutLength is the length of the id of an object whose name was too long for it: such an id is not the name of an object.
const cutLength = 220 + 1 + 32

// OwnerKinds are the kinds that an owner may have. A ticket whose owner is of another kind is left alone.
var OwnerKinds = []string{KindVolume, KindSnapshot, KindBackup, KindShareManager, KindDataSource, KindKubernetesAttachment}

// kubernetesName is the name that Kubernetes gives its VolumeAttachment of one volume and node.
func kubernetesName(volume, node string) string {
	sum := sha256.Sum256([]byte(volume + v1beta2.CSIDriver + node))
	return "csi-" + hex.EncodeToString(sum[:])
}
