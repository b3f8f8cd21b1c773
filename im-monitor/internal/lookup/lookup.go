// Package lookup reads single objects whose names come from elsewhere and which may not exist.
package lookup

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Nameable tells whether an object can have this name; a server may list instances under any.
func Nameable(name string) bool {
	return name != "" && len(name) <= validation.DNS1123SubdomainMaxLength && strings.Trim(name, "-.") == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' })
}

// Get returns nil for an object that does not exist. What a cache returns is shared and never modified: an instance
// manager carries the entries of all its instances, which one judgement need not copy.
func Get[T client.Object](ctx context.Context, reader client.Reader, namespace, name string, into T) (T, error) {
	var none T
	if !Nameable(name) {
		return none, nil
	}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return none, fmt.Errorf("reading %T %s: %w", into, name, err)
	}
	if err != nil {
		return none, nil
	}
	return into, nil
}
