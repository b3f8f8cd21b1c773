package recurringcontroller

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// What a linked clone shares stays; what is older, or newer and surplus, goes.
func TestRetentionLeavesOutWhatLinkedClonesShare(t *testing.T) {
	w := newWorld(t)
	for name, hours := range map[string]int{"oldest": 4, "shared": 3, "older": 2, "newer": 1} {
		w.storedFor("often", name, "vol-1", hours, true)
	}
	require.NoError(t, w.admin.Create(t.Context(), &v1beta2.Volume{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "clone"},
		Spec: v1beta2.VolumeSpec{Size: 1000, NumberOfReplicas: 1, AccessMode: v1beta2.AccessModeReadWriteOnce,
			DataEngine: v1beta2.DataEngineV2, CloneMode: "linked-clone", DataSource: "snap://vol-1/shared"},
	}))
	w.startCut(cut.Point{}, nil)
	w.createJobThatKeepsOne("often")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		w.take()
		assert.Equal(c, []string{"newer", "shared"}, w.namesOf("vol-1"))
	}, patience, poll)
}

// The labels of a Backup that was listed in its target are in its status.
func TestABackupCountsToTheJobThatItsLabelsName(t *testing.T) {
	ofJob := map[string]string{v1beta2.LabelRecurringJob: "daily"}
	meta := metav1.ObjectMeta{Labels: map[string]string{v1beta2.LabelBackupVolume: "vol-1"}}
	for sentence, c := range map[string]struct {
		backup v1beta2.Backup
		want   string
	}{
		"one that a job asked for":        {v1beta2.Backup{Spec: v1beta2.BackupSpec{Labels: ofJob}}, "daily/vol-1"},
		"one that was listed in a target": {v1beta2.Backup{Status: v1beta2.BackupStatus{Labels: ofJob}}, "daily/vol-1"},
		"a person's":                      {v1beta2.Backup{}, ""},
	} {
		c.backup.ObjectMeta = meta
		require.Equal(t, c.want, madeKey(&c.backup), sentence)
	}
}

// refusing is a client that may not delete objects of one name.
type refusing struct {
	client.Client
	name string
	gone []string
}

func (c *refusing) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	if obj.GetName() == c.name {
		return errors.New("refused")
	}
	c.gone = append(c.gone, obj.GetName())
	return nil
}

// What is surplus goes, though the webhook refuses one of it.
func TestOneRefusalDoesNotKeepTheRest(t *testing.T) {
	c, recorder := &refusing{name: "a"}, events.NewFakeRecorder(10)
	snapshots := []*v1beta2.Snapshot{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	backups := []*v1beta2.Backup{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "c"}}}
	r := &retention{client: c, recorder: recorder}
	require.ErrorContains(t, r.remove(t.Context(), &v1beta2.RecurringJob{}, snapshots, backups), "refused")
	require.Equal(t, []string{"b", "c"}, c.gone)
	require.Contains(t, <-recorder.Events, "1 Snapshots")
	require.Contains(t, <-recorder.Events, "1 Backups")
}
