package recurringcontroller

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

var size = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}

// claimed makes a volume, and a PersistentVolumeClaim with the labels that a PersistentVolume binds to it.
func (w *world) claimed(volume string, own, labels map[string]string) *corev1.PersistentVolumeClaim {
	w.t.Helper()
	w.volume(volume, own)
	claim := w.claim(volume, labels)
	w.bind(volume, claim)
	return claim
}

func (w *world) claim(volume string, labels map[string]string) *corev1.PersistentVolumeClaim {
	w.t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: volume, Labels: labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: volume,
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	require.NoError(w.t, w.admin.Create(w.t.Context(), claim))
	return claim
}

// bind makes the PersistentVolume of the volume, bound to the claim.
func (w *world) bind(volume string, claim *corev1.PersistentVolumeClaim) {
	w.t.Helper()
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: volume},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			ClaimRef: &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: "driver.longhorn.io", VolumeHandle: volume,
			}},
		},
	}
	require.NoError(w.t, w.admin.Create(w.t.Context(), pv))
}

// label gives the claim exactly these labels.
func (w *world) label(claim *corev1.PersistentVolumeClaim, labels map[string]string) {
	w.t.Helper()
	now := claim.DeepCopy()
	now.Labels = labels
	require.NoError(w.t, w.admin.Patch(w.t.Context(), now, client.MergeFrom(claim)))
	*claim = *now
}

// keepsOne waits until of two snapshots of the volume that the job made the newer one is left: the job, which keeps one, is for it.
func (w *world) keepsOne(volume string) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		w.take()
		assert.Equal(c, []string{volume + "-newer"}, w.namesOf(volume))
	}, patience, poll)
}

func (w *world) namesOf(volume string) []string {
	var out []string
	for _, s := range w.snapshots()[volume] {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return out
}

// made makes two snapshots of the volume that the job took.
func (w *world) made(volume string) {
	w.storedFor("often", volume+"-older", volume, 2, true)
	w.storedFor("often", volume+"-newer", volume, 1, true)
}

// A claim that is the source of its volume's jobs names them: those that the volume itself names do not count then. What a
// person changes of the claim counts at once, and nothing is written on the volume.
func TestAClaimNamesTheJobsOfItsVolume(t *testing.T) {
	w := newWorld(t)
	source := map[string]string{
		"recurring-job.longhorn.io/source": v1beta2.RecurringEnabled, v1beta2.LabelRecurringJobPrefix + "often": v1beta2.RecurringEnabled,
	}
	other := map[string]string{
		"recurring-job.longhorn.io/source": v1beta2.RecurringEnabled, v1beta2.LabelRecurringGroupPrefix + "other": v1beta2.RecurringEnabled,
	}
	often := map[string]string{v1beta2.LabelRecurringJobPrefix + "often": v1beta2.RecurringEnabled}
	fromStart, later, not, instead, unbound := w.namespace+"-start", w.namespace+"-later", w.namespace+"-not", w.namespace+"-instead",
		w.namespace+"-unbound"
	w.claimed(fromStart, nil, source)
	changed := w.claimed(later, nil, nil)
	w.claimed(not, nil, often)
	ended := w.claimed(instead, often, other)
	w.volume(unbound, nil)
	waits := w.claim(unbound, source)
	for _, volume := range []string{fromStart, later, not, instead, unbound} {
		w.made(volume)
	}
	p := w.startCut(cut.Point{}, nil)
	w.createJobThatKeepsOne("often")
	w.keepsOne(fromStart)
	for _, volume := range []string{later, not, instead, unbound} {
		require.Len(t, w.namesOf(volume), 2, volume)
	}
	w.label(changed, source)
	w.keepsOne(later)
	w.bind(unbound, waits)
	w.keepsOne(unbound)
	require.Len(t, w.namesOf(instead), 2, "its claim names another group")
	w.label(ended, often)
	w.keepsOne(instead)
	require.Len(t, w.namesOf(not), 2, "its claim is not the source")
	for _, write := range p.Client.Writes() {
		require.NotContains(t, write, " Volume", "nothing is written on a volume")
	}
}
