package settingcontroller

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=settings,verbs=list;watch,namespace=longhorn-system

var invalid = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "drover_im_monitor_setting_invalid",
	Help: "1 while the value of the Setting is refused and its last good one, or its default, is in force.",
}, []string{"setting"})

func init() { metrics.Registry.MustRegister(invalid) }

// Concerns lets those Settings pass that im-monitor reads.
func Concerns() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool { return slices.Contains(setting.Names(), obj.GetName()) })
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
	said map[string]string // refused value by Setting, so that each is said once
}

// Reconcile reports one Setting: an event when its value became bad, the gauge always.
func (r *reporter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	_, problems, err := r.source.current(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	i := slices.IndexFunc(problems, func(p setting.Problem) bool { return p.Setting == request.Name })
	if i < 0 {
		invalid.WithLabelValues(request.Name).Set(0)
		r.refused(request.Name, "")
		return ctrl.Result{}, nil
	}
	invalid.WithLabelValues(request.Name).Set(1)
	if !r.refused(request.Name, problems[i].Value) {
		return ctrl.Result{}, nil
	}
	var obj v1beta2.Setting
	if err := r.rt.Client.Get(ctx, request.NamespacedName, &obj); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	events.Emit(r.rt.Recorder, &obj, valueRefused(problems[i]))
	return ctrl.Result{}, nil
}

// refused notes the refused value of a Setting ("" for none) and tells whether it is news.
func (r *reporter) refused(name, value string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.said[name]
	if value == "" {
		delete(r.said, name)
		return known
	}
	r.said[name] = value
	return !known || before != value
}

// valueRefused is said on a Setting whose value means nothing.
func valueRefused(p setting.Problem) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "SettingInvalid", Action: "ReadSetting",
		Note: fmt.Sprintf("The value of %s %v; the last good value of the running process, after a restart the default, stays in force.", p.Setting, p.Err)}
}
