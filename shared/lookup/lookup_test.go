package lookup_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

func TestWhatAnObjectCanBeCalled(t *testing.T) {
	for _, name := range []string{"a", "vol-1-e-0", "a.b", "1", strings.Repeat("a", 253)} {
		require.True(t, lookup.Nameable(name), name)
	}
	for _, name := range []string{"", "-a", "a-", ".a", "A", "a_b", "a/b", "a..b", "a.-b", "a-.b", strings.Repeat("a", 254)} {
		require.False(t, lookup.Nameable(name), name)
	}
}

// broken is a reader that reads nothing.
type broken struct{ client.Reader }

func (broken) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("connection refused")
}

func (broken) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("connection refused")
}

func TestErrorsNameTheKindAndWhatWasRead(t *testing.T) {
	_, err := lookup.Get(t.Context(), broken{}, "ns", "n", &v1beta2.Node{})
	require.EqualError(t, err, "reading *v1beta2.Node n: connection refused")
	none, err := lookup.Get(t.Context(), broken{}, "ns", "", &v1beta2.Node{})
	require.NoError(t, err)
	require.Nil(t, none, "an object without a name does not exist")
	none, err = lookup.Get(t.Context(), broken{}, "ns", "a/b", &v1beta2.Node{})
	require.NoError(t, err)
	require.Nil(t, none, "nor does one of this name")

	err = lookup.List(t.Context(), broken{}, "ns", &v1beta2.NodeList{})
	require.EqualError(t, err, "listing *v1beta2.NodeList: connection refused")
	err = lookup.ListShared(t.Context(), broken{}, "ns", &v1beta2.ReplicaList{}, client.MatchingFields{"volume": "v"})
	require.EqualError(t, err, "listing *v1beta2.ReplicaList by volume=v: connection refused")
	err = lookup.List(t.Context(), broken{}, "", &v1beta2.ReplicaList{}, client.MatchingLabels{"l": "x"})
	require.EqualError(t, err, "listing *v1beta2.ReplicaList by l=x: connection refused")
}

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

func TestAnOptionOfTheCallerWins(t *testing.T) {
	r := &listing{}
	require.NoError(t, lookup.List(t.Context(), r, "ns", &v1beta2.NodeList{}))
	require.Equal(t, "ns", r.options.Namespace)
	require.NoError(t, lookup.List(t.Context(), r, "ns", &v1beta2.NodeList{}, client.InNamespace("other")))
	require.Equal(t, "other", r.options.Namespace)

	given := append(make([]client.ListOption, 0, 4), client.InNamespace("other"))
	require.NoError(t, lookup.ListShared(t.Context(), r, "ns", &v1beta2.NodeList{}, given...))
	require.Equal(t, "other", r.options.Namespace)
	require.True(t, *r.options.UnsafeDisableDeepCopy)
	require.Nil(t, given[:4][1], "the slice of the caller is not written")
}
