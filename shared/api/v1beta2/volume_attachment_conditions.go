package v1beta2

// Condition types of a VolumeAttachment and of its tickets.
const (
	// VolumeAttachmentReady (writer attach-controller) is True while the volume is where it is wanted. The message names
	// the holder, what blocks, and the next step.
	VolumeAttachmentReady = "Ready"
	// TicketSatisfied (writer attach-controller) is True while the volume is attached as the ticket asks.
	TicketSatisfied = "Satisfied"
	// TicketValid (writer attach-controller) is False where something in the ticket cannot be read; it is absent otherwise. The API server
	// refuses such tickets, but may have stored them before.
	TicketValid = "Valid"
)

// Reasons of TicketValid.
const (
	// ReasonExpiresAtUnreadable surfaces when the parameter expiresAt is no time: the ticket never ends by itself.
	ReasonExpiresAtUnreadable = "ExpiresAtUnreadable"
	// ReasonTypeUnknown surfaces when the type of the ticket is unknown: it is served after all others.
	ReasonTypeUnknown = "TypeUnknown"
)

// Reasons of VolumeAttachmentReady.
const (
	// ReasonAttached surfaces when the wanted holder has the volume.
	ReasonAttached = "Attached"
	// ReasonDetached surfaces when no ticket wants the volume and it is detached.
	ReasonDetached = "Detached"
	// ReasonAttaching surfaces while the volume is being attached; also of a ticket.
	ReasonAttaching = "Attaching"
	// ReasonDetaching surfaces while the volume is being detached.
	ReasonDetaching = "Detaching"
	// ReasonBlocked surfaces while something else blocks it; the message names that.
	ReasonBlocked = "Blocked"
	// ReasonNoCandidate surfaces while there are tickets and none of them can be served.
	ReasonNoCandidate = "NoCandidate"
	// ReasonFaulted surfaces while no replica of the volume can be used.
	ReasonFaulted = "Faulted"
)

// Reasons of TicketSatisfied beside Attaching and Migrating.
const (
	// ReasonSatisfied surfaces when the volume is attached to the ticket's node, with the frontend as asked.
	ReasonSatisfied = "Satisfied"
	// ReasonAttachedWithIncompatibleParameters surfaces when the volume is on the ticket's node with the other frontend.
	ReasonAttachedWithIncompatibleParameters = "AttachedWithIncompatibleParameters"
	// ReasonAttachedElsewhere surfaces while another node holds the volume for another ticket.
	ReasonAttachedElsewhere = "AttachedElsewhere"
	// ReasonWaitingForDetach surfaces while the volume still leaves its former node.
	ReasonWaitingForDetach = "WaitingForDetach"
	// ReasonLowerPriority surfaces while a ticket of higher priority comes first.
	ReasonLowerPriority = "LowerPriority"
	// ReasonWaitingForData surfaces while the volume still gets its data from a backup or from another volume.
	ReasonWaitingForData = "WaitingForData"
	// ReasonDataNodeDown surfaces while the volume gets its data from a backup, or from a second volume, on a node that is down.
	ReasonDataNodeDown = "DataNodeDown"
	// ReasonNoNode surfaces when the ticket names no node.
	ReasonNoNode = "NoNode"
	// ReasonNodeUnknown surfaces when there is no Node of that name.
	ReasonNodeUnknown = "NodeUnknown"
	// ReasonNodeNotReady surfaces while the node of a ticket, or of a v2 disk, is not ready.
	ReasonNodeNotReady = "NodeNotReady"
	// ReasonNodeCordoned surfaces when a person's ticket names a cordoned node.
	ReasonNodeCordoned = "NodeCordoned"
	// ReasonNodeUpgrading surfaces while the data engine of the ticket's node is being upgraded.
	ReasonNodeUpgrading = "NodeUpgrading"
	// ReasonDataLocality surfaces when a strict-local volume's replica is on another node.
	ReasonDataLocality = "DataLocality"
	// ReasonTooManyTickets surfaces when two nodes hold tickets of a migratable volume already.
	ReasonTooManyTickets = "TooManyTickets"
	// ReasonVolumeFaulted surfaces while no replica of the volume can be used.
	ReasonVolumeFaulted = "VolumeFaulted"
	// ReasonMigrationFailed surfaces on the ticket to whose node the volume migrates while the engine there has failed and is tried again.
	ReasonMigrationFailed = "MigrationFailed"
	// ReasonTargetElsewhere surfaces on the ticket to whose node a volume is to migrate while spec.targetNodeID of the Volume is set and no
	// upgrade of its node is under way, which would clear that: a person clears it, and the volume migrates.
	ReasonTargetElsewhere = "TargetElsewhere"
	// ReasonWaitingForShare surfaces on a CSI ticket of an RWX volume until its share runs.
	ReasonWaitingForShare = "WaitingForShare"
)
