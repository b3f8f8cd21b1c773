package runkit

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
)

// A cache that is filled in pages has all objects, of each what is kept, and follows what happens later.
func TestACacheIsFilledPageByPage(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	create := func(n int) {
		require.NoError(t, admin.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("secret-%d", n)},
			StringData: map[string]string{"large": "value"}}))
	}
	for n := range 5 {
		create(n)
	}
	thin := func(obj any) (any, error) {
		s := obj.(*corev1.Secret)
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, ResourceVersion: s.ResourceVersion}}, nil
	}
	kept := map[client.Object]cache.ByObject{&corev1.Secret{}: {Transform: thin}}
	require.NoError(t, listFirst())
	c, err := cache.New(testkit.Cluster().AdminConfig(), cache.Options{
		Scheme: testkit.Scheme(t), DefaultNamespaces: map[string]cache.Config{namespace: {}}, ByObject: kept,
		NewInformer: inPages(2, kept, cache.TransformStripManagedFields()),
	})
	require.NoError(t, err)
	go func() { _ = c.Start(t.Context()) }()
	require.True(t, c.WaitForCacheSync(t.Context()))
	count := func() int {
		var list corev1.SecretList
		require.NoError(t, c.List(t.Context(), &list))
		for _, s := range list.Items {
			require.Empty(t, s.Data, s.Name)
		}
		return len(list.Items)
	}
	require.Equal(t, 5, count())
	create(5)
	require.Eventually(t, func() bool { return count() == 6 }, 60*time.Second, 20*time.Millisecond)
}

// Of kinds of which only the metadata is read, each is kept as is reported of it: they have one type.
func TestPagesOfMetadataAreKeptAsIsSaidOfTheirKind(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	labels := map[string]string{"a": "b"}
	require.NoError(t, admin.Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one", Labels: labels}}))
	require.NoError(t, admin.Create(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one", Labels: labels}}))
	of := func(kind string) *metav1.PartialObjectMetadata {
		obj := &metav1.PartialObjectMetadata{}
		obj.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		return obj
	}
	thin := func(obj any) (any, error) {
		m := obj.(*metav1.PartialObjectMetadata)
		return &metav1.PartialObjectMetadata{TypeMeta: m.TypeMeta,
			ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, ResourceVersion: m.ResourceVersion}}, nil
	}
	kept := map[client.Object]cache.ByObject{of("ConfigMap"): {Transform: thin}}
	require.NoError(t, listFirst())
	c, err := cache.New(testkit.Cluster().AdminConfig(), cache.Options{
		Scheme: testkit.Scheme(t), DefaultNamespaces: map[string]cache.Config{namespace: {}}, ByObject: kept,
		NewInformer: inPages(2, kept, cache.TransformStripManagedFields()),
	})
	require.NoError(t, err)
	go func() { _ = c.Start(t.Context()) }()
	require.True(t, c.WaitForCacheSync(t.Context()))
	for kind, want := range map[string]map[string]string{"ConfigMap": nil, "Secret": labels} {
		one := of(kind)
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "one"}, one))
		require.Equal(t, want, one.Labels, kind)
	}
}

// What no part of the binary wants to keep differently is kept as everything else is.
func TestPagesAreKeptAsTheCacheWouldKeepThem(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	require.NoError(t, admin.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}}))
	require.NoError(t, listFirst())
	c, err := cache.New(testkit.Cluster().AdminConfig(), cache.Options{
		Scheme: testkit.Scheme(t), DefaultNamespaces: map[string]cache.Config{namespace: {}},
		NewInformer: inPages(pageSize, nil, cache.TransformStripManagedFields()),
	})
	require.NoError(t, err)
	go func() { _ = c.Start(t.Context()) }()
	require.True(t, c.WaitForCacheSync(t.Context()))
	var one corev1.ConfigMap
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "one"}, &one))
	require.Empty(t, one.ManagedFields)
}
