package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit/cluster"
)

// BinaryIdentity returns the access of a binary in its namespace, exactly as its deployment gives it: its generated
// deploy/role.yaml, bounded by the admission policies of its deploy/policy.yaml. A test that runs a controller with it also
// proves that the role lacks nothing that the test needs, and that the policies let it pass. The binary is named by its
// directory, such as im-monitor, which is its ServiceAccount's name as well.
func BinaryIdentity(t testing.TB, namespace, binary string) *rest.Config {
	t.Helper()
	once, _ := installed.LoadOrStore(binary, sync.OnceValue(func() error { return installPolicies(binary) }))
	require.NoError(t, once.(func() error)())
	namespaced, everywhere := BinaryRules(t, binary)
	access := Identity(t, namespace, binary, namespaced)
	if len(everywhere) > 0 {
		GrantCluster(t, namespace, binary, everywhere)
	}
	return access
}

// BinaryIdentityOn returns the access of a binary whose pod runs on a node: that of BinaryIdentity, with the token of such a pod. The
// Kubernetes node need not exist.
func BinaryIdentityOn(t testing.TB, namespace, binary, node string) *rest.Config {
	t.Helper()
	BinaryIdentity(t, namespace, binary)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: binary + "-"},
		Spec: corev1.PodSpec{NodeName: node, ServiceAccountName: binary, Containers: []corev1.Container{{Name: binary, Image: binary}}}}
	require.NoError(t, Admin(t).Create(t.Context(), pod))
	token, err := Cluster().PodToken(t.Context(), pod)
	require.NoError(t, err)
	return Cluster().TokenConfig(token)
}

// installed are the binaries whose admission policies this test binary has installed, each with the function that does it once.
var installed sync.Map

// installPolicies makes the admission policies of a binary, of which there may be none. The API server, which learns of them by
// a watch, holds to them a moment later.
func installPolicies(binary string) error {
	root, err := cluster.ModuleRoot()
	if err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join(root, binary, "deploy", "policy.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	admin, err := sharedAdmin()
	if err != nil {
		return err
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), len(manifest))
	for {
		policy := &unstructured.Unstructured{}
		if err := decoder.Decode(policy); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the policies of %s: %w", binary, err)
		}
		if err := client.IgnoreAlreadyExists(admin.Create(context.Background(), policy)); err != nil {
			return fmt.Errorf("installing policy %s: %w", policy.GetName(), err)
		}
	}
}

// BinaryRules returns the rules of a binary's generated deploy/role.yaml: those in its namespace, and those everywhere.
func BinaryRules(t testing.TB, binary string) (namespaced, everywhere []rbacv1.PolicyRule) {
	t.Helper()
	root, err := cluster.ModuleRoot()
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(root, binary, "deploy", "role.yaml"))
	require.NoError(t, err)
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), len(manifest))
	for {
		var role rbacv1.ClusterRole // a Role has the same fields
		err := decoder.Decode(&role)
		if errors.Is(err, io.EOF) {
			return namespaced, everywhere
		}
		require.NoError(t, err)
		switch role.Kind {
		case "Role":
			namespaced = append(namespaced, role.Rules...)
		case "ClusterRole":
			everywhere = append(everywhere, role.Rules...)
		}
	}
}
