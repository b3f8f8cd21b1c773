package settingcontroller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/status"
)

// Evaluator knows the Settings that a controller obeys, and what is wrong with their values.
type Evaluator interface {
	// Known reports whether the controller obeys a setting of this name.
	Known(name string) bool
	// Refusal reads one Setting; what is returned first is why its value is refused, nil if it is not.
	Refusal(ctx context.Context, name string) (refused, failed error)
}

// Concerns lets those Settings pass that are known. Controllers that obey settings watch Setting with it.
func Concerns(known func(name string) bool) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool { return known(obj.GetName()) })
}

// Setup registers the controller that reports about each Setting whether it is in force: in its status where binary is the one that writes
// it, by events and a gauge where its value is bad. metric is the name of its gauge: 1 by Setting while the value is
// refused, and its last good one, or its default, in force.
func Setup(rt *runkit.Runtime, evaluator Evaluator, binary, metric string) error {
	invalid, err := gauge(metric)
	if err != nil {
		return err
	}
	r := &reporter{rt: rt, evaluator: evaluator, binary: binary, invalid: invalid, refused: map[string]string{}}
	concerns := func(name string) bool { return evaluator.Known(name) || setting.Writer(name) == binary }
	err = ctrl.NewControllerManagedBy(rt.Manager).Named("setting").WithOptions(queue.Options(1)).
		For(&v1beta2.Setting{}, builder.WithPredicates(Concerns(concerns))).Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the setting controller: %w", err)
	}
	return nil
}

// gauge is the registered one of that name.
func gauge(name string) (*prometheus.GaugeVec, error) {
	fresh := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: name, Help: "1 while the value of the Setting is refused and its last good one, or its default, is in force.",
	}, []string{"setting"})
	err := metrics.Registry.Register(fresh)
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(err, &already) {
		if there, ok := already.ExistingCollector.(*prometheus.GaugeVec); ok {
			return there, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("registering metric %s: %w", name, err)
	}
	return fresh, nil
}

type reporter struct {
	rt        *runkit.Runtime
	evaluator Evaluator
	binary    string
	invalid   *prometheus.GaugeVec

	mu      sync.Mutex
	refused map[string]string // why a Setting was refused, so that each refusal is reported once
}

// Reconcile reports one Setting: its status where that is this binary's, an event when its value became bad, the gauge always.
func (r *reporter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	refused, err := r.evaluator.Refusal(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	obj, err := lookup.Get(ctx, r.rt.Client, request.Namespace, request.Name, &v1beta2.Setting{})
	if err != nil {
		return ctrl.Result{}, err
	}
	if obj != nil && setting.Writer(obj.Name) == r.binary {
		if _, err := Report(ctx, r.rt.Client, obj, r.binary, refused, r.rt.Clock.Now()); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
	}
	if !r.evaluator.Known(request.Name) {
		return ctrl.Result{}, nil
	}
	if refused == nil {
		r.invalid.WithLabelValues(request.Name).Set(0)
		r.news(request.Name, "")
		return ctrl.Result{}, nil
	}
	r.invalid.WithLabelValues(request.Name).Set(1)
	if r.news(request.Name, refused.Error()) && obj != nil {
		events.Emit(r.rt.Recorder, obj, valueRefused(refused))
	}
	return ctrl.Result{}, nil
}

// Report writes the status of a Setting if it differs, and reports whether it did: refused is why its value cannot be
// read. The version that was evaluated is written, or it is a conflict.
func Report(ctx context.Context, c client.Client, obj *v1beta2.Setting, binary string, refused error, now time.Time) (changed bool,
	err error) {
	wanted, changed := setting.Status(obj, refused, now)
	if !changed {
		return false, nil
	}
	return true, status.Apply(ctx, c, obj, binary, map[string]any{
		"applied": wanted.Applied, "observedGeneration": wanted.ObservedGeneration, "conditions": status.ConditionsField(wanted.Conditions),
	}, status.AtVersion())
}

// news records why a Setting is refused ("": it is not) and reports whether that is new.
func (r *reporter) news(name, why string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.refused[name]
	r.refused[name] = why
	return before != why
}

// valueRefused is the event of a Setting whose value is refused.
func valueRefused(why error) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "SettingInvalid", Action: "ReadSetting",
		Note: setting.Refused(why)}
}
