package enginepoll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/enginesnapshot"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
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
	// gets counts the objects that were read one by one; created are the names of those that were created.
	gets    int
	mu      sync.Mutex
	created []string
	// volume is the UID of the Volume, exists a Snapshot that cannot be created, and refuses one whose creation fails.
	volume, exists, refuses string
	// cached are the other engines as the cache shows them, or cacheFails is why it cannot be read; others are those that there are.
	cached     []v1beta2.Engine
	cacheFails error
	others     []v1beta2.Engine
	// frontends are in the cache; frontend is what there is, nil if it is gone.
	frontends []v1beta2.EngineFrontend
	frontend  *v1beta2.EngineFrontend
}

func (s *server) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.clock.Step(s.takes)
	s.gets++
	switch o := into.(type) {
	case *v1beta2.Engine:
		if i := slices.IndexFunc(s.others, func(e v1beta2.Engine) bool { return e.Name == key.Name }); i >= 0 {
			*o = s.others[i]
			return nil
		}
		s.engine.DeepCopyInto(o)
		return nil
	case *v1beta2.EngineFrontend:
		if s.frontend != nil {
			*o = *s.frontend
			return nil
		}
	case *v1beta2.Volume:
		o.ObjectMeta = metav1.ObjectMeta{Name: "vol", UID: types.UID(cmp.Or(s.volume, "vol-uid"))}
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
	switch cached := list.(type) {
	case *v1beta2.EngineList:
		cached.Items = s.cached
		return s.cacheFails
	case *v1beta2.EngineFrontendList:
		cached.Items = s.frontends
		return nil
	}
	s.clock.Step(s.takes)
	var o client.ListOptions
	o.ApplyOptions(options)
	s.selected = append(s.selected, o.FieldSelector.String())
	list.(*v1beta2.SnapshotList).Items = s.snapshots
	return nil
}

func (s *server) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o.GetName() {
	case s.exists:
		return apierrors.NewAlreadyExists(schema.GroupResource{}, o.GetName())
	case s.refuses:
		return errors.New("no room in etcd")
	}
	s.created = append(s.created, o.GetName())
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
	c := &Controller{rt: rt, mapper: kube.Mapper{Reader: s}, guard: execute.Guard{Clock: s.clock}, options: Options{Busy: time.Second},
		pool: pool{connect: imclient.NewDialer(imclient.Options{}).Proxy}, mirrors: make(chan struct{}, mirrorsAtOnce)}
	return &poll{Controller: c, facts: facts{engine: s.engine}, session: session{through: &way{manager: "10.0.0.1"}}}, s, names
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

// engineOf is another engine of vol.
func engineOf(name, state string) []v1beta2.Engine {
	e := v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta2.EngineSpec{VolumeName: "vol", DesireState: state}}
	e.Status.CurrentState = state
	return []v1beta2.Engine{e}
}

func sends(context.Context, []*v1beta2.Snapshot) error { return nil }

// What another engine does is read uncached; where it is not known whether there is one, there may be.
func TestNoSnapshotIsChangedBesideAnotherEngine(t *testing.T) {
	running, stopped := engineOf("vol-e-1", v1beta2.InstanceStateRunning), engineOf("vol-e-1", v1beta2.InstanceStateStopped)
	for name, test := range map[string]struct {
		change func(*server)
		reason string
	}{
		"another that is stopped": {func(s *server) { s.cached, s.others = running, stopped }, ""},
		"another that was begun since the cache was read": {func(s *server) { s.cached, s.others = stopped, running },
			"another engine of volume vol is to run"},
		"a cache that cannot be read": {func(s *server) { s.cacheFails = errors.New("the cache is closed") }, "the cache is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			p, s, names := newCall(0, 1)
			test.change(s)
			_, out := p.callSnapshots(t.Context(), opRemove, names, every, sends)
			require.Equal(t, test.reason == "", out.Sent())
			require.Contains(t, out.Stop.Message, test.reason)
		})
	}
}

// A cache that cannot be read leaves open whether there is another engine, and which one is copied from.
func TestEnginesThatCannotBeReadAreNotAbsent(t *testing.T) {
	p, s, _ := newCall(0, 0)
	s.cacheFails = errors.New("the cache is closed")
	alone, err := p.isAlone(t.Context(), s.engine)
	require.False(t, alone)
	require.ErrorIs(t, err, s.cacheFails)
	require.ErrorIs(t, p.clone(t.Context(), *p.through, engine.Call{Volume: "source"}), s.cacheFails)
}

// The frontend may have moved, or lead to another engine, since the way through it was found.
func TestNoCallGoesThroughAFrontendThatChanged(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*server)
		sent   bool
	}{
		"as it was":                       {func(*server) {}, true},
		"gone":                            {func(s *server) { s.frontend = nil }, false},
		"gone from the cache, too":        {func(s *server) { s.frontend, s.frontends = nil, nil }, false},
		"it belongs to another engine":    {func(s *server) { s.frontend.Spec.EngineName = "vol-e-1" }, false},
		"it has another address":          {func(s *server) { s.frontend.Status.StorageIP = "10.0.0.3" }, false},
		"it has another port":             {func(s *server) { s.frontend.Status.Port = 20002 }, false},
		"it has another instance manager": {func(s *server) { s.frontend.Status.InstanceManagerName = "im-3" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, s, names := newCall(0, 1)
			s.engine.Spec.DataEngine = v1beta2.DataEngineV2
			f := v1beta2.EngineFrontend{ObjectMeta: metav1.ObjectMeta{Name: "vol-ef-0"},
				Spec:   v1beta2.EngineFrontendSpec{VolumeName: "vol", EngineName: s.engine.Name},
				Status: v1beta2.EngineFrontendStatus{}}
			f.Status.StorageIP, f.Status.Port, f.Status.InstanceManagerName = "10.0.0.2", 20001, "im-2"
			s.frontends, s.frontend = []v1beta2.EngineFrontend{f}, f.DeepCopy()
			p.through.Frontend, p.through.frontend = f.Name, whereFrontend(&f)
			test.change(s)
			_, out := p.callSnapshots(t.Context(), opRemove, names, every, sends)
			require.Equal(t, test.sent, out.Sent(), out.Stop.Message)
			require.NoError(t, p.held(t.Context(), s.engine, "", way{}), "what does not go through it is sent")
		})
	}
}

// Another poll may have dropped the connection between the time that the way was found and the call.
func TestACallGoesOverTheConnectionThatThePoolHas(t *testing.T) {
	p, _, names := newCall(0, 1)
	dropped, err := p.pool.get("10.0.0.1", p.rt.Clock.Now())
	require.NoError(t, err)
	p.through.proxy = dropped
	p.pool.failed(*p.through, imclient.ErrUnreachable)
	_, out := p.callSnapshots(t.Context(), opRemove, names, every, func(context.Context, []*v1beta2.Snapshot) error {
		require.NotSame(t, dropped, p.through.proxy)
		return imclient.ErrUnreachable
	})
	require.Equal(t, execute.Unanswered, out.Outcome)
	require.Empty(t, p.pool.open, "it is not kept")
}

// What removes rests on what is read uncached, what takes on the cache.
func TestToTakeASnapshotNothingIsReadUncached(t *testing.T) {
	for op, uncached := range map[string]bool{opTake: false, opRemove: true, opPurge: true} {
		p, s, names := newCall(0, 1)
		s.cached, s.others = engineOf("vol-e-1", v1beta2.InstanceStateStopped), engineOf("vol-e-1", v1beta2.InstanceStateStopped)
		other := &server{clock: s.clock, engine: s.engine.DeepCopy(), snapshots: s.snapshots, others: s.others}
		other.engine.Spec.DesireState = v1beta2.InstanceStateStopped
		p.rt.Uncached = other
		_, out := p.callSnapshots(t.Context(), op, names, every, sends)
		require.Equal(t, !uncached, out.Sent(), op)
		p.rt.Uncached, p.rt.Client = s, other
		p.mapper = kube.Mapper{Reader: s}
		_, out = p.callSnapshots(t.Context(), op, names, every, sends)
		require.Equal(t, uncached, out.Sent(), op)
	}
}

// A purge follows its removal within the time in which a call may follow its reads; else it has reads of its own, as without a removal.
func TestAPurgeRestsOnTheReadsOfItsRemoval(t *testing.T) {
	for name, test := range map[string]struct {
		wanted func(enginesnapshot.Snapshot) bool
		passes time.Duration
		reads  bool
	}{
		"at once":                          {every, 0, false},
		"at the end of that time":          {every, execute.ReadToCall, false},
		"after a removal that took long":   {every, execute.ReadToCall + 1, true},
		"after a removal that was stopped": {func(enginesnapshot.Snapshot) bool { return false }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, s, names := newCall(0, 1)
			p.callSnapshots(t.Context(), opRemove, names, test.wanted, sends)
			s.gets = 0
			s.clock.Step(test.passes)
			_, out := p.callSnapshots(t.Context(), opPurge, nil, nil, sends)
			require.Equal(t, execute.Accepted, out.Outcome)
			require.Equal(t, test.reads, s.gets > 0)
		})
	}
}

// What the check stops is tried again soon where it is still wanted.
func TestACallThatACheckStoppedIsTriedAgainSoon(t *testing.T) {
	p, s, names := newCall(0, 1)
	s.cached, s.others = engineOf("vol-e-1", v1beta2.InstanceStateRunning), engineOf("vol-e-1", v1beta2.InstanceStateRunning)
	_, out := p.callSnapshots(t.Context(), opTake, names, every, sends)
	require.Equal(t, p.options.Busy, p.after(out))
	s.cached = nil
	_, out = p.callSnapshots(t.Context(), opTake, names, func(enginesnapshot.Snapshot) bool { return false }, sends)
	require.False(t, out.Sent())
	require.Zero(t, p.after(out), "no Snapshot requests it")
}

// What a backup is based on was read before the snapshots were changed.
func TestABackupIsBegunByAPollThatChangedNoSnapshot(t *testing.T) {
	p, _, names := newCall(0, 1)
	p.backups = map[string]*v1beta2.Backup{"backup-1": {ObjectMeta: metav1.ObjectMeta{Name: "backup-1"}}}
	next, err := p.applyBackups(t.Context(), backup.Verdict{Begin: "backup-1"})
	require.NoError(t, err)
	require.Equal(t, p.options.Busy, next, "it is tried")
	p.callSnapshots(t.Context(), opTake, names, every, sends)
	next, err = p.applyBackups(t.Context(), backup.Verdict{Begin: "backup-1"})
	require.NoError(t, err)
	require.Zero(t, next, "it waits for the next poll")
}

func TestWhatIsLoggedOfSnapshotsAndBackupsHasTheirName(t *testing.T) {
	var lines []string
	p, s, names := newCall(0, 1)
	p.rt.Log = funcr.New(func(name, args string) { lines = append(lines, name+" "+args) }, funcr.Options{})
	s.cached, s.others = engineOf("vol-e-1", v1beta2.InstanceStateRunning), engineOf("vol-e-1", v1beta2.InstanceStateRunning)
	p.callSnapshots(t.Context(), opTake, names, every, sends)
	p.backups = map[string]*v1beta2.Backup{"backup-1": {ObjectMeta: metav1.ObjectMeta{Name: "backup-1"}}}
	_, err := p.applyBackups(t.Context(), backup.Verdict{Begin: "backup-1"})
	require.NoError(t, err)
	require.Len(t, lines, 2)
	require.Regexp(t, "^snapshots .*not called", lines[0])
	require.Regexp(t, "^backups .*not called", lines[1])
}

func TestTheSoonerOfTwoWaits(t *testing.T) {
	require.Zero(t, sooner(0, 0))
	require.Equal(t, time.Second, sooner(0, time.Second))
	require.Equal(t, time.Second, sooner(time.Second, 0))
	require.Equal(t, time.Second, sooner(time.Minute, time.Second))
}

// The volume is read once for many; one event counts them. One that is refused holds up no other one, and is created after a pause.
func TestObjectsForManySnapshotsAreCreatedTogether(t *testing.T) {
	for name, test := range map[string]struct {
		change         func(*server)
		created, later int
		event          string
	}{
		"all":                       {func(*server) {}, mirrorBatch + 3, 0, "67 snapshots that had no Snapshot, from s-000 to s-066: 67 were"},
		"one exists by now":         {func(s *server) { s.exists = "s-001" }, mirrorBatch + 2, 0, "from s-000 to s-066: 66 were created"},
		"one is refused":            {func(s *server) { s.refuses = "s-001" }, mirrorBatch + 2, 1, "from s-000 to s-066: 66 were created"},
		"the volume is another one": {func(s *server) { s.volume = "another" }, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, s, _ := newCall(0, 0)
			p.memory.view(p.engine, s.clock.Now())
			test.change(s)
			var names []string
			for i := range mirrorBatch + 3 {
				names = append(names, fmt.Sprintf("s-%03d", i))
			}
			p.mirror(t.Context(), names)
			require.Len(t, s.created, test.created)
			require.LessOrEqual(t, s.gets, 2, "one for each batch")
			emitted := p.rt.Recorder.(*events.FakeRecorder).Events
			require.Equal(t, test.event != "", len(emitted) == 1)
			if test.event != "" {
				require.Contains(t, <-emitted, test.event)
			}
			if test.later == 0 {
				require.Zero(t, p.again())
				return
			}
			s.refuses = ""
			p.mirror(t.Context(), []string{"s-001"})
			require.Len(t, s.created, test.created, "its pause is not over")
			require.Equal(t, afterRefusal.First, p.again())
			s.clock.Step(afterRefusal.First)
			p.mirror(t.Context(), []string{"s-001"})
			require.Len(t, s.created, test.created+test.later)
			require.Zero(t, p.again())
		})
	}
}

// L5: a v2 purge, answered or not, is work until a poll has shown its effect: only then does a switch-over close the old target.
func TestEveryCallCountsAsWorkUntilAPollShowsItsEffect(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		open   bool
	}{
		"answered":     {nil, false},
		"refused":      {&imclient.CallError{Kind: imclient.ErrRefused, Err: errors.New("no")}, false},
		"not answered": {&imclient.CallError{Kind: imclient.ErrUnreachable, Err: context.DeadlineExceeded}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, s, _ := newCall(0, 0)
			p.options.PostElectionDelay = 3 * time.Minute
			require.False(t, p.Working(p.engine.Name))
			_, out := p.callSnapshots(t.Context(), opPurge, nil, nil, func(context.Context, []*v1beta2.Snapshot) error {
				require.True(t, p.Working(p.engine.Name), "it is under way")
				return c.answer
			})
			require.True(t, out.Sent())
			require.True(t, p.Working(p.engine.Name), "no poll has shown its effect")
			require.True(t, p.called, "so that a poll comes soon")
			p.working.shown(p.engine.Name, p.working.ended(p.engine.Name))
			require.Equal(t, c.open, p.Working(p.engine.Name))
			s.clock.Step(3 * time.Minute)
			require.False(t, p.Working(p.engine.Name))
		})
	}
}
