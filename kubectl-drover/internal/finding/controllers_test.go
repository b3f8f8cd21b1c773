package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/kubectl-drover/internal/worldtest"
)

// led is a world in which each controller leads, and has the pods that it wants.
func led() *world.World {
	w := empty()
	for _, c := range controllers {
		w.Leases.Items = append(w.Leases.Items, heldBy(c.Name, c.Name+"-1_uid_random", time.Second))
		d := appsv1.Deployment{ObjectMeta: named(c.Name)}
		d.Spec.Replicas, d.Status.ReadyReplicas = ptr.To[int32](2), 2
		d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "drover/" + c.Name + ":v0.2.0"}}
		w.Deployments.Items = append(w.Deployments.Items, d)
	}
	return w
}

func heldBy(controller, identity string, renewed time.Duration) coordinationv1.Lease {
	return worldtest.Lease(LeaseOf(controller), identity, renewed)
}

func TestAControllerThatDoesNotLeadIsShownWithWhatDoesNotHappen(t *testing.T) {
	const show = "kubectl -n longhorn-system get deployments,pods -l app=attach-controller"
	for name, test := range map[string]struct {
		change                  func(*world.World)
		object, reason, message string
		severity                Severity
		since                   string
		nothing                 bool
	}{
		"all lead": {change: func(*world.World) {}, nothing: true},
		"leases could not be read": {change: func(w *world.World) {
			w.Leases.Items, w.Unread = nil, []world.Unread{{Resource: leases}}
		}, nothing: true},
		"neither Deployment nor lease": {change: func(w *world.World) {
			w.Leases.Items, w.Deployments.Items = w.Leases.Items[1:], w.Deployments.Items[1:]
		}, object: "Deployment attach-controller", reason: ReasonNotInstalled, severity: Info,
			message: "It has neither a Deployment nor a lease, so nothing is attached, detached, rebuilt or placed."},
		"a Deployment without a lease": {change: func(w *world.World) { w.Leases.Items = w.Leases.Items[1:] },
			object: "Lease drover-attach-controller", reason: ReasonNoLeader, severity: Critical,
			message: "No attach-controller leads, so nothing is attached, detached, rebuilt or placed."},
		"a Deployment that is scaled to 0 and never led": {change: func(w *world.World) {
			w.Leases.Items = w.Leases.Items[1:]
			w.Deployments.Items[0].Spec.Replicas, w.Deployments.Items[0].Status.ReadyReplicas = ptr.To[int32](0), 0
		}, object: "Lease drover-attach-controller", reason: ReasonNoLeader, severity: Critical,
			message: "No attach-controller leads, so nothing is attached, detached, rebuilt or placed. Its Deployment is scaled to 0."},
		"a lease of another namespace": {change: func(w *world.World) { w.Leases.Items[0].Namespace = "staging" },
			object: "Lease drover-attach-controller", reason: ReasonNoLeader, severity: Critical,
			message: "No attach-controller leads, so nothing is attached, detached, rebuilt or placed."},
		"a lease that no one ever held": {change: func(w *world.World) { w.Leases.Items[0].Spec = coordinationv1.LeaseSpec{} },
			object: "Lease drover-attach-controller", reason: ReasonNoLeader, severity: Critical,
			message: "No attach-controller leads, so nothing is attached, detached, rebuilt or placed."},
		"a lease that was released, of a controller outside pods": {change: func(w *world.World) {
			w.Leases.Items[0], w.Deployments.Items = heldBy("attach-controller", "", time.Second), w.Deployments.Items[1:]
		}, object: "Lease drover-attach-controller", reason: ReasonNoLeader, severity: Critical, since: "2026-08-01T11:59:59Z",
			message: "No attach-controller leads, so nothing is attached, detached, rebuilt or placed. Its lease was renewed at " +
				"2026-08-01T11:59:59Z, and the clock of the API server is at 2026-08-01T12:00:00Z."},
		"a lease that was not renewed for more than twice its duration": {change: func(w *world.World) {
			w.Leases.Items[0] = heldBy("attach-controller", "attach-controller-1_uid_random", 31*time.Second)
		}, object: "Lease drover-attach-controller", reason: ReasonNoLeader, severity: Critical, since: "2026-08-01T11:59:29Z",
			message: "No attach-controller leads, so nothing is attached, detached, rebuilt or placed. Its lease was renewed at " +
				"2026-08-01T11:59:29Z, and the clock of the API server is at 2026-08-01T12:00:00Z."},
		"a lease that is late, but the clocks may differ": {change: func(w *world.World) {
			w.Leases.Items[0] = heldBy("attach-controller", "attach-controller-1_uid_random", 30*time.Second)
		}, nothing: true},
		"one of two pods is not ready": {change: func(w *world.World) { w.Deployments.Items[0].Status.ReadyReplicas = 1 },
			object: "Deployment attach-controller", reason: ReasonNotReady, severity: Warning, message: "1 of 2 pods are ready."},
		"a Deployment that does not name its number of pods wants one": {change: func(w *world.World) {
			w.Deployments.Items[0].Spec.Replicas, w.Deployments.Items[0].Status.ReadyReplicas = nil, 0
		}, object: "Deployment attach-controller", reason: ReasonNotReady, severity: Warning, message: "0 of 1 pods are ready."},
	} {
		t.Run(name, func(t *testing.T) {
			w := led()
			test.change(w)
			found := Leaders(w)
			if test.nothing {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, test.object, found[0].Object.String())
			require.Equal(t, test.reason, found[0].Reason)
			require.Equal(t, test.message, found[0].Message)
			require.Equal(t, test.severity, found[0].Severity)
			require.Equal(t, test.since, found[0].Since)
			require.Equal(t, show, found[0].Command)
		})
	}
}

// While a Deployment is rolled out, its image is not yet that of the pod that leads.
func TestALeaderThatWroteNoVersionHasThatOfItsPod(t *testing.T) {
	w := led()
	w.Pods.Items = []corev1.Pod{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "staging", Name: "attach-controller-1"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "drover/attach-controller:v9"}}}},
		{ObjectMeta: named("attach-controller-1"),
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "drover/attach-controller:v0.1.0"}}}},
	}
	first := Controllers(w)[0]
	require.Equal(t, "attach-controller-1", first.Leader)
	require.Equal(t, "v0.1.0", first.Version)
	require.Equal(t, "v0.2.0", Controllers(w)[1].Version, "whose pod is not known")

	w.Pods.Items[1].Spec.Containers = nil
	require.Empty(t, Controllers(w)[0].Version)
}
