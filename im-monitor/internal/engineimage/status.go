package engineimage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// mostNamed is how many nodes a message names.
const mostNamed = 3

// status returns the status that the EngineImage is to have. What Longhorn alone writes stays.
func status(w World) v1beta2.EngineImageStatus {
	out := w.Image.Status
	if w.VersionPod != nil && !w.versionsKnown() && hasEnded(w.VersionPod) {
		if versions, problem := answer(w.VersionPod); problem == "" {
			out.EngineVersions = versions
		}
	}
	out.Incompatible = isIncompatible(out.EngineVersions)
	out.NodeDeploymentMap = w.deploymentMap()
	out.State = v1beta2.EngineImageDeploying
	if w.isDeployed() {
		out.State = v1beta2.EngineImageDeployed
	}
	out.RefCount, out.NoRefSince = w.count()
	out.Conditions = conditions.Set(w.Image.Status.Conditions, ready(w, out), w.Now)
	if removed := w.removed(); removed != nil {
		out.Conditions = conditions.Set(out.Conditions, *removed, w.Now)
	} else {
		out.Conditions = conditions.Remove(out.Conditions, v1beta2.EngineImageRemoved)
	}
	return out
}

// Same reports whether two statuses are equal in the fields that im-monitor writes.
func Same(a, b v1beta2.EngineImageStatus) bool {
	return a.EngineVersions == b.EngineVersions && a.Incompatible == b.Incompatible && a.State == b.State && a.RefCount == b.RefCount &&
		a.NoRefSince == b.NoRefSince && maps.Equal(a.NodeDeploymentMap, b.NodeDeploymentMap) && conditions.Equal(a.Conditions, b.Conditions)
}

// deploymentMap reports for each Longhorn Node whether it has a ready pod.
func (w World) deploymentMap() map[string]bool {
	has, out := w.nodesWithBinary(), make(map[string]bool, len(w.Nodes))
	for _, n := range w.Nodes {
		out[n.Name] = has[n.Name]
	}
	return out
}

// nodesWithBinary returns the nodes that have a ready pod of the DaemonSet.
func (w World) nodesWithBinary() map[string]bool {
	out := make(map[string]bool, len(w.Pods))
	for _, p := range w.Pods {
		if p.Ready {
			out[p.Node] = true
		}
	}
	return out
}

// lacking returns the ready nodes that the node selector chooses and that have no ready pod.
func (w World) lacking() (out []string) {
	has := w.nodesWithBinary()
	for _, n := range w.Nodes {
		if n.Ready && w.chooses(n) && !has[n.Name] {
			out = append(out, n.Name)
		}
	}
	return out
}

// chooses reports whether the pods of the DaemonSet may run on a node.
func (w World) chooses(n Node) bool {
	selector := w.Settings.NodeSelector
	if w.DaemonSet != nil {
		selector = w.DaemonSet.Spec.Template.Spec.NodeSelector
	}
	for key, value := range selector {
		if n.Labels[key] != value {
			return false
		}
	}
	return true
}

// isDeployed reports whether every ready node that is chosen has the binary, and any node does.
func (w World) isDeployed() bool {
	return len(w.lacking()) == 0 && slices.ContainsFunc(w.Pods, func(p Pod) bool { return p.Ready })
}

// count returns the number of references, and since when there is none.
func (w World) count() (number int, since string) {
	number = w.References.Count
	switch {
	case number > 0:
		return number, ""
	case w.Image.Status.NoRefSince != "":
		return 0, w.Image.Status.NoRefSince
	}
	return 0, w.Now.UTC().Format(time.RFC3339)
}

// ready returns the condition of that type.
func ready(w World, s v1beta2.EngineImageStatus) v1beta2.Condition {
	no := func(reason, format string, args ...any) v1beta2.Condition {
		return v1beta2.Condition{Type: v1beta2.EngineImageReady, Status: v1beta2.ConditionFalse, Reason: reason,
			Message: fmt.Sprintf(format, args...)}
	}
	image := w.Image.Spec.Image
	switch {
	case image == "":
		return no(v1beta2.ReasonImageMissing, "EngineImage %s names no image: set spec.image, or delete it.", w.Name)
	case w.DaemonSet == nil:
		return no(v1beta2.ReasonDaemonSetMissing, "DaemonSet %s does not exist yet: im-monitor creates it.", DaemonSetName(w.Name))
	case s.Incompatible:
		return no(v1beta2.ReasonBinaryIncompatible, "The binary of image %s has version %d of the command line (oldest %d), and Longhorn uses "+
			"versions %d to %d: use another image for its volumes.", image, s.CLIAPIVersion, s.CLIAPIMinVersion, oldestCLI, newestCLI)
	case !w.isDeployed():
		return no(v1beta2.ReasonPodsNotReady, "The binary of image %s is not on %s. v1 volumes do not start there until its pod of DaemonSet %s "+
			"is ready.", image, w.whereNot(), DaemonSetName(w.Name))
	case s.CLIAPIVersion == 0:
		return no(v1beta2.ReasonBinaryUnread, "The versions of the binary of image %s are not known: %s. No process of it starts before.", image,
			w.unread())
	}
	out := v1beta2.Condition{Type: v1beta2.EngineImageReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonDeployed,
		Message: "The binary of image " + image + " is on every ready node."}
	if w.Outdated() {
		out.Message += " Changed settings of its pods are applied once no process of the image runs: a new pod takes the binary away for a " +
			"moment."
	}
	return out
}

// whereNot names the nodes that lack the binary, with their pods.
func (w World) whereNot() string {
	nodes := w.lacking()
	if len(nodes) == 0 {
		return "any node"
	}
	var out []string
	for _, node := range nodes[:min(len(nodes), mostNamed)] {
		why := "no pod"
		for _, p := range w.Pods {
			if p.Node == node {
				why = strings.TrimSuffix("pod "+p.Name+": "+p.Problem, ": ")
			}
		}
		out = append(out, fmt.Sprintf("node %s (%s)", node, why))
	}
	if more := len(nodes) - mostNamed; more > 0 {
		out = append(out, fmt.Sprintf("%d more nodes", more))
	}
	return strings.Join(out, ", ")
}

// unread explains why the versions are not known.
func (w World) unread() string {
	p := w.VersionPod
	switch {
	case p == nil && w.Now.Before(w.RetryAt):
		return "the last pod that was to read them ended without an answer, and another one follows"
	case p == nil:
		return "a pod will read them"
	}
	if hasEnded(p) {
		if _, problem := answer(p); problem != "" {
			return fmt.Sprintf("pod %s on node %s was to read them: %s", p.Name, p.Spec.NodeName, problem)
		}
	}
	return fmt.Sprintf("pod %s on node %s reads them", p.Name, p.Spec.NodeName)
}

// removed returns the condition of an image that is being deleted and stays; nil for all others.
func (w World) removed() *v1beta2.Condition {
	if w.Image.DeletionTimestamp == nil {
		return nil
	}
	out := &v1beta2.Condition{Type: v1beta2.EngineImageRemoved, Status: v1beta2.ConditionFalse, Reason: w.heldBy()}
	switch out.Reason {
	case "":
		return nil
	case v1beta2.ReasonIsDefaultImage:
		out.Message = fmt.Sprintf("The setting default-engine-image names image %s: set another one before this one goes.", w.Image.Spec.Image)
	default:
		out.Message = fmt.Sprintf("%d Volumes, Engines and Replicas name image %s or run it: give their volumes another image, or delete them.",
			w.References.Count, w.Image.Spec.Image)
	}
	return out
}
