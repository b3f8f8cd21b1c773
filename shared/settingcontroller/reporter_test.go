package settingcontroller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	patience = 30 * time.Second
	poll     = testkit.Poll
	watched  = time.Second
)

// values are the settings of this test.
type values struct {
	salvage bool
	image   string
}

var catalogue = setting.Catalogue[values]{Defaults: func() values { return values{salvage: true} },
	Readers: map[string]setting.Reader[values]{
		"auto-salvage":         setting.Boolean(func(v *values) *bool { return &v.salvage }),
		"default-engine-image": setting.Text(func(v *values, image string) { v.image = image }, setting.ParseImage),
	}}

// S13: a person sees on each Setting whether it is in force, and why not; a Setting of another binary is reported by that binary.
func TestEachSettingSaysWhetherItIsInForce(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	create := func(name, value string) *v1beta2.Setting {
		s := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Value: value}
		require.NoError(t, admin.Create(t.Context(), s))
		return s
	}
	good := create("auto-salvage", "true")
	bad := create("default-engine-image", "an image") // the API server takes any
	unobeyed := create("backing-image-cleanup-wait-interval", "")
	another := create("priority-class", "high")
	require.NoError(t, status.MergeStatus(t.Context(), admin, unobeyed, map[string]any{"applied": true})) // as Longhorn leaves it

	p := shell.Start(t, shell.Options{
		Identity: testkit.BinaryIdentity(t, namespace, setting.AttachController), Namespace: namespace, Owner: setting.AttachController,
	}, func(_ context.Context, rt *runkit.Runtime) error {
		source := settingcontroller.NewSource(rt.Client, rt.Namespace, catalogue)
		return settingcontroller.Setup(rt, source, setting.AttachController, "drover_test_setting_invalid")
	})
	defer func() {
		p.Stop()
		require.NoError(t, p.Wait())
	}()
	now := func(s *v1beta2.Setting) *v1beta2.Setting {
		read := &v1beta2.Setting{}
		require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(s), read))
		return read
	}
	shows := func(s *v1beta2.Setting, applied bool, reason string) {
		t.Helper()
		require.Eventually(t, func() bool {
			s := now(s)
			return s.Status.Applied == applied && s.Status.ObservedGeneration == s.Generation &&
				conditions.Reason(s.Status.Conditions, v1beta2.SettingApplied) == reason
		}, patience, poll, "%s does not show %s", s.Name, reason)
	}
	shows(good, true, v1beta2.ReasonInForce)
	shows(bad, false, v1beta2.ReasonInvalidValue)
	shows(unobeyed, false, v1beta2.ReasonNotObeyed)

	written := now(bad).ResourceVersion
	require.Never(t, func() bool { return now(bad).ResourceVersion != written }, watched, poll, "a quiet Setting is written")
	require.NoError(t, admin.Patch(t.Context(), bad, client.RawPatch("application/merge-patch+json", []byte(`{"value":"image:1"}`))))
	shows(bad, true, v1beta2.ReasonInForce)
	require.Empty(t, now(another).Status.Conditions, "im-monitor reports about its own")
}
