package instancemanager

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// refusal reports why no pod may be made: a reason of PodReady and a sentence. The reason is empty if a pod may be made. On a cordoned node
// only the first pod of an instance manager waits: volumes elsewhere may need the replicas of a node that was drained.
func refusal(w World) (reason, message string) {
	switch image := w.image(); {
	case w.v2() && image.Refusal != "":
		return v1beta2.ReasonPodRefused, image.Refusal
	case w.Settings.Pods.StorageNetwork != "":
		return v1beta2.ReasonPodRefused, fmt.Sprintf("Setting storage-network names %s, and pods of im-monitor join no second network: "+
			"empty the setting, so that data moves over the network of the cluster.", w.Settings.Pods.StorageNetwork)
	case w.Kubernetes != nil && w.Kubernetes.Cordoned && isNew(w) && !(w.v2() && w.upgraded()):
		return v1beta2.ReasonKubernetesNodeCordoned, fmt.Sprintf("The Kubernetes node %s is cordoned: the first pod is made once "+
			"it is uncordoned.", w.InstanceManager.Spec.NodeID)
	}
	return "", ""
}

// successorRefused reports why the image of the upgrade would get no pod; empty if it would.
func (w World) successorRefused() string {
	next := w
	manager := *w.InstanceManager
	manager.Spec.Image = w.Upgrade.Image
	next.InstanceManager = &manager
	_, message := refusal(next)
	return message
}

// takesDevices reports why the end of the pod would take the block devices of its volumes with it; empty if it would not.
func (w World) takesDevices() string {
	if !w.v2() || !w.image().RemovesDevices {
		return ""
	}
	return fmt.Sprintf("the end of a pod of image %s removes the block devices of node %s: detach its volumes",
		w.InstanceManager.Spec.Image, w.InstanceManager.Spec.NodeID)
}
