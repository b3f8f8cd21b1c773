package backup

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABackupHasItsOwnLabelsAndThoseOfItsVolume(t *testing.T) {
	for name, test := range map[string]struct {
		own    map[string]string
		origin Origin
		want   map[string]string
	}{
		"of a volume of which nothing is known": {map[string]string{"a": "b"}, Origin{}, map[string]string{"a": "b"}},
		"of a volume in use": {map[string]string{"a": "b"}, Origin{AccessMode: "rwx", KubernetesStatus: `{"pvName":"pv"}`},
			map[string]string{"a": "b", "longhorn.io/volume-access-mode": "rwx", "KubernetesStatus": `{"pvName":"pv"}`}},
		"with the header of an encrypted volume": {nil, Origin{LUKSRoom: true}, map[string]string{"volume-encrypted": "enabled"}},
		"a person does not decide what the data contains": {
			map[string]string{"volume-encrypted": "enabled", "longhorn.io/volume-access-mode": "rwx"}, Origin{AccessMode: "rwo"},
			map[string]string{"longhorn.io/volume-access-mode": "rwo"}},
		"whoever created it knew what used the volume": {map[string]string{"KubernetesStatus": "then"}, Origin{KubernetesStatus: "now"},
			map[string]string{"KubernetesStatus": "then"}},
	} {
		require.Equal(t, test.want, Labels(test.own, test.origin), name)
	}
}
