package v1beta2

import (
	"crypto/sha256"
	"encoding/hex"
)

// Types of attachment tickets: who wants the volume attached.
const (
	AttacherCSI              = "csi-attacher"
	AttacherLonghornAPI      = "longhorn-api"
	AttacherSnapshot         = "snapshot-controller"
	AttacherBackup           = "backup-controller"
	AttacherClone            = "volume-clone-controller"
	AttacherSalvage          = "salvage-controller"
	AttacherShareManager     = "share-manager-controller"
	AttacherRestore          = "volume-restore-controller"
	AttacherEviction         = "volume-eviction-controller"
	AttacherExpansion        = "volume-expansion-controller"
	AttacherBackingImageData = "bim-ds-controller"
	AttacherRebuilding       = "volume-rebuilding-controller"
	// AttacherLonghornUpgrader is the type of the tickets that an upgrade of Longhorn itself left for volumes that were attached before
	// there were tickets. It is served like one of a person.
	AttacherLonghornUpgrader = "longhorn-upgrader"
)

// Keys and values of AttachmentTicket.parameters.
const (
	// TicketDisableFrontend is "true", "false" or "any"; absent means "false".
	TicketDisableFrontend = "disableFrontend"
	// TicketLastAttachedBy is what Volume.spec.lastAttachedBy becomes.
	TicketLastAttachedBy = "lastAttachedBy"
	// TicketOwnerKind, TicketOwnerName and TicketOwnerUID name the object that the ticket ends with.
	TicketOwnerKind = "ownerKind"
	TicketOwnerName = "ownerName"
	TicketOwnerUID  = "ownerUID"
	// TicketExpiresAt (RFC 3339) is when a ticket without an owner ends.
	TicketExpiresAt = "expiresAt"

	TicketValueTrue  = "true"
	TicketValueFalse = "false"
	TicketValueAny   = "any"
)

// TicketParameters are the keys of AttachmentTicket.parameters.
func TicketParameters() []string {
	return []string{TicketDisableFrontend, TicketLastAttachedBy, TicketOwnerKind, TicketOwnerName, TicketOwnerUID, TicketExpiresAt}
}

// TicketPriority returns how early a ticket of this type is served: higher first, 0 for types that this version does not
// know.
func TicketPriority(attacher string) int {
	switch attacher {
	case AttacherRestore, AttacherExpansion:
		return 2000
	case AttacherLonghornAPI, AttacherLonghornUpgrader:
		return 1000
	case AttacherCSI, AttacherSalvage, AttacherShareManager:
		return 900
	case AttacherSnapshot, AttacherBackup, AttacherClone, AttacherEviction, AttacherRebuilding, AttacherBackingImageData:
		return 800
	}
	return 0
}

// IsShared reports whether pods reach a volume by its share, so that their own tickets do not attach it.
func IsShared(v *Volume) bool {
	return v.Spec.AccessMode == AccessModeReadWriteMany && !v.Spec.Migratable
}

// WantsShare reports whether a ticket wants the share of a volume, and does not attach the volume itself: it is the ticket of a pod.
func WantsShare(v *Volume, attacher string) bool { return attacher == AttacherCSI && IsShared(v) }

// IsUserTicket reports whether an attacher's tickets are for users of the volume: pods, people, shares. All other tickets are for the
// volume's own work.
func IsUserTicket(attacher string) bool {
	switch attacher {
	case AttacherCSI, AttacherLonghornAPI, AttacherLonghornUpgrader, AttacherShareManager:
		return true
	}
	return false
}

// TicketID returns the id of a controller's ticket for one object: `<attacher>-<object>`, cut to 220 characters and ended
// by a hash where it is longer than 253.
func TicketID(attacher, object string) string {
	const limit, kept = 253, 220
	id := attacher + "-" + object
	if len(id) <= limit {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return id[:kept] + "-" + hex.EncodeToString(sum[:])[:32]
}
