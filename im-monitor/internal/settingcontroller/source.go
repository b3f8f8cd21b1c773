// Package settingcontroller reads the Settings that im-monitor obeys.
package settingcontroller

import (
	"context"

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
func Concerns() predicate.Predicate { return settingcontroller.Concerns(setting.Catalogue.Known) }

// Setup registers the controller that reports bad values.
func Setup(rt *runkit.Runtime, source *Source) error {
	return settingcontroller.Setup(rt, source.each, sharedsetting.ImMonitor, "drover_im_monitor_setting_invalid")
}

// Source answers which settings are in force. im-monitor does not serve volumes but nodes, so that it has one set of values, each of the
// data engine that it is for.
type Source struct {
	each *settingcontroller.Source[setting.Values]
}

// NewSource reads Settings of the namespace. The values for pods count while their Settings do not exist.
func NewSource(reader client.Reader, namespace string, pods setting.Pods) *Source {
	return &Source{each: settingcontroller.NewSource(reader, namespace, setting.With(pods))}
}

// Current returns the values in force now.
func (s *Source) Current(ctx context.Context) (setting.Values, error) {
	v1, err := s.each.Current(ctx, v1beta2.DataEngineV1)
	if err != nil {
		return setting.Values{}, err
	}
	return setting.Merge(v1, s.each.InForce(v1beta2.DataEngineV2)), nil
}
