package instancemanager

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func status(w World) Status {
	old := w.InstanceManager.Status
	out := Status{
		State: state(w),
		Version: Version{API: old.APIVersion, APIMin: old.APIMinVersion,
			Proxy: old.ProxyAPIVersion, ProxyMin: old.ProxyAPIMinVersion},
	}
	if out.State == v1beta2.InstanceManagerStateRunning {
		out.IP = w.Pod.Status.PodIP
	}
	if w.Inventory.Known {
		out.Version = w.Inventory.Version
	}
	set := func(c v1beta2.Condition) {
		out.Conditions = conditions.Set(out.Conditions, c, w.Now)
	}
	out.Conditions = conditions.Owned(old.Conditions, Types()...)
	set(nodeReady(w))
	set(podCondition(w))
	set(settingSynced(w))
	setOrRemove := func(kind string, c *v1beta2.Condition) {
		if c != nil {
			set(*c)
		} else {
			out.Conditions = conditions.Remove(out.Conditions, kind)
		}
	}
	setOrRemove(v1beta2.InstanceManagerReachable, reachable(w))
	setOrRemove(v1beta2.InstanceManagerFrontendRecords, frontendRecords(w))
	return out
}

// Changed reports whether the status that is wanted differs from the one that is stored.
func (s Status) Changed(im *v1beta2.InstanceManager) bool {
	old := im.Status
	stored := Version{API: old.APIVersion, APIMin: old.APIMinVersion, Proxy: old.ProxyAPIVersion, ProxyMin: old.ProxyAPIMinVersion}
	return s.State != old.CurrentState || s.IP != old.IP || s.Version != stored ||
		!conditions.Equal(s.Conditions, conditions.Owned(old.Conditions, Types()...))
}

// state is the summary for users and other controllers. Where a pod is about to be made it is reported to be starting, since the
// status is written after the pod.
func state(w World) string {
	switch {
	case w.Kubernetes.Down():
		return v1beta2.InstanceManagerStateUnknown
	case w.Pod == nil && decidePod(w).Pod == CreatePod:
		return v1beta2.InstanceManagerStateStarting
	case w.Pod == nil && (blocked(w) || isNew(w)):
		return v1beta2.InstanceManagerStateStopped
	case w.Pod == nil || w.Pod.DeletionTimestamp != nil || PodEnded(w.Pod):
		return v1beta2.InstanceManagerStateError
	case PodReady(w.Pod):
		return v1beta2.InstanceManagerStateRunning
	}
	return v1beta2.InstanceManagerStateStarting
}

func isNew(w World) bool {
	s := w.InstanceManager.Status.CurrentState
	return s == "" || s == v1beta2.InstanceManagerStateStopped
}

func nodeReady(w World) v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.InstanceManagerNodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady,
		Message: fmt.Sprintf("The Kubernetes node %s is ready.", w.InstanceManager.Spec.NodeID)}
	switch {
	case w.Kubernetes == nil:
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeGone
		c.Message = fmt.Sprintf("No Kubernetes node %s exists.", w.InstanceManager.Spec.NodeID)
	case !w.Kubernetes.Ready:
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady
		c.Message = fmt.Sprintf("The Kubernetes node %s is not ready (%s); what runs there is unknown.", w.InstanceManager.Spec.NodeID,
			w.Kubernetes.NotReadyMessage)
	}
	return c
}

func podCondition(w World) v1beta2.Condition {
	no := func(reason, message string) v1beta2.Condition {
		return v1beta2.Condition{Type: v1beta2.InstanceManagerPodReady, Status: v1beta2.ConditionFalse, Reason: reason, Message: message}
	}
	refused, why := refusal(w)
	switch {
	case w.Pod == nil && w.Kubernetes.Down():
		return no(v1beta2.ReasonPodMissing, "There is no pod; one is made when the node is back.")
	case w.Pod == nil && refused != "":
		return no(refused, why)
	case w.Pod == nil && blocked(w):
		return no(v1beta2.ReasonPodBlocked, "Waiting for the node's other v2 instance managers to end: a node runs one at a time."+
			blockers(w))
	case w.Pod == nil && decidePod(w).Pod == CreatePod:
		return no(v1beta2.ReasonPodStarting, "The pod was made and is not ready yet.")
	case w.Pod == nil && w.RetryAt.After(w.Now):
		return no(v1beta2.ReasonPodFailed, "The pod ended by itself several times in a row; another one is made after a pause. Look at "+
			"its logs and events.")
	case w.Pod == nil:
		return no(v1beta2.ReasonPodMissing, "There is no pod.")
	case w.Pod.DeletionTimestamp != nil:
		return no(v1beta2.ReasonPodDeleting, "The pod is being deleted.")
	case PodEnded(w.Pod):
		return no(v1beta2.ReasonPodFailed, "The pod ended by itself"+because(w.Pod)+"; it is replaced.")
	case cannotStart(w.Pod) != "":
		return no(v1beta2.ReasonPodCannotStart, fmt.Sprintf("The pod %s cannot start: %s.", w.Pod.Name, cannotStart(w.Pod)))
	case !PodReady(w.Pod):
		return no(v1beta2.ReasonPodStarting, "The pod is not ready yet"+because(w.Pod)+".")
	}
	return v1beta2.Condition{Type: v1beta2.InstanceManagerPodReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonPodReady,
		Message: "The pod is ready at " + w.Pod.Status.PodIP + "."}
}

// blockers names what keeps the node's other v2 instance managers, and how that ends.
func blockers(w World) string {
	for _, s := range w.Siblings {
		if len(s.Runs) > 0 {
			return fmt.Sprintf(" %s stays while %s on it: upgrade the node live, or detach the volumes (kubectl -n %s get lhe,lhef -o "+
				"wide). What no volume uses any more ends with its pod: kubectl -n %s delete pod %s.", s.Name, naming(s.Runs),
				w.InstanceManager.Namespace,
				w.InstanceManager.Namespace, s.Name)
		}
		if s.PodOnly {
			return fmt.Sprintf(" InstanceManager %s was deleted, and its pod has not ended. If nothing ends that pod: kubectl -n %s delete "+
				"pod %s ends what runs on it.", s.Name, w.InstanceManager.Namespace, s.Name)
		}
	}
	return ""
}

// because repeats what the kubelet reports about the pod, without what changes from try to try.
func because(p *corev1.Pod) string {
	if p.Status.Reason != "" {
		return " (" + p.Status.Reason + ")"
	}
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			return " (" + c.State.Waiting.Reason + ")"
		case c.State.Terminated != nil:
			return fmt.Sprintf(" (%s, exit code %d)", c.State.Terminated.Reason, c.State.Terminated.ExitCode)
		}
	}
	return ""
}

// cannotStart reports what the kubelet could not do to start the pod, without what changes from try to try; empty where it has not failed.
func cannotStart(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting == nil {
			continue
		}
		switch reason := c.State.Waiting.Reason; reason {
		case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable",
			"SignatureValidationFailed":
			return "image " + c.Image + " cannot be pulled"
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError",
			"PostStartHookError":
			return reason
		}
	}
	return ""
}

func settingSynced(w World) v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.InstanceManagerSettingSynced, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSettingsInForce,
		Message: "The image and the settings now in force are used."}
	switch {
	case w.replaced():
		c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, v1beta2.ReasonReplacing, "A live upgrade replaces this instance manager."
		if why := inUse(w); why != "" && w.Pod != nil {
			c.Message = "A live upgrade replaces this instance manager; its pod stays, because " + why + "."
		}
	case !Wanted(w) && w.Pod != nil && standsIn(w):
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonReplacing
		c.Message = fmt.Sprintf("Image %s is wanted, but no instance manager of the node runs it: new v1 instances run here "+
			"until one does.", w.wantedImage())
	case w.Unsettled != "" && (!Wanted(w) || outdated(w)):
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonVolumeUnsettled
		c.Message = fmt.Sprintf("Nothing runs on it and it shall be replaced, but it stays while %s: the volume has a replica on the node.",
			w.Unsettled)
	case !Wanted(w) && !w.Kubernetes.Down():
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonReplacing
		c.Message = "This instance manager is not wanted any more (another image, data engine disabled, or node removed); it goes once " +
			"nothing runs on it."
	case !w.keepsRecords():
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonSettingsChanged
		c.Message = "The pod lacks the mount at /metadata; it is replaced once nothing runs on it."
	case outdated(w):
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonSettingsChanged
		c.Message = "Settings changed after the pod was made; " + whenReplaced(w)
	case leftOut(w) != "":
		c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, v1beta2.ReasonSettingsLeftOut, leftOut(w)
	case wrongLogs(w) != "":
		c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, v1beta2.ReasonLogsNotSet, wrongLogs(w)
	}
	return c
}

// whenReplaced continues a sentence about a pod that has to be replaced.
func whenReplaced(w World) string {
	if offered, lacks := lacksPages(w); lacks {
		return fmt.Sprintf("it stays, because the node offers %d MiB of huge pages and data-engine-memory-size asks for %d MiB.", offered,
			w.Settings.Pods.SPDK.MemoryMiB)
	}
	if reason, message := refusal(w); reason != "" {
		return "it stays, because no other pod may be made. " + message
	}
	return "it is replaced once nothing runs on it."
}

// leftOut names the settings in force that the pod does without, because its image has no option for them; empty if there are none.
func leftOut(w World) string {
	_, settings := arguments(w)
	if len(settings) == 0 {
		return ""
	}
	return fmt.Sprintf("Image %s has no option for %s: its pod runs without. Longhorn 1.12.1 and newer have all options; for an image whose "+
		"tag names no release, declare its profile with the flag --v2-image-profiles.", w.InstanceManager.Spec.Image,
		strings.Join(settings, ", "))
}

// diskPatience is how long a v2 server that loads a disk may be silent: it executes no call until the disk is done.
const diskPatience = 5 * time.Minute

// patience is how long no list may be readable before the server counts as silent.
func patience(w World) time.Duration {
	if w.InstanceManager.Spec.DataEngine == v1beta2.DataEngineV2 && w.Node != nil && w.Node.Status.LoadingDisk() != "" {
		return max(diskPatience, w.Options.UnreachableAfter)
	}
	return w.Options.UnreachableAfter
}

// ownAddress is our end of a connection in the text of an error, "<ip>:<port>->": another port with each attempt.
var ownAddress = regexp.MustCompile(`\S+:\d+->`)

// reachable is nil where there is nothing to reach. Within the grace the old condition stays: a new leader knows nothing
// for a moment, and a link that is cut for a second is no news. After it the message follows the cause.
func reachable(w World) *v1beta2.Condition {
	if !PodReady(w.Pod) {
		return nil
	}
	old := conditions.Get(w.InstanceManager.Status.Conditions, v1beta2.InstanceManagerReachable)
	if w.Inventory.Known {
		return &v1beta2.Condition{Type: v1beta2.InstanceManagerReachable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonAnswering,
			Message: "Whole lists of instances are read."}
	}
	silent := !w.Inventory.UnknownSince.IsZero() && w.Now.Sub(w.Inventory.UnknownSince) >= patience(w)
	if !silent || w.Inventory.Problem == "" && old != nil && old.Status == v1beta2.ConditionFalse {
		return old
	}
	message := "No whole list of instances could be read for " + patience(w).String()
	if w.Inventory.Problem != "" {
		message += " (" + ownAddress.ReplaceAllString(w.Inventory.Problem, "") + ")"
	}
	return &v1beta2.Condition{Type: v1beta2.InstanceManagerReachable, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonNotAnswering,
		Message: message + "; what runs there is unknown, nothing is concluded from it." + closedNetwork(w.Inventory.Problem)}
}

// closedNetwork returns the advice for a server that is silent as behind a NetworkPolicy, which drops packets.
func closedNetwork(problem string) string {
	if !timedOut.MatchString(problem) {
		return ""
	}
	return " If no instance manager of another node answers either, a NetworkPolicy may keep im-monitor out: kubectl drover doctor."
}

// timedOut is the text of an error without any answer.
var timedOut = regexp.MustCompile(`(?i)deadline|timeout|timed out`)
