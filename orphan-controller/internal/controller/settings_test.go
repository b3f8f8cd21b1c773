package controller

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// withoutRules makes the API server of this package's tests take any value from now on, as one with older CRDs does.
// What the rules accept and refuse is tested beside the CRDs.
func (w *world) withoutRules() {
	w.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Name: "settings.longhorn.io"}, crd))
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = nil
	require.NoError(w.t, w.admin.Update(w.t.Context(), crd))
	w.until("the API server still refuses", func() bool {
		probe := &v1beta2.Setting{ObjectMeta: w.meta(setting.OldAutoDeletion), Value: "whatever"}
		return w.admin.Create(w.t.Context(), probe, client.DryRunAll) == nil
	})
}

// value returns the setting's value; nil: it does not exist.
func (w *world) value(name string) *string {
	w.t.Helper()
	s := &v1beta2.Setting{}
	err := w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, s)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return &s.Value
}

// why returns the reason that the setting's status gives.
func (w *world) why(name string) string {
	w.t.Helper()
	s := &v1beta2.Setting{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, s))
	return conditions.Reason(s.Status.Conditions, v1beta2.SettingApplied)
}

// O14: the running process keeps its last valid value; after a restart auto deletion is off; the status gives the reason.
func TestAnInvalidSettingKeepsTheLastValueAndARestartTurnsAutoDeletionOff(t *testing.T) {
	for name, c := range map[string]struct{ setting, bad string }{
		"an unknown item":    {setting.AutoDeletion, "instance;engines"},
		"a trailing one":     {setting.AutoDeletion, "instance;"},
		"a duration":         {setting.GracePeriod, "5m"},
		"a negative one":     {setting.GracePeriod, "-1"},
		"an over-long value": {setting.AutoDeletion, longValue},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.withoutRules()
			w.autoDeletion("instance", "0")
			first := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
			p := w.start()
			w.reaches(first, v1beta2.ReasonApproved, true)
			w.setting(c.setting, c.bad)
			w.until("no metric", func() bool { return p.metric(t, "drover_orphan_controller_setting_invalid") == 1 })
			w.until("no event", func() bool { return w.hasEvent("SettingInvalid") })
			w.until("its status gives no reason", func() bool { return w.why(c.setting) == v1beta2.ReasonInvalidValue })
			second := w.orphan("vol-2-e-0", v1beta2.ReasonNoOwnerCR)
			w.reaches(second, v1beta2.ReasonApproved, true)

			w.stop()
			w.start()
			third := w.orphan("vol-3-e-0", v1beta2.ReasonNoOwnerCR)
			w.reaches(second, v1beta2.ReasonAcknowledged, true)
			w.stays(third, "auto deletion is off")

			w.autoDeletion("instance", "0")
			for _, o := range []*v1beta2.Orphan{first, second, third} {
				w.reaches(o, v1beta2.ReasonApproved, true)
			}
		})
	}
}

var longValue = func() string {
	value := "instance"
	for len(value) < 1000 {
		value += " ; instance"
	}
	return value
}()

// O15.
func TestTheOldSwitchBecomesAnItem(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		old     string
		present *string
		want    *string
	}{
		"true without the new one":  {old: "true", want: text("replica-data")},
		"true beside instance":      {old: "true", present: text("instance"), want: text("replica-data;instance")},
		"true beside itself":        {old: "true", present: text(" replica-data "), want: text(" replica-data ")},
		"true beside an empty one":  {old: "true", present: text(""), want: text("replica-data")},
		"false without the new one": {old: "false"},
		"false beside instance":     {old: "false", present: text("instance"), want: text("instance")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.setting(setting.OldAutoDeletion, c.old)
			if c.present != nil {
				w.setting(setting.AutoDeletion, *c.present)
			}
			w.start()
			for range 2 { // twice
				w.until("the old setting stays", func() bool { return w.value(setting.OldAutoDeletion) == nil })
				require.Equal(t, c.want, w.value(setting.AutoDeletion))
				w.setting(setting.OldAutoDeletion, c.old)
			}
		})
	}
}

func TestTheMigrationNeverOverwritesWhatItCannotRead(t *testing.T) {
	w := newWorld(t)
	w.withoutRules()
	w.setting(setting.OldAutoDeletion, "true")
	w.setting(setting.AutoDeletion, "instance;engines")
	w.start()
	w.until("no event", func() bool { return w.hasEvent("MigrationWaits") })
	w.until("its status gives no reason", func() bool { return w.why(setting.OldAutoDeletion) == v1beta2.ReasonInvalidValue })
	require.Equal(t, "true", *w.value(setting.OldAutoDeletion))
	w.setting(setting.AutoDeletion, "instance")
	w.until("the migration did not continue", func() bool { return w.value(setting.OldAutoDeletion) == nil })
	require.Equal(t, "replica-data;instance", *w.value(setting.AutoDeletion))
}

// O15: only the CR of an orphaned directory is removed.
func TestReplicaDataOrphansLoseOnlyTheirCR(t *testing.T) {
	w := newWorld(t)
	o := &v1beta2.Orphan{ObjectMeta: w.meta("orphan-data")}
	o.Finalizers = []string{v1beta2.Finalizer}
	o.Spec = v1beta2.OrphanSpec{NodeID: "node-1", OrphanType: v1beta2.OrphanTypeReplicaData, Parameters: map[string]string{
		"DataName": "vol-1-aabbccdd", "DiskName": "disk-1", "DiskUUID": "uuid-d", "DiskPath": "/d", "DiskType": "filesystem",
	}}
	w.create(o)
	w.autoDeletion("instance", "0")
	w.start()
	w.stays(o, "instance is not replica-data")
	w.setting(setting.AutoDeletion, "instance;replica-data")
	w.gone(o)
	w.until("no event", func() bool { return w.hasEvent("EndedWithoutCleanup") })
}
