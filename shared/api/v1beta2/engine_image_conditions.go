package v1beta2

// EngineImageReady is the condition type of an EngineImage (writer im-monitor), in lower case as Longhorn has it: the binary is on each
// ready node, and its versions are known.
const EngineImageReady = "ready"

// Reasons of EngineImageReady.
const (
	// ReasonDeployed surfaces when the binary is on every ready node.
	ReasonDeployed = "Deployed"
	// ReasonDaemonSetMissing surfaces while the DaemonSet of the image is not there yet.
	ReasonDaemonSetMissing = "DaemonSetMissing"
	// ReasonPodsNotReady surfaces while a ready node has no ready pod of the DaemonSet; the message names nodes and pods.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonBinaryUnread surfaces while the versions of the binary are not known yet.
	ReasonBinaryUnread = "BinaryUnread"
	// ReasonBinaryIncompatible surfaces while the command line of the binary is too old or too new.
	ReasonBinaryIncompatible = "BinaryIncompatible"
	// ReasonImageMissing surfaces while the object names no image.
	ReasonImageMissing = "ImageMissing"
)

// EngineImageRemoved is the condition type of an EngineImage that is being deleted (writer im-monitor). It is False while the image stays
// because it is needed.
const EngineImageRemoved = "Removed"

// Reasons of EngineImageRemoved.
const (
	// ReasonIsDefaultImage surfaces while the setting default-engine-image names the image.
	ReasonIsDefaultImage = "IsDefaultImage"
	// ReasonReferenced surfaces while a Volume, Engine or Replica names or runs the image.
	ReasonReferenced = "Referenced"
)

// States of an EngineImage.
const (
	EngineImageDeploying = "deploying"
	EngineImageDeployed  = "deployed"
)
