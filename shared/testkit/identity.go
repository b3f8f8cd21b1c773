package testkit

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	longhorn "drover.dev/drover/shared/api/v1beta2"
)

const (
	grantTimeout = time.Minute
	grantPoll    = 10 * time.Millisecond
)

// Scheme returns a new scheme with Longhorn's kinds, Kubernetes' own and CustomResourceDefinition.
func Scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	require.NoError(t, longhorn.AddToScheme(scheme))
	return scheme
}

// Admin returns an uncached client to which everything is allowed.
func Admin(t testing.TB) client.Client {
	t.Helper()
	return Client(t, Cluster().AdminConfig())
}

// Client returns an uncached client with the access of config, such as one that Identity returned.
func Client(t testing.TB, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: Scheme(t)})
	require.NoError(t, err)
	return c
}

// Namespace makes a namespace for this test alone and returns its name.
func Namespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-" + slug(t.Name()) + "-"}}
	require.NoError(t, Admin(t).Create(t.Context(), namespace))
	return namespace.Name
}

// slug makes the letters, digits and dashes of a DNS label out of a test's name.
func slug(name string) string {
	const limit = 40
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(slug[:min(len(slug), limit)], "-")
}

// Identity makes a ServiceAccount that is allowed exactly these rules in its namespace, and returns its access. Without
// rules it may do nothing. Calling it again for the same ServiceAccount replaces the rules.
func Identity(t testing.TB, namespace, serviceAccount string, rules []rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	admin := Admin(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: serviceAccount}}
	if err := admin.Create(t.Context(), account); !apierrors.IsAlreadyExists(err) {
		require.NoError(t, err)
	}
	name := metav1.ObjectMeta{Namespace: namespace, Name: serviceAccount}
	createOrUpdate(t, admin, &rbacv1.Role{ObjectMeta: name, Rules: rules})
	createOrUpdate(t, admin, &rbacv1.RoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: serviceAccount},
		Subjects:   subjects(namespace, serviceAccount),
	})
	waitForGrant(t, admin, namespace, namespace, serviceAccount, rules)
	token, err := Cluster().Token(t.Context(), namespace, serviceAccount)
	require.NoError(t, err)
	return Cluster().TokenConfig(token)
}

// GrantCluster allows the ServiceAccount these rules in all namespaces and on kinds without one, beside what Identity
// allowed.
func GrantCluster(t testing.TB, namespace, serviceAccount string, rules []rbacv1.PolicyRule) {
	t.Helper()
	admin := Admin(t)
	name := metav1.ObjectMeta{Name: namespace + ":" + serviceAccount}
	createOrUpdate(t, admin, &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules})
	createOrUpdate(t, admin, &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects:   subjects(namespace, serviceAccount),
	})
	waitForGrant(t, admin, "", namespace, serviceAccount, rules)
}

func subjects(namespace, serviceAccount string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: serviceAccount}}
}

// createOrUpdate writes the object as given, whatever was there.
func createOrUpdate(t testing.TB, admin client.Client, object client.Object) {
	t.Helper()
	err := admin.Create(t.Context(), object)
	if apierrors.IsAlreadyExists(err) {
		err = admin.Update(t.Context(), object)
	}
	require.NoError(t, err)
}

// waitForGrant returns once the API server's authorizer, which learns of roles by a watch, allows the first of each
// rule. Otherwise a test's first request may be Forbidden.
func waitForGrant(t testing.TB, admin client.Client, where, namespace, account string, rules []rbacv1.PolicyRule) {
	t.Helper()
	for _, rule := range rules {
		if len(rule.Verbs) == 0 || len(rule.APIGroups) == 0 || len(rule.Resources) == 0 {
			continue
		}
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		attributes := &authorizationv1.ResourceAttributes{
			Namespace: where, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
		}
		if len(rule.ResourceNames) > 0 {
			attributes.Name = rule.ResourceNames[0]
		}
		require.Eventually(t, func() bool {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:" + namespace + ":" + account, ResourceAttributes: attributes,
			}}
			return admin.Create(t.Context(), review) == nil && review.Status.Allowed
		}, grantTimeout, grantPoll, "the API server never allowed %+v", attributes)
	}
}
