package enginepoll

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
)

// writer is a client that reads nothing, and keeps what is applied to statuses.
type writer struct {
	client.Client
	scheme  *runtime.Scheme
	applied []metav1.PartialObjectMetadata
}

func (w *writer) Scheme() *runtime.Scheme { return w.scheme }

func (w *writer) Status() client.SubResourceWriter {
	return applier{to: w}
}

type applier struct {
	client.SubResourceWriter
	to *writer
}

func (a applier) Apply(_ context.Context, obj runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
	raw, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	var o metav1.PartialObjectMetadata
	a.to.applied = append(a.to.applied, o)
	return json.Unmarshal(raw, &a.to.applied[len(a.to.applied)-1])
}

// A cache that moved on after the decision must not give the decision a newer version: what it reports may not hold there.
func TestAConditionIsWrittenToTheVersionThatWasEvaluated(t *testing.T) {
	w := &writer{scheme: runtime.NewScheme()}
	require.NoError(t, v1beta2.AddToScheme(w.scheme))
	c := &Controller{rt: &runkit.Runtime{Client: w, Uncached: w, Namespace: "ns", Clock: clock.RealClock{}, Log: logr.Discard(),
		Recorder: events.NewFakeRecorder(1)}}
	p := &poll{Controller: c, facts: facts{snapshots: map[string]*v1beta2.Snapshot{"snap": {
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "snap", UID: "1", ResourceVersion: "7"}}}}}
	p.engine = &v1beta2.Engine{}
	p.writeSnapshots(t.Context(), []enginesnapshot.Change{{Name: "snap", Condition: v1beta2.Condition{
		Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady}}})
	require.Len(t, w.applied, 1)
	require.Equal(t, "7", w.applied[0].ResourceVersion)
	require.Equal(t, "1", string(w.applied[0].UID))
}
