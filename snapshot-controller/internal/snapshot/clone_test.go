package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// A snapshot that is copied, or whose data a linked clone shares, must not be merged away.
func TestWhichSnapshotAVolumeNeeds(t *testing.T) {
	copying := v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated, SourceVolume: "a", Snapshot: "s"}
	going := metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}
	for sentence, c := range map[string]struct {
		volume v1beta2.Volume
		want   string
	}{
		"an ordinary volume": {v1beta2.Volume{}, ""},
		"a linked clone": {v1beta2.Volume{Spec: v1beta2.VolumeSpec{CloneMode: v1beta2.CloneModeLinked, DataSource: "snap://a/s"}},
			"a/s"},
		"a linked clone of no snapshot": {v1beta2.Volume{Spec: v1beta2.VolumeSpec{CloneMode: v1beta2.CloneModeLinked, DataSource: "vol://a"}},
			""},
		"a linked clone that is going still reads it": {v1beta2.Volume{ObjectMeta: going,
			Spec: v1beta2.VolumeSpec{CloneMode: v1beta2.CloneModeLinked, DataSource: "snap://a/s"}}, "a/s"},
		"a copy under way": {v1beta2.Volume{Spec: v1beta2.VolumeSpec{DataSource: "vol://a"},
			Status: v1beta2.VolumeStatus{CloneStatus: copying}}, "a/s"},
		"a copy that is whole": {
			v1beta2.Volume{Status: v1beta2.VolumeStatus{CloneStatus: v1beta2.VolumeCloneStatus{State: v1beta2.CloneCompleted,
				SourceVolume: "a", Snapshot: "s"}}}, ""},
		"a copy that is not needed": {v1beta2.Volume{ObjectMeta: going, Status: v1beta2.VolumeStatus{CloneStatus: copying}}, ""},
		"a copy without its snapshot": {
			v1beta2.Volume{Status: v1beta2.VolumeStatus{CloneStatus: v1beta2.VolumeCloneStatus{State: v1beta2.CloneInitiated,
				SourceVolume: "a"}}}, ""},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.want, Shared(&c.volume)) })
	}
}
