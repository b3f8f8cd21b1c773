package shelltest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

// binary is the ServiceAccount's name.
const binary = "im-monitor"

// identity is the access that im-monitor's generated Role and ClusterRole give, so that every test of the reconcilers also
// proves that nothing is missing in them.
func identity(t testing.TB, namespace string) *rest.Config {
	t.Helper()
	root, err := cluster.ModuleRoot()
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(root, binary, "deploy", "role.yaml"))
	require.NoError(t, err)
	var access *rest.Config
	var everywhere []rbacv1.PolicyRule
	for _, document := range bytes.Split(raw, []byte("\n---\n")) {
		var role rbacv1.Role // a ClusterRole has the same fields
		require.NoError(t, yaml.Unmarshal(document, &role))
		switch role.Kind {
		case "Role":
			access = testkit.Identity(t, namespace, binary, role.Rules)
		case "ClusterRole":
			everywhere = role.Rules
		}
	}
	require.NotNil(t, access, "no Role in role.yaml")
	if len(everywhere) > 0 {
		testkit.GrantCluster(t, namespace, binary, everywhere)
	}
	return access
}
