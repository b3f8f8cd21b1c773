package rehearsal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
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
