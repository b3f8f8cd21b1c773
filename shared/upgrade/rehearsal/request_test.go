package rehearsal

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A rehearsal changes nothing, and reports each kind of request that the API server refuses once.
func TestARehearsalReportsWhatIsRefusedAndChangesNothing(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	here := &v1beta2.Node{ObjectMeta: meta("here")}
	require.NoError(t, admin.Create(t.Context(), here))
	before := here.DeepCopy()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"longhorn.io"}, Resources: []string{"nodes"}, Verbs: []string{"patch", "create"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"delete"}},
	}
	dry := client.NewDryRunClient(testkit.Client(t, testkit.Identity(t, namespace, "im-monitor", rules)))
	refused, err := run(t.Context(), dry, []Request{
		Patch(here, map[string]any{"upgradeRequested": true}), // it may
		Create(&v1beta2.Node{ObjectMeta: meta("here")}),       // it may: the object is there already
		Create(&v1beta2.Node{ObjectMeta: meta("new")}),        // it may
		Delete(&corev1.Pod{ObjectMeta: meta("gone")}),         // it may: the object is gone
		Delete(here), Delete(&v1beta2.Node{ObjectMeta: meta("another")}), // it may not
		PatchStatus(here, map[string]any{"zone": "a"}),                                                // it may not
		Patch(here, map[string]any{"disks": map[string]any{"d": map[string]any{"diskType": "tape"}}}), // the definition refuses it
	})
	require.NoError(t, err)
	require.Len(t, refused, 3, "%v", refused)
	require.Contains(t, refused[0], "delete Node here: ")
	require.Contains(t, refused[0], "cannot delete resource")
	require.Contains(t, refused[0], "(and 1 more of this kind)")
	require.Contains(t, refused[1], "patch the status of Node here: ")
	require.Contains(t, refused[2], "patch Node here: ")
	require.Contains(t, refused[2], "Unsupported value")
	require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(here), here))
	require.Equal(t, before, here)
	require.Error(t, admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "new"}, &v1beta2.Node{}))
}

func TestALongAnswerIsCutBetweenCharacters(t *testing.T) {
	require.Equal(t, "short", shorten("short", 10))
	cut := shorten(strings.Repeat("ä", 10), 5)
	require.Equal(t, "ää…", cut)
}

func TestAScopeLeavesOutWhatIsUpgradedOrNotNamed(t *testing.T) {
	m := &v1beta2.DataEngineUpgradeManager{}
	m.Status.UpgradedNodes = []string{"a"}
	require.False(t, scopeOf(m).Has("a"))
	require.True(t, scopeOf(m).Has("b"))
	require.False(t, scopeOf(m).Has(""))
	m.Spec.Nodes = []string{"c"}
	require.False(t, scopeOf(m).Has("b"))
	require.True(t, scopeOf(m).Has("c"))
}

// A webhook denies with a code of its own choice, also with the codes of answers that refuse nothing.
func TestAWebhookThatDeniesRefusesWhateverItsCode(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	var code atomic.Int32
	code.Store(http.StatusConflict)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID,
			Result: &metav1.Status{Code: code.Load(), Message: "not during office hours"}}
		_ = json.NewEncoder(w).Encode(review) // a client that has gone needs no answer
	}))
	defer server.Close()
	none, exact := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Exact
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: namespace + ".example.com"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: namespace + ".example.com", SideEffects: &none, MatchPolicy: &exact,
			AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{v1beta2.GroupVersion.Group}, APIVersions: []string{"*"},
					Resources: []string{"nodes"}}}}}}}
	require.NoError(t, admin.Create(t.Context(), hook))
	defer func() { require.NoError(t, admin.Delete(t.Context(), hook)) }()
	refusals := func() []string {
		refused, err := run(t.Context(), client.NewDryRunClient(admin),
			[]Request{Create(&v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "new"}})})
		require.NoError(t, err)
		return refused
	}
	require.Eventually(t, func() bool { return len(refusals()) > 0 }, 30*time.Second, 50*time.Millisecond, "the webhook never comes in force")
	require.Contains(t, refusals()[0], "not during office hours")
	code.Store(http.StatusNotFound)
	require.Contains(t, refusals()[0], "not during office hours")
	server.Close()
	require.Contains(t, refusals()[0], "failed calling webhook")

	require.False(t, isRefusal(apierrors.NewInternalError(errors.New("etcdserver: leader changed"))), "it is tried again")
}
