package orphancontroller

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
)

// oneClient is an inventory that has nothing but a connection.
type oneClient struct {
	inventory.Store
	client imclient.Client
}

func (s oneClient) Client(string) (imclient.Client, inventory.Epoch, bool) {
	return s.client, inventory.Epoch{}, true
}

// deaf answers a deletion like a connection whose context ended before it sent anything.
type deaf struct {
	imclient.Client
	sent bool
}

func (d *deaf) Delete(ctx context.Context, _ imclient.DeleteRequest) error {
	if ctx.Err() != nil {
		return imclient.ErrUnreachable
	}
	d.sent = true
	return nil
}

// O17: an old leader that was paused between its checks and its call sends nothing when it continues.
func TestAPauseAfterTheChecksEndsTheCall(t *testing.T) {
	began := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		pause time.Duration
		sent  bool
	}{
		{"no pause", 0, true},
		{"slow checks", 2 * time.Second, true},
		{"longer than the lease", time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &deaf{}
			r := &executor{&base{clock: testingclock.NewFakePassiveClock(began.Add(c.pause)), callTimeout: 5 * time.Second,
				store: oneClient{client: server}, log: logr.Discard()}}
			o := &v1beta2.Orphan{Spec: v1beta2.OrphanSpec{Parameters: map[string]string{v1beta2.OrphanParameterInstanceUUID: "1"}}}
			out := r.call(t.Context(), orphan.Key{InstanceManager: "im-1", Name: "vol-1-e-0"}, o, &inventory.Snapshot{},
				checked{began: began})
			require.Equal(t, c.sent, server.sent)
			require.Equal(t, c.sent, out.failure.Reason == "")
		})
	}
}

// A replica whose Replica keeps the data stays listed as stopped: that is what was asked for, not a failure.
func TestAStoppedReplicaThatKeepsItsDataIsNotStillPresent(t *testing.T) {
	r := &executor{&base{}}
	o := &v1beta2.Orphan{ObjectMeta: metav1.ObjectMeta{UID: "uid"},
		Spec: v1beta2.OrphanSpec{Parameters: map[string]string{v1beta2.OrphanParameterInstanceUUID: "1"}}}
	r.attempts.change("uid", func(t *attempt) { t.accepted(inventory.Call{UUID: "1"}, nil, time.Time{}) })
	w := orphan.World{Replica: &orphan.Claim{}, Inventory: &orphan.Inventory{
		Instance: &orphan.Instance{Type: v1beta2.InstanceTypeReplica, State: v1beta2.InstanceStateStopped, UUID: "1"}}}
	require.Nil(t, r.stillPresent(o, w))
	w.Inventory.Instance.State = v1beta2.InstanceStateRunning
	require.NotNil(t, r.stillPresent(o, w))
}
