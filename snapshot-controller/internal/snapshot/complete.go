package snapshot

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// Complete returns what a Snapshot's metadata lacks, ready to be merged into it: the label of its volume, the finalizer, and
// the owner reference, lists with what they have already. A volume that does not exist cannot be referred to. false:
// nothing is lacking.
func Complete(s *v1beta2.Snapshot, v *v1beta2.Volume) (metav1.ObjectMeta, bool) {
	var out metav1.ObjectMeta
	lacking := false
	if label := v1beta2.LabelValue(s.Spec.Volume); s.Labels[v1beta2.LabelVolume] != label {
		out.Labels, lacking = map[string]string{v1beta2.LabelVolume: label}, true
	}
	if !slices.Contains(s.Finalizers, v1beta2.Finalizer) {
		out.Finalizers, lacking = append(slices.Clone(s.Finalizers), v1beta2.Finalizer), true
	}
	if v != nil && UID(s) == "" {
		out.OwnerReferences, lacking = append(slices.Clone(s.OwnerReferences), v1beta2.OwnedBy(v)), true
	}
	return out, lacking
}
