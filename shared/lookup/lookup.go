// Package lookup reads what controllers observe: single objects whose names come from elsewhere and which may not exist, and lists. Errors
// name the kind, and the object or what selects.
package lookup

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Nameable reports whether the API server creates an object of this name; a server may list instances and snapshots under any.
func Nameable(name string) bool { return len(validation.NameIsDNSSubdomain(name, false)) == 0 }

// Get reads one object; one that does not exist is nil, and so is one without a name or with a name that no object can have.
func Get[T client.Object](ctx context.Context, reader client.Reader, namespace, name string, into T, opts ...client.GetOption) (T, error) {
	var none T
	if name == "" {
		return none, nil
	}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into, opts...)
	switch {
	case err == nil:
		return into, nil
	case apierrors.IsNotFound(err), !Nameable(name): // in this order: most names are found, and a check costs as much as a read of the cache
		return none, nil
	}
	return none, fmt.Errorf("reading %T %s: %w", into, name, err)
}

// Shared is Get with a copy of the object's struct alone: its own fields may be set, its maps and lists are those of the cache, and never
// modified. An instance manager carries the entries of all its instances, which one evaluation need not copy.
func Shared[T client.Object](ctx context.Context, reader client.Reader, namespace, name string, into T) (T, error) {
	return Get(ctx, reader, namespace, name, into, client.UnsafeDisableDeepCopy)
}

// List reads the objects of a namespace that the options select; without a namespace those of all. A namespace among the options wins.
func List(ctx context.Context, reader client.Reader, namespace string, into client.ObjectList, options ...client.ListOption) error {
	if err := reader.List(ctx, into, append([]client.ListOption{client.InNamespace(namespace)}, options...)...); err != nil {
		return fmt.Errorf("listing %T%s: %w", into, selected(options), err)
	}
	return nil
}

// ListShared is List without a copy, as Shared is Get without one.
func ListShared(ctx context.Context, reader client.Reader, namespace string, into client.ObjectList, options ...client.ListOption) error {
	return List(ctx, reader, namespace, into, append(slices.Clone(options), client.UnsafeDisableDeepCopy)...)
}

// selected renders what selects the objects of a list.
func selected(options []client.ListOption) string {
	var o client.ListOptions
	o.ApplyOptions(options)
	out := ""
	if o.FieldSelector != nil {
		out += " by " + o.FieldSelector.String()
	}
	if o.LabelSelector != nil {
		out += " by " + o.LabelSelector.String()
	}
	return out
}

// Confirm reads an object of a cache uncached, before anything is created for it: after etcd was restored to an earlier state, caches hold
// objects for a while that do not exist, and what is created for one belongs to nothing. It is an error that the API server does not have
// exactly this object, by name and UID.
func Confirm[T client.Object](ctx context.Context, uncached client.Reader, object, into T) error {
	err := uncached.Get(ctx, client.ObjectKeyFromObject(object), into)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading %T %s: %w", object, object.GetName(), err)
	}
	if err != nil || into.GetUID() != object.GetUID() {
		return fmt.Errorf("%T %s with UID %s does not exist: nothing is created for it", object, object.GetName(), object.GetUID())
	}
	return nil
}
