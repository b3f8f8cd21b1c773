package testkit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"
)

const (
	// Timeout is how long the waits of this package wait: long, since a test that holds does not use it.
	Timeout = 90 * time.Second

	// Poll is the pause between two checks of a test that waits. Each asks the API server, and many tests wait side by side.
	Poll = 50 * time.Millisecond
)

// WaitFor waits until the object that has this namespace and name is as wanted, and returns it. What is wanted is
// described in words: the test fails with them and the object as it was last seen.
func WaitFor[T client.Object](t testing.TB, c client.WithWatch, object T, wanted string, holds func(T) bool) T {
	t.Helper()
	var found T
	last, err := follow(t, c, object, func(now T, exists bool) bool {
		if exists {
			found = now
		}
		return exists && holds(now)
	})
	require.NoError(t, err, "%T %s: want %s; it is:\n%s", object, client.ObjectKeyFromObject(object), wanted, last)
	return found
}

// WaitGone waits until the object does not exist any more: deleted, and without finalizers.
func WaitGone(t testing.TB, c client.WithWatch, object client.Object) {
	t.Helper()
	last, err := follow(t, c, object, func(_ client.Object, exists bool) bool { return !exists })
	require.NoError(t, err, "%T %s: want it gone; it is:\n%s", object, client.ObjectKeyFromObject(object), last)
}

// follow reads the object, watches it from there, and evaluates each of its states until done says that one is enough. It returns
// the last state in words. A watch that ends, as when the API server is restarted, begins again with a read.
func follow[T client.Object](t testing.TB, c client.WithWatch, object T, done func(now T, exists bool) bool) (last string, err error) {
	words := func() string { return "never read" }
	err = wait.PollUntilContextTimeout(t.Context(), Poll, Timeout, true, func(ctx context.Context) (bool, error) {
		state := func(now T, exists bool) bool {
			words = func() string { return "not there" }
			if exists {
				words = func() string { return inWords(now) }
			}
			return done(now, exists)
		}
		list, err := listOf(c, object)
		if err != nil {
			return false, err
		}
		only := []client.ListOption{client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()}}
		if err := c.List(ctx, list, only...); err != nil {
			if ctx.Err() == nil {
				words = err.Error
			}
			return false, nil
		}
		read, err := apimeta.ExtractList(list)
		if err != nil {
			return false, err
		}
		var now T // as it is, or was last
		if len(read) > 0 {
			now = read[0].(T)
		}
		if state(now, len(read) > 0) {
			return true, nil
		}
		from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
		events, err := c.Watch(ctx, list, append(only, from)...)
		if err != nil {
			if ctx.Err() == nil {
				words = err.Error
			}
			return false, nil
		}
		defer events.Stop()
		again := time.NewTicker(Poll) // what is wanted may depend on other objects, too
		defer again.Stop()
		for exists := len(read) > 0; ; {
			select {
			case <-again.C:
			case event, open := <-events.ResultChan():
				if now, open = event.Object.(T); !open {
					return false, nil // closed, or an error such as a version that is too old
				}
				exists = event.Type != watch.Deleted
			}
			if state(now, exists) {
				return true, nil
			}
		}
	})
	return words(), err
}

// listOf returns an empty list of the object's kind.
func listOf(c client.Client, object client.Object) (client.ObjectList, error) {
	kind, err := apiutil.GVKForObject(object, c.Scheme())
	if err != nil {
		return nil, err
	}
	kind.Kind += "List"
	if _, untyped := object.(*unstructured.Unstructured); untyped {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		return list, nil
	}
	list, err := c.Scheme().New(kind)
	if err != nil {
		return nil, err
	}
	return list.(client.ObjectList), nil
}

func inWords(object client.Object) string {
	data, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Sprintf("%+v", object)
	}
	return string(data)
}
