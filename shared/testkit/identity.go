package testkit

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	longhorn "drover.dev/drover/shared/api/v1beta2"
)

const (
	grantTimeout = time.Minute
	grantPoll    = 10 * time.Millisecond
)

// Scheme returns a new scheme with Longhorn's kinds, Kubernetes' own and CustomResourceDefinition.
func Scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme, err := newScheme()
	require.NoError(t, err)
	return scheme
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), longhorn.AddToScheme(scheme))
}

// Admin returns the uncached client of this test binary to which everything is allowed. It can watch.
func Admin(t testing.TB) client.WithWatch {
	t.Helper()
	admin, err := sharedAdmin()
	require.NoError(t, err)
	return admin
}

// sharedAdmin makes one client for all tests: each other would open a connection and ask which kinds there are.
var sharedAdmin = sync.OnceValues(func() (client.WithWatch, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	mapper, err := sharedMapper()
	if err != nil {
		return nil, err
	}
	return client.NewWithWatch(Cluster().AdminConfig(), client.Options{Scheme: scheme, Mapper: mapper})
})

// sharedMapper knows which kinds the API server has; it asks again for a kind that it does not know.
var sharedMapper = sync.OnceValues(func() (apimeta.RESTMapper, error) {
	config := Cluster().AdminConfig()
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making the client that asks for kinds: %w", err)
	}
	return apiutil.NewDynamicRESTMapper(config, httpClient)
})

// RESTMapper returns which kinds the API server has, for clients and managers of tests; it is shared, since each would ask for them
// otherwise.
func RESTMapper(t testing.TB) apimeta.RESTMapper {
	t.Helper()
	mapper, err := sharedMapper()
	require.NoError(t, err)
	return mapper
}

// Client returns an uncached client with the access of config, such as one that Identity returned, for the API server of this test
// binary or another.
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
	replaced := createOrUpdate(t, admin, &rbacv1.Role{ObjectMeta: name, Rules: rules})
	createOrUpdate(t, admin, &rbacv1.RoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: serviceAccount},
		Subjects:   subjects(namespace, serviceAccount),
	})
	waitForGrant(t, admin, namespace, namespace, serviceAccount, rules, replaced)
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
	replaced := createOrUpdate(t, admin, &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules})
	createOrUpdate(t, admin, &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects:   subjects(namespace, serviceAccount),
	})
	waitForGrant(t, admin, "", namespace, serviceAccount, rules, replaced)
}

func subjects(namespace, serviceAccount string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: serviceAccount}}
}

// createOrUpdate writes the object as given, and reports whether it replaced one.
func createOrUpdate(t testing.TB, admin client.Client, object client.Object) (replaced bool) {
	t.Helper()
	err := admin.Create(t.Context(), object)
	if replaced = apierrors.IsAlreadyExists(err); replaced {
		err = admin.Update(t.Context(), object)
	}
	require.NoError(t, err)
	return replaced
}

// waitForGrant returns once the API server's authorizer, which learns of roles by a watch, allows the rules: the first and the last of a
// new role, of which it learns as a whole, and each one where they replaced others. Otherwise a test's first request may be Forbidden.
func waitForGrant(t testing.TB, admin client.Client, where, namespace, account string, rules []rbacv1.PolicyRule, replaced bool) {
	t.Helper()
	for i, rule := range rules {
		if !replaced && i > 0 && i < len(rules)-1 {
			continue
		}
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
