package engineimage

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// keptWithoutReference is how long an image without a reference stays, as in Longhorn.
const keptWithoutReference = time.Hour

// recountPause is how long a deletion waits that only Volumes hold up: their events are not watched.
const recountPause = time.Minute

// Decide decides about the EngineImage.
func Decide(w World) Verdict {
	switch {
	case w.Image == nil && isDefault(w.Settings.EngineImage, w.Name):
		return Verdict{Create: newEngineImage(w)}
	case w.Image == nil:
		return Verdict{}
	case w.Image.DeletionTimestamp != nil && w.heldBy() == "":
		return end(w)
	}
	v := care(w)
	if left, ends := w.endsIn(); ends {
		switch {
		case left > 0:
			v.After = sooner(v.After, left)
		case !w.References.Fresh:
			v.Recount = true
		default:
			v.Delete = true
		}
	}
	if w.Image.DeletionTimestamp != nil {
		v.After = sooner(v.After, recountPause)
	}
	return v
}

// isDefault reports whether the default image has an EngineImage of that name.
func isDefault(image, name string) bool { return image != "" && v1beta2.EngineImageName(image) == name }

// newEngineImage returns the EngineImage of the default image.
func newEngineImage(w World) *v1beta2.EngineImage {
	return &v1beta2.EngineImage{
		ObjectMeta: metav1.ObjectMeta{Name: w.Name, Namespace: w.Options.Namespace, Labels: labels(w.Name),
			Finalizers: []string{v1beta2.Finalizer}},
		Spec: v1beta2.EngineImageSpec{Image: w.Settings.EngineImage},
	}
}

// labels returns the labels of an EngineImage and of its DaemonSet.
func labels(name string) map[string]string {
	out := selector(name)
	out[v1beta2.LabelManagedBy] = v1beta2.ManagedByLonghornManager
	return out
}

// selector returns the labels of the DaemonSet's pods.
func selector(name string) map[string]string {
	return map[string]string{v1beta2.LabelComponent: v1beta2.ComponentEngineImage, v1beta2.LabelEngineImage: name}
}

// Marked returns the labels and finalizers that an EngineImage has once it is cared for.
func Marked(image *v1beta2.EngineImage) (withLabels map[string]string, finalizers []string) {
	withLabels = labels(image.Name)
	finalizers = slices.Clone(image.Finalizers)
	if !slices.Contains(finalizers, v1beta2.Finalizer) {
		finalizers = append(finalizers, v1beta2.Finalizer)
	}
	return withLabels, finalizers
}

// isMarked reports whether the EngineImage has its labels and its finalizer.
func (w World) isMarked() bool {
	for key, value := range labels(w.Name) {
		if w.Image.Labels[key] != value {
			return false
		}
	}
	return slices.Contains(w.Image.Finalizers, v1beta2.Finalizer)
}

// care decides about an image that stays.
func care(w World) Verdict {
	v := Verdict{Status: status(w), Mark: w.Image.DeletionTimestamp == nil && !w.isMarked(), After: w.References.Rest}
	if w.Image.Spec.Image == "" {
		return v
	}
	v.DaemonSet = w.daemonSetAction()
	if v.DaemonSet == Leave && w.Outdated() {
		v.After = sooner(v.After, idlePause)
	}
	v.VersionPod, v.Failed = w.versionPodAction()
	if v.VersionPod == Leave && !w.versionsKnown() && w.VersionPod == nil {
		v.After = sooner(v.After, w.RetryAt.Sub(w.Now))
	}
	return v
}

// heldBy returns the reason for which an image stays that is being deleted; "" if nothing needs it.
func (w World) heldBy() string {
	switch {
	case isDefault(w.Settings.EngineImage, w.Name):
		return v1beta2.ReasonIsDefaultImage
	case w.References.Count > 0:
		return v1beta2.ReasonReferenced
	}
	return ""
}

// end lets an image go that nothing needs: its DaemonSet, whose pods take the binary with them, and then its finalizer.
func end(w World) Verdict {
	v := Verdict{Status: w.Image.Status}
	if !w.References.Fresh {
		v.Recount = true
		return v
	}
	if w.VersionPod != nil {
		v.VersionPod = Delete
	}
	switch {
	case w.DaemonSet == nil:
		v.Release = true
	case w.DaemonSet.DeletionTimestamp == nil:
		v.DaemonSet = Delete
	}
	return v
}

// endsIn reports whether the image goes once it has been without a reference for long enough, and when. While no default image is chosen,
// none goes.
func (w World) endsIn() (left time.Duration, ends bool) {
	if w.Image.DeletionTimestamp != nil || w.Settings.EngineImage == "" || w.heldBy() != "" {
		return 0, false
	}
	since, err := time.Parse(time.RFC3339, w.Image.Status.NoRefSince)
	if err != nil {
		return keptWithoutReference, true
	}
	return max(since.Add(keptWithoutReference).Sub(w.Now), 0), true
}

// sooner returns the shorter of two waits; 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}
