package instance

import (
	"fmt"
)

// The CLI API versions whose flags this package knows, and the flags that each one added.
const (
	cliOldest          = 3
	cliSizes           = 6  // engine: --size, --current-size
	cliTimeouts        = 7  // engine: time-outs; both: --data-server-protocol, --unmap-mark-…; replica: --volume-name behind the command
	cliInstanceNames   = 9  // --volume-name and --engine-instance-name in front; --replica-instance-name
	cliSnapshotLimits  = 10 // --snapshot-max-count, --snapshot-max-size
	cliRebuildLimit    = 11 // engine: --rebuild-sync-concurrent-limit
	cliEncrypted       = 12 // replica: --encrypted; backends have room for the LUKS header
	cliNewest          = 12
	engineImageNotRead = 0
)

// EngineImage is the state of the image of a v1 process.
type EngineImage struct {
	// Name is the EngineImage's; Found is false where there is no such object.
	Name  string
	Found bool
	// CLI is the version of its command line, CLIMin the oldest version whose flags it still accepts; 0 is not known.
	CLI, CLIMin int
	// Deployed reports that the pod that puts its binary on the node is ready.
	Deployed bool
}

// cli is the version whose flags the image's processes get. A newer image than this package knows gets the flags of the newest version
// known, which it must understand.
func (w World) cli() int { return min(w.EngineImage.CLI, cliNewest) }

// withoutImage refuses v1 processes of an image whose CLI version is not known: a flag that the image does not know ends a replica at once
// and has no effect on an engine, and a missing flag may change the data that the process serves.
func withoutImage(w World) *refusal {
	i, o := w.EngineImage, w.Object
	if w.v2() || w.frontend() {
		return nil
	}
	switch {
	case !i.Found:
		return &refusal{ReasonImageUnknown, fmt.Sprintf("There is no EngineImage %s of image %s, so it is not known which flags its "+
			"processes understand: create it, or set the image of the volume to a deployed one (kubectl get lhei).", i.Name, o.Image)}
	case i.CLI == engineImageNotRead:
		return &refusal{ReasonImageUnknown, fmt.Sprintf("EngineImage %s of image %s does not report its CLI API version "+
			"(status.cliAPIVersion): the start waits until a pod has read it; condition ready of the EngineImage shows what that waits for.",
			i.Name, o.Image)}
	case i.CLI < cliOldest, i.CLI > cliNewest && (i.CLIMin <= 0 || i.CLIMin > cliNewest):
		return &refusal{ReasonImageUnknown, fmt.Sprintf("EngineImage %s of image %s has CLI API version %d (oldest %d); im-monitor "+
			"knows the flags of versions %d to %d: use an image with one of these.",
			i.Name, o.Image, i.CLI, i.CLIMin, cliOldest, cliNewest)}
	case !i.Deployed:
		return &refusal{ReasonImageNotDeployed, fmt.Sprintf("EngineImage %s is not deployed on node %s (status.nodeDeploymentMap): its "+
			"binary may be missing there. The start waits until the pod of DaemonSet engine-image-%s on that node is ready; condition ready "+
			"of the EngineImage shows why it is not.", i.Name, o.NodeID, i.Name)}
	}
	return nil
}
