package v1beta2

// VolumeScheduled (writer attach-controller) is True while every replica that the volume wants has a place of the size that is wanted, and
// no rebuild waits.
const VolumeScheduled = "Scheduled"

// Reasons of VolumeScheduled.
const (
	// ReasonPlaced surfaces when every wanted replica has a place.
	ReasonPlaced = "Placed"
	// ReasonWaitingForNode surfaces while a strict-local volume was never attached: its replica goes where it is attached.
	ReasonWaitingForNode = "WaitingForNode"
	// ReasonNoUsableNode surfaces when no node takes new replicas; the message counts why.
	ReasonNoUsableNode = "NoUsableNode"
	// ReasonNoUsableDisk surfaces when no disk of the usable nodes takes new replicas.
	ReasonNoUsableDisk = "NoUsableDisk"
	// ReasonTagsNotFound surfaces when no node, or no disk, has the tags that the volume selects by.
	ReasonTagsNotFound = "TagsNotFound"
	// ReasonSizeMissing surfaces when the volume has no size, or less than nothing.
	ReasonSizeMissing = "SizeMissing"
	// ReasonInsufficientSpace surfaces when no disk has the space, or the disk of a replica none for a larger size; the message
	// states how much it lacks, the best one where there are several.
	ReasonInsufficientSpace = "InsufficientSpace"
	// ReasonAntiAffinity surfaces when replicas of the volume are on every node, zone or disk that would fit.
	ReasonAntiAffinity = "AntiAffinity"
	// ReasonRebuildLimit surfaces while a replica waits until fewer are rebuilt on its node; the message names the nodes.
	ReasonRebuildLimit = "RebuildLimit"
	// ReasonRebuildHeld surfaces while a replica has a place, and its engine does not take it in; the message states why, and who ends that.
	ReasonRebuildHeld = "RebuildHeld"
	// ReasonRebuildFails surfaces while rebuilds of the volume fail; the message has their number, the last error, and when the next begins.
	ReasonRebuildFails = "RebuildFails"
)

// WaitsForRebuild reports whether a rebuild waits by a reason of VolumeScheduled: the replica has a place, or will get a place.
func WaitsForRebuild(reason string) bool {
	return reason == ReasonRebuildLimit || reason == ReasonRebuildHeld || reason == ReasonRebuildFails
}
