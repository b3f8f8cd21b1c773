package kube_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// listing is a reader that keeps the options of the last list.
type listing struct {
	client.Reader
	options client.ListOptions
}

func (l *listing) List(_ context.Context, _ client.ObjectList, options ...client.ListOption) error {
	l.options = client.ListOptions{}
	l.options.ApplyOptions(options)
	return nil
}

func TestAMapperListsItsNamespaceUnlessAnotherIsNamed(t *testing.T) {
	r := &listing{}
	m := kube.Mapper{Reader: r, Namespace: "ns"}
	m.List(t.Context(), &v1beta2.NodeList{})
	require.Equal(t, "ns", r.options.Namespace)
	require.True(t, *r.options.UnsafeDisableDeepCopy)
	given := append(make([]client.ListOption, 0, 4), client.InNamespace("other"))
	m.List(t.Context(), &v1beta2.NodeList{}, given...)
	require.Equal(t, "other", r.options.Namespace)
	require.Nil(t, given[:4][1], "the slice of the caller is not written")
}
