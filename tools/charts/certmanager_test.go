package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	configuration = "drover-snapshot-controller"
	certificate   = "snapshot-controller-webhook"
)

// withCertManager renders the chart of snapshot-controller whose certificate cert-manager keeps.
func withCertManager(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`{webhook: {certManager: {enabled: true, issuerRef: {name: storage}}}}`), &values))
	rendered, err := render(chartDir("snapshot-controller"), "storage", values)
	require.NoError(t, err)
	return rendered
}

func TestCertManagerKeepsTheCertificateOfTheWebhookAndItsTrust(t *testing.T) {
	rendered := withCertManager(t)
	objects := objects(t, map[string]string{"": rendered["webhook.yaml"]})
	require.Equal(t, map[string]int{"Certificate": 1, "Service": 1, "MutatingWebhookConfiguration": 1, "ValidatingWebhookConfiguration": 1},
		kinds(objects), "cert-manager makes the Secret")
	require.Equal(t, "storage", objects[0].GetNamespace())
	require.Equal(t, map[string]any{
		"secretName": certificate, "dnsNames": []any{certificate + ".storage.svc"},
		"privateKey": map[string]any{"algorithm": "ECDSA", "size": int64(256)}, "usages": []any{"digital signature", "server auth"},
		"issuerRef": map[string]any{"name": "storage", "kind": "Issuer", "group": "cert-manager.io"},
	}, whole(t, objects[0])["spec"])
	for _, object := range objects[2:] {
		require.Equal(t, map[string]string{"cert-manager.io/inject-ca-from": "storage/" + certificate}, object.GetAnnotations(), object.GetKind())
	}
	require.Contains(t, rendered["deployment.yaml"], "        args:\n        - --webhook-certificate-external\n")
}

// whole has its numbers as they are compared.
func whole(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	raw, err := object.MarshalJSON()
	require.NoError(t, err)
	out := &unstructured.Unstructured{}
	require.NoError(t, out.UnmarshalJSON(raw))
	return out.Object
}

// The role is the one without cert-manager, less what the certificate needs.
func TestWithCertManagerNoRightToWriteTheCertificateOrItsTrustIsLeft(t *testing.T) {
	plain, err := render(chartDir("snapshot-controller"), "storage", nil)
	require.NoError(t, err)
	before, after := rights(t, plain["role.yaml"]), rights(t, withCertManager(t)["role.yaml"])
	var gone []rbacv1.PolicyRule
	for _, rule := range before {
		switch {
		case rule.APIGroups[0] == "admissionregistration.k8s.io" && rule.ResourceNames[0] == configuration:
			gone = append(gone, rule)
		case rule.Resources[0] == "secrets":
			require.Equal(t, []string{certificate}, rule.ResourceNames)
			require.Contains(t, rule.Verbs, "patch")
			gone = append(gone, rule)
			rule.Verbs = []string{"list", "watch"}
			require.Contains(t, after, rule)
		default:
			require.Contains(t, after, rule)
		}
	}
	require.Len(t, gone, 2)
	require.Len(t, after, len(before)-1)
}

// rights are the rules of a Role and a ClusterRole.
func rights(t *testing.T, manifest string) (out []rbacv1.PolicyRule) {
	t.Helper()
	roles := objects(t, map[string]string{"": manifest})
	require.Equal(t, map[string]int{"Role": 1, "ClusterRole": 1}, kinds(roles))
	for _, object := range roles {
		require.Equal(t, configuration, object.GetName())
		var role rbacv1.ClusterRole
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role))
		out = append(out, role.Rules...)
	}
	return out
}

// The values of the guide switch it on in the chart of the whole.
func TestTheGuideToCertManagerSwitchesItOn(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs/install.md"))
	require.NoError(t, err)
	_, text, found := strings.Cut(string(guide), "```yaml\n# cert-manager.yaml\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	rendered, err := render(chartDir("drover"), "storage", values)
	require.NoError(t, err)
	require.Contains(t, rendered["charts/snapshot-controller/templates/webhook.yaml"], "kind: Certificate")
}

func TestCertManagerNeedsTheNameOfAnIssuer(t *testing.T) {
	_, err := render(chartDir("snapshot-controller"), "storage", map[string]any{"webhook": map[string]any{
		"certManager": map[string]any{"enabled": true}}})
	require.ErrorContains(t, err, "name")
	require.ErrorContains(t, err, "schema")
}
