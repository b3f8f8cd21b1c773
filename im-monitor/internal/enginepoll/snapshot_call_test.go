package enginepoll

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

// server is an API server that takes its time for each request. It has a Volume, an Engine and Snapshots of it.
type server struct {
	client.Client
	clock     *testingclock.FakeClock
	takes     time.Duration
	engine    *v1beta2.Engine
	snapshots []v1beta2.Snapshot
	selected  []string
}

func (s *server) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.clock.Step(s.takes)
	switch o := into.(type) {
	case *v1beta2.Engine:
		s.engine.DeepCopyInto(o)
		return nil
	case *v1beta2.Volume:
		o.ObjectMeta = metav1.ObjectMeta{Name: "vol", UID: "vol-uid"}
		return nil
	case *v1beta2.Snapshot:
		if i := slices.IndexFunc(s.snapshots, func(s v1beta2.Snapshot) bool { return s.Name == key.Name }); i >= 0 {
			*o = s.snapshots[i]
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (s *server) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, cached := list.(*v1beta2.EngineList); cached {
		return nil
	}
	s.clock.Step(s.takes)
	var o client.ListOptions
	o.ApplyOptions(options)
	s.selected = append(s.selected, o.FieldSelector.String())
	list.(*v1beta2.SnapshotList).Items = s.snapshots
	return nil
}

// newCall is a poll at a server with so many Snapshots, and their names.
func newCall(takes time.Duration, many int) (*poll, *server, []string) {
	owner := []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: "vol", UID: "vol-uid"}}
	s := &server{clock: testingclock.NewFakeClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)), takes: takes}
	var names []string
	for i := range many {
		name := fmt.Sprintf("snap-%d", i)
		names = append(names, name)
		s.snapshots = append(s.snapshots, v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, OwnerReferences: owner},
			Spec: v1beta2.SnapshotSpec{Volume: "vol"}})
	}
	s.engine = runningEngine(owner)
	rt := &runkit.Runtime{Client: s, Uncached: s, Namespace: "ns", Clock: s.clock, Log: logr.Discard(), Recorder: events.NewFakeRecorder(10)}
	c := &Controller{rt: rt, mapper: kube.Mapper{Reader: s}, guard: execute.Guard{Clock: s.clock}, options: Options{Busy: time.Second}}
	return &poll{Controller: c, facts: facts{engine: s.engine}, session: session{through: &way{}}}, s, names
}

// runningEngine is an engine of vol that can be called.
func runningEngine(owner []metav1.OwnerReference) *v1beta2.Engine {
	return &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "vol-e-0", OwnerReferences: owner},
		Spec: v1beta2.EngineSpec{VolumeName: "vol", DesireState: v1beta2.InstanceStateRunning},
		Status: v1beta2.EngineStatus{CurrentState: v1beta2.InstanceStateRunning, StorageIP: "10.0.0.1", Port: 10000,
			InstanceManagerName: "im-1"}}
}

func every(enginesnapshot.Snapshot) bool { return true }

// One request reads the Snapshots of a call, however many they are, so that the checks end in time.
func TestACallForManySnapshotsIsSent(t *testing.T) {
	p, s, names := newCall(100*time.Millisecond, 300)
	still, out := p.callSnapshots(t.Context(), opRemove, append(names, "gone"), every,
		func(_ context.Context, still []*v1beta2.Snapshot) error { return nil })
	require.Equal(t, execute.Accepted, out.Outcome)
	require.Equal(t, names, namesOf(still))
	require.Equal(t, []string{"spec.volume=vol"}, s.selected)
	require.Equal(t, soon, p.after(out))
}

func TestChecksThatTakeTooLongAreReportedAndTheNextPollComesSoon(t *testing.T) {
	p, _, names := newCall(2*time.Second, 2)
	_, out := p.callSnapshots(t.Context(), opRemove, names, every, func(context.Context, []*v1beta2.Snapshot) error { return nil })
	require.False(t, out.Sent())
	require.Equal(t, p.options.Busy, p.after(out))
	select {
	case event := <-p.rt.Recorder.(*events.FakeRecorder).Events:
		require.Contains(t, event, "The checks took longer than 2s every time; no call was sent.")
	default:
		require.Fail(t, "there is no event")
	}
}

func TestTheSoonerOfTwoWaits(t *testing.T) {
	require.Zero(t, sooner(0, 0))
	require.Equal(t, time.Second, sooner(0, time.Second))
	require.Equal(t, time.Second, sooner(time.Second, 0))
	require.Equal(t, time.Second, sooner(time.Minute, time.Second))
}
