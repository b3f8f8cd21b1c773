package preflight

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/managerimage"
)

// unfitImage names a new image that serves no v2 volumes or is older than the old one, and an old image whose pod takes the block devices
// of the node's volumes with it.
func unfitImage(w World) string {
	node := w.Cluster.Nodes[w.Node]
	if !node.Exists() {
		return ""
	}
	next := managerimage.Describe(w.Target, w.Cluster.Profiles)
	if next.Refusal != "" {
		return strings.ToLower(next.Refusal[:1]) + next.Refusal[1:]
	}
	old := node.Old(w.Target)
	if old == nil {
		return ""
	}
	switch last := managerimage.Describe(old.Spec.Image, w.Cluster.Profiles); {
	case next.OlderThan(last):
		return fmt.Sprintf("%s is older than %s, which the node runs; an older data engine may not read what a newer one wrote. Set "+
			"default-instance-manager-image to a newer image.", w.Target, old.Spec.Image)
	case last.RemovesDevices && len(w.Cluster.On(w.Node)) > 0:
		return fmt.Sprintf("the end of a pod of image %s removes the block devices of the node; detach the volumes that use the node.",
			old.Spec.Image)
	}
	return ""
}
