// Package settingcontroller reads the Settings that a controller obeys, and reports what is in force: in the status of the Settings
// that this binary is the writer of, and for invalid values by an event and a metric. A binary that uses it needs the rights to list and
// watch settings, and to patch their status.
package settingcontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/setting"
)

// Source answers which settings are in force. It remembers the last good values of this process; after a restart a bad
// value means the default. It is safe for concurrent use.
type Source[V any] struct {
	setting.Catalogue[V]
	reader    client.Reader
	namespace string
	memory    *setting.Memory[V]
}

// NewSource reads the catalogue's Settings of the namespace.
func NewSource[V any](reader client.Reader, namespace string, catalogue setting.Catalogue[V]) *Source[V] {
	return &Source[V]{Catalogue: catalogue, reader: reader, namespace: namespace, memory: setting.Remember(catalogue)}
}

// Current returns the values in force now for volumes of a data engine; empty means v1. Every decision needs them: one list of all Settings
// costs a fifth of a read of each.
func (s *Source[V]) Current(ctx context.Context, dataEngine string) (V, error) {
	var list v1beta2.SettingList
	if err := lookup.ListShared(ctx, s.reader, s.namespace, &list); err != nil {
		var none V
		return none, err
	}
	values := make(map[string]*string, len(list.Items))
	for i := range list.Items {
		values[list.Items[i].Name] = &list.Items[i].Value
	}
	for _, name := range s.Names() {
		_, _ = s.memory.Set(name, values[name]) // a value that is refused is reported where its Setting is reconciled
	}
	return s.InForce(dataEngine), nil
}

// InForce returns the values that were in force when the Settings were read last.
func (s *Source[V]) InForce(dataEngine string) V { return s.memory.Values(dataEngine) }

// Refusal reads one Setting; what is returned first is why its value is refused, nil if it is not.
func (s *Source[V]) Refusal(ctx context.Context, name string) (refused, failed error) {
	one, err := lookup.Shared(ctx, s.reader, s.namespace, name, &v1beta2.Setting{})
	if err != nil {
		return nil, err
	}
	var value *string
	if one != nil {
		value = &one.Value
	}
	_, refused = s.memory.Set(name, value)
	return refused, nil
}
