// Package settingcontroller reads the Settings that snapshot-controller obeys, and tells people about bad values by an event
// on the Setting and a metric. It writes no Setting.
package settingcontroller

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/snapshot-controller/internal/setting"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=list;watch,namespace=longhorn-system

var invalid = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "drover_snapshot_controller_setting_invalid",
	Help: "1 while the value of the Setting is refused and its last good one, or its default, is in force.",
}, []string{"setting"})

func init() { metrics.Registry.MustRegister(invalid) }

// Concerns lets those Settings pass that snapshot-controller reads. Controllers that obey settings watch Setting with it.
func Concerns() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool { return setting.Known(obj.GetName()) })
}

// Source answers which settings are in force. It remembers the last good values of this process; after a restart a bad
// value means the default. It is safe for concurrent use.
type Source struct {
	reader    client.Reader
	namespace string
	memory    setting.Memory
}

// NewSource reads Settings of the namespace.
func NewSource(reader client.Reader, namespace string) *Source {
	return &Source{reader: reader, namespace: namespace}
}

// Current returns the values in force now for volumes of a data engine; empty means v1.
func (s *Source) Current(ctx context.Context, dataEngine string) (setting.Values, error) {
	for _, name := range setting.Names() {
		if _, err := s.take(ctx, name); err != nil {
			return setting.Values{}, err
		}
	}
	return s.memory.Values(dataEngine), nil
}

// take reads one Setting into the memory; what is returned first is why its value is refused.
func (s *Source) take(ctx context.Context, name string) (refused, failed error) {
	var one v1beta2.Setting
	err := s.reader.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &one)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading setting %s: %w", name, err)
	}
	var value *string
	if err == nil {
		value = &one.Value
	}
	_, refused = s.memory.Set(name, value)
	return refused, nil
}

// Setup registers the controller that reports bad values.
func Setup(rt *runkit.Runtime, source *Source) error {
	r := &reporter{rt: rt, source: source, said: map[string]string{}}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("setting").
		For(&v1beta2.Setting{}, builder.WithPredicates(Concerns())).Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the setting controller: %w", err)
	}
	return nil
}

type reporter struct {
	rt     *runkit.Runtime
	source *Source

	mu   sync.Mutex
	said map[string]string // why a Setting was refused, so that each refusal is said once
}

// Reconcile reports one Setting: an event when its value became bad, the gauge always.
func (r *reporter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	refused, err := r.source.take(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if refused == nil {
		invalid.WithLabelValues(request.Name).Set(0)
		r.news(request.Name, "")
		return ctrl.Result{}, nil
	}
	invalid.WithLabelValues(request.Name).Set(1)
	if !r.news(request.Name, refused.Error()) {
		return ctrl.Result{}, nil
	}
	var obj v1beta2.Setting
	if err := r.rt.Client.Get(ctx, request.NamespacedName, &obj); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	events.Emit(r.rt.Recorder, &obj, valueRefused(refused))
	return ctrl.Result{}, nil
}

// news notes why a Setting is refused ("": it is not) and tells whether that is new.
func (r *reporter) news(name, why string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.said[name]
	r.said[name] = why
	return before != why
}

// valueRefused is said on a Setting whose value means nothing.
func valueRefused(why error) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "SettingInvalid", Action: "ReadSetting",
		Note: fmt.Sprintf("Refused: %v; the last good value of the running process, after a restart the default, stays in force.", why)}
}
