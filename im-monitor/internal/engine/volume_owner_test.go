package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestACallGoesToTheEngineOfAVolumeThatStays(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *v1beta2.Engine, v *v1beta2.Volume)
		want   string
	}{
		{"a volume that stays", func(*v1beta2.Engine, *v1beta2.Volume) {}, ""},
		{"one that is being deleted", func(_ *v1beta2.Engine, v *v1beta2.Volume) { v.DeletionTimestamp = &metav1.Time{} },
			"volume vol is gone, being deleted or another one"},
		{"another one of the name", func(_ *v1beta2.Engine, v *v1beta2.Volume) { v.UID = "2" },
			"volume vol is gone, being deleted or another one"},
		{"an engine without an owner", func(e *v1beta2.Engine, _ *v1beta2.Volume) { e.OwnerReferences = nil },
			"volume vol is gone, being deleted or another one"},
		{"one that is to move", func(_ *v1beta2.Engine, v *v1beta2.Volume) { v.Spec.MigrationNodeID = "node-2" },
			"volume vol moves to another node"},
		{"one whose move has not ended", func(_ *v1beta2.Engine, v *v1beta2.Volume) { v.Status.CurrentMigrationNodeID = "node-2" },
			"volume vol moves to another node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &v1beta2.Engine{}
			e.Spec.VolumeName = "vol"
			e.OwnerReferences = []metav1.OwnerReference{{Kind: "Other", Name: "vol", UID: "2"}, {Kind: "Volume", Name: "vol", UID: "1"}}
			v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol", UID: "1"}}
			c.change(e, v)
			if c.want == "" {
				require.NoError(t, Stays(e, v))
			} else {
				require.EqualError(t, Stays(e, v), c.want)
			}
		})
	}
	require.EqualError(t, Stays(&v1beta2.Engine{Spec: v1beta2.EngineSpec{VolumeName: "vol"}}, nil),
		"volume vol is gone, being deleted or another one")
}
