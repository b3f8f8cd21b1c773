// Package settingcontroller reads the Settings that im-monitor obeys, and tells people about bad values by an event on
// the Setting and a metric. It writes no Setting.
package settingcontroller

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

// Source answers which settings are in force. It remembers the last good values of this process; after a restart a bad
// value means the default.
type Source struct {
	reader    client.Reader
	namespace string

	mu       sync.Mutex
	raw      map[string]string
	values   setting.Values
	problems []setting.Problem
}

// NewSource reads Settings of the namespace.
func NewSource(reader client.Reader, namespace string) *Source {
	return &Source{reader: reader, namespace: namespace, values: setting.Defaults()}
}

// Current returns the values in force now.
func (s *Source) Current(ctx context.Context) (setting.Values, error) {
	values, _, err := s.current(ctx)
	return values, err
}

func (s *Source) current(ctx context.Context) (setting.Values, []setting.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw := map[string]string{}
	for _, name := range setting.Names() {
		var one v1beta2.Setting
		err := s.reader.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &one)
		if client.IgnoreNotFound(err) != nil {
			return setting.Values{}, nil, fmt.Errorf("reading setting %s: %w", name, err)
		}
		if err == nil {
			raw[name] = one.Value
		}
	}
	if s.raw == nil || !maps.Equal(raw, s.raw) {
		s.raw = raw
		s.values, s.problems = setting.Parse(raw, s.values)
	}
	return s.values, s.problems, nil
}
