package runkit_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/takeover"
	"drover.dev/drover/shared/testkit"
)

// leftBehind creates a webhook as longhorn-manager does, without a server, for a kind that no other test here writes.
func leftBehind(t *testing.T, namespace string) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	fail, none, scope := admissionv1.Fail, admissionv1.SideEffectClassNone, admissionv1.AllScopes
	c := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: takeover.ValidatingWebhook},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "validator.longhorn.io", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: namespace,
				Name: "longhorn-admission-webhook"}},
			Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"persistentvolumeclaims"}, Scope: &scope}}},
		}}}
	require.NoError(t, testkit.Admin(t).Create(t.Context(), c))
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(testkit.Admin(t).Delete(context.Background(), c)))
	})
	return c
}

// N1: the webhooks of a longhorn-manager that does not run refuse every write; readiness reports it, and with the webhook it is gone.
func TestReadinessNamesWebhooksThatRefuseEveryWrite(t *testing.T) {
	namespace := testkit.Namespace(t)
	p := start(t, namespace)
	require.Eventually(t, func() bool { return p.ready() == 200 }, patience, tick)
	left := leftBehind(t, namespace)
	require.Eventually(t, func() bool { return p.ready() == 500 }, patience, tick)
	require.Contains(t, p.probe("/readyz"), "ValidatingWebhookConfiguration longhorn-webhook-validator refuses every write")
	require.Contains(t, p.probe("/readyz"), "kubectl delete validatingwebhookconfigurations.admissionregistration.k8s.io "+
		"longhorn-webhook-validator")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "refused"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
	require.Eventually(t, func() bool { // the API server needs a moment to see it
		err := testkit.Admin(t).Create(t.Context(), claim, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "validator.longhorn.io")
	}, patience, tick, "the webhook does refuse")
	require.NoError(t, testkit.Admin(t).Delete(t.Context(), left))
	require.Eventually(t, func() bool { return p.ready() == 200 }, patience, tick)
}

// check runs --check-take-over.
func check(t *testing.T, namespace string) (string, error) {
	t.Helper()
	command := runkit.Command(runkit.Program{Name: "tester"})
	var out bytes.Buffer
	command.SetOut(&out)
	command.SetArgs([]string{"--check-take-over", "--kubeconfig=" + adminKubeconfig(t), "--namespace=" + namespace})
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestTheCheckTellsWhatStandsAgainstTakingOver(t *testing.T) {
	namespace := testkit.Namespace(t)
	output, err := check(t, namespace)
	require.NoError(t, err)
	require.Equal(t, "Nothing stands against taking over namespace "+namespace+".\n", output)

	leftBehind(t, namespace)
	one := int32(1)
	labels := map[string]string{"app": "csi-attacher"}
	require.NoError(t, testkit.Admin(t).Create(t.Context(),
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "csi-attacher"},
			Spec: appsv1.DeploymentSpec{Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}))
	output, err = check(t, namespace)
	require.ErrorContains(t, err, "2 things stand against taking over namespace "+namespace)
	require.Contains(t, output, " 1. ValidatingWebhookConfiguration longhorn-webhook-validator: refuses each write")
	require.Contains(t, output, " 2. Deployment csi-attacher: attaches over an API that is gone")
	require.Contains(t, output, "    kubectl -n "+namespace+" scale deployments.apps csi-attacher --replicas=0\n")
}
