package testkit

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	// Timeout is how long the waits of this package wait: long, since a test that holds does not use it.
	Timeout = 90 * time.Second

	// Poll is the pause between two checks of a test that waits. Each asks the API server, and many tests wait side by side.
	Poll = 50 * time.Millisecond
)

// WaitFor reads the object that has this namespace and name until it is as wanted, and returns it. What is wanted is
// described in words: the test fails with them and the object as it was last read.
func WaitFor[T client.Object](t testing.TB, c client.Client, object T, wanted string, holds func(T) bool) T {
	t.Helper()
	key, last := client.ObjectKeyFromObject(object), "never read"
	var read T
	err := wait.PollUntilContextTimeout(t.Context(), Poll, Timeout, true, func(ctx context.Context) (bool, error) {
		found := blank(object)
		if err := c.Get(ctx, key, found); err != nil {
			last = err.Error()
			return false, nil
		}
		last, read = inWords(found), found
		return holds(found), nil
	})
	require.NoError(t, err, "%T %s: want %s; it is:\n%s", object, key, wanted, last)
	return read
}

// WaitGone waits until the object does not exist any more: deleted, and without finalizers.
func WaitGone(t testing.TB, c client.Client, object client.Object) {
	t.Helper()
	key, last := client.ObjectKeyFromObject(object), "never read"
	err := wait.PollUntilContextTimeout(t.Context(), Poll, Timeout, true, func(ctx context.Context) (bool, error) {
		found := blank(object)
		err := c.Get(ctx, key, found)
		if err == nil {
			last = inWords(found)
		} else {
			last = err.Error()
		}
		return apierrors.IsNotFound(err), nil
	})
	require.NoError(t, err, "%T %s: want it gone; it is:\n%s", object, key, last)
}

// blank returns a new object of the same kind. Reading into one that was read before would keep the fields that have
// gone since.
func blank[T client.Object](object T) T {
	empty := reflect.New(reflect.TypeOf(object).Elem()).Interface().(T)
	empty.GetObjectKind().SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	return empty
}

func inWords(object client.Object) string {
	data, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Sprintf("%+v", object)
	}
	return string(data)
}
