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

	// Poll is the pause between two checks of a test that waits without a watch. Each asks the API server, and many tests wait side by
	// side.
	Poll = 150 * time.Millisecond
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
	f := follower[T]{c: c, done: done, words: func() string { return "never read" },
		only: []client.ListOption{client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()}}}
	namespaced, err := c.IsObjectNamespaced(object)
	if err != nil {
		return "", err
	}
	if namespaced && object.GetNamespace() == "" {
		return "", fmt.Errorf("%T %s is named without its namespace", object, object.GetName())
	}
	if f.list, err = listOf(c, object); err != nil {
		return "", err
	}
	err = wait.PollUntilContextTimeout(t.Context(), Poll, Timeout, true, f.follow)
	return f.words(), err
}

// follower follows one object, whose kind is that of the list.
type follower[T client.Object] struct {
	c    client.WithWatch
	list client.ObjectList
	only []client.ListOption
	done func(now T, exists bool) bool
	// words are what was seen last.
	words func() string
}

// readAgain is how often the object is read although no event of it came: what is wanted may depend on other objects, too.
const readAgain = 5 * Poll

// follow returns true once a state is enough, and false where the object is to be read and watched again.
func (f *follower[T]) follow(ctx context.Context) (bool, error) {
	if enough, err := f.read(ctx); enough || err != nil {
		return enough, f.note(ctx, err)
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: f.list.GetResourceVersion()}}
	events, err := f.c.Watch(ctx, f.list, append(f.only, from)...)
	if err != nil {
		return false, f.note(ctx, err)
	}
	defer events.Stop()
	again := time.NewTicker(readAgain)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			if enough, err := f.read(ctx); enough || err != nil {
				return enough, f.note(ctx, err)
			}
		case event := <-events.ResultChan():
			now, ok := event.Object.(T)
			if !ok {
				return false, nil // closed, or an error such as a version that is too old
			}
			if f.enough(now, event.Type != watch.Deleted) {
				return true, nil
			}
		}
	}
}

// read reads the object from the API server.
func (f *follower[T]) read(ctx context.Context) (enough bool, err error) {
	if err := f.c.List(ctx, f.list, f.only...); err != nil {
		return false, err
	}
	read, err := apimeta.ExtractList(f.list)
	if err != nil {
		return false, err
	}
	var now T
	if len(read) > 0 {
		now = read[0].(T)
	}
	return f.enough(now, len(read) > 0), nil
}

func (f *follower[T]) enough(now T, exists bool) bool {
	f.words = func() string { return "not there" }
	if exists {
		f.words = func() string { return inWords(now) }
	}
	return f.done(now, exists)
}

// note keeps an error, which the next read may not meet, unless it is that the wait is over.
func (f *follower[T]) note(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		f.words = err.Error
	}
	return nil
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
