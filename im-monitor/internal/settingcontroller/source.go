// Package settingcontroller reads the Settings that im-monitor obeys. What is wrong with them is reported as in the other
// controllers.
package settingcontroller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	sharedsetting "drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/settingcontroller"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=settings/status,verbs=patch,namespace=longhorn-system

// Concerns lets those Settings pass that im-monitor reads.
func Concerns() predicate.Predicate { return settingcontroller.Concerns(known) }

// Setup registers the controller that reports bad values.
func Setup(rt *runkit.Runtime, source *Source) error {
	return settingcontroller.Setup(rt, source, sharedsetting.ImMonitor, "drover_im_monitor_setting_invalid")
}

func known(name string) bool { return slices.Contains(setting.Names(), name) }

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

// Known reports whether im-monitor obeys a setting of this name.
func (s *Source) Known(name string) bool { return known(name) }

// Refusal reads the Settings; what is returned first is why this one's value is refused, nil if it is not.
func (s *Source) Refusal(ctx context.Context, name string) (refused, failed error) {
	_, problems, err := s.current(ctx)
	for _, p := range problems {
		if p.Setting == name {
			refused = fmt.Errorf("the value of %s %w", name, p.Err)
		}
	}
	return refused, err
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
