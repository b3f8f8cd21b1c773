package dataplane

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// moving is a volume with engines A on node 1 and B on node 2, over the replicas there, and a frontend on node 3 that uses A.
type moving struct {
	*cluster
	a, b Ref
	to   Target
}

func newMoving(t *testing.T, frontend string) *moving {
	t.Helper()
	c := newCluster(t, V2, Behaviour{})
	where := map[int]string{0: c.replica(0, "vol"), 1: c.replica(1, "vol")}
	m := &moving{cluster: c, a: c.start(0, "vol-e-a", "vol", where), b: c.start(1, "vol-e-b", "vol", where)}
	m.to = Target{Engine: m.b.Name, Address: m.b.Address}
	_, err := c.servers[2].Create(Spec{Name: "vol-ef-0", Type: TypeFrontend, DataEngine: V2, Volume: "vol", PortCount: 1,
		EngineName:    m.a.Name,
		TargetAddress: m.a.Address, Frontend: frontend})
	require.NoError(t, err)
	return m
}

func (m *moving) phase(to Target, phase string) error {
	return m.servers[2].SwitchOver(V2, "vol-ef-0", TypeFrontend, to, phase)
}

func (m *moving) phases(to Target, phases ...string) {
	m.t.Helper()
	for _, phase := range phases {
		require.NoError(m.t, m.phase(to, phase), phase)
	}
}

func (m *moving) old() Target { return Target{Engine: m.a.Name, Address: m.a.Address} }

// through is the volume by its frontend, as a proxy call names it.
func (m *moving) through() Ref {
	return Ref{DataEngine: V2, Address: "127.1.1.3", Name: m.a.Name, Volume: "vol", Frontend: "vol-ef-0"}
}

// states are those of the listeners of A and B.
func (m *moving) states() [2]string {
	m.t.Helper()
	var out [2]string
	for n, name := range []string{m.a.Name, m.b.Name} {
		if i := m.servers[n].instances[name]; i != nil {
			out[n] = i.anaState()
		}
	}
	return out
}

// goesTo is the engine that a write reaches; empty where it waits.
func (m *moving) goesTo() string {
	m.t.Helper()
	written, err := m.plane.Write("vol", "", 1, m.clock.now.String())
	if err != nil {
		require.Equal(m.t, "Unavailable", CodeOf(err))
	}
	return written.Engine
}

func (m *moving) reported() Reported {
	m.t.Helper()
	reported, err := m.servers[2].Get(V2, "vol-ef-0")
	require.NoError(m.t, err)
	return reported
}

// unmoved reports that record and paths are those of A alone.
func (m *moving) unmoved() {
	m.t.Helper()
	reported := m.reported()
	require.Equal(m.t, m.a.Address, reported.ActivePath)
	require.Equal(m.t, []Path{newPath(m.a.Name, m.a.Address, ANAOptimized)}, reported.Paths)
}

func (m *moving) harmless() {
	m.t.Helper()
	require.NotContains(m.t, m.wrongs(), EffectTwoTargets)
	require.NotContains(m.t, m.wrongs(), EffectWrongEngine)
}

// Section 12, one row after the other, with a block device.
func TestEachPhaseOfASwitchOverChangesTheListenersAndOnlyPromotingWhatIsListed(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	watch := m.servers[2].Watch()
	for range 2 { // each may be repeated
		m.phases(m.to, PhasePreparing)
		require.Equal(t, [2]string{ANAOptimized, ANANonOptimized}, m.states())
		require.Equal(t, m.a.Name, m.goesTo())
		m.unmoved()
	}
	for range 2 {
		m.phases(m.to, PhaseSwitching)
		require.Equal(t, [2]string{ANAInaccessible, ANANonOptimized}, m.states())
		require.Equal(t, m.b.Name, m.goesTo(), "I/O continues, through the new target")
		m.unmoved()
	}
	require.Zero(t, watch.Take(), "nothing was listed, so no one is reported")
	m.phases(m.to, PhasePromoting)
	require.Equal(t, [2]string{ANAInaccessible, ANAOptimized}, m.states())
	require.Equal(t, m.b.Name, m.goesTo())
	reported := m.reported()
	require.Equal(t, m.b.Address, reported.ActivePath)
	require.Equal(t, m.b.Name, reported.EngineName)
	require.Equal(t, []Path{newPath(m.a.Name, m.a.Address, ANAInaccessible), newPath(m.b.Name, m.b.Address, ANAOptimized)}, reported.Paths,
		"the old path is kept")
	require.Equal(t, 1, watch.Take())
	m.harmless()
}

func TestASwitchOverToTheTargetOnRecordDoesNothingInEveryPhase(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing, PhaseSwitching)
	for _, phase := range []string{PhasePreparing, PhaseSwitching, PhasePromoting, ""} {
		m.phases(m.old(), phase)
		require.Equal(t, [2]string{ANAInaccessible, ANANonOptimized}, m.states(), "it stays inaccessible, though it is on record")
	}
	m.unmoved()
}

func TestPhasesAreNeitherOrderedNorRemembered(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhaseSwitching)
	require.Equal(t, "", m.goesTo(), "the old target is closed although none is prepared")
	m = newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing, PhasePromoting)
	require.Equal(t, [2]string{ANAOptimized, ANAOptimized}, m.states(), "promoting does not close the old target")
	require.Contains(t, m.wrongs(), EffectTwoTargets)
}

func TestPromotingThatFailsOpensTheOldTargetAgainWhereThatAnswers(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing, PhaseSwitching)
	m.close(1, m.b.Name, TypeEngine)
	require.Equal(t, "", m.goesTo())
	require.Error(t, m.phase(m.to, PhasePromoting))
	require.Equal(t, m.a.Name, m.goesTo())
	m.unmoved()
	m.harmless()

	m = newMoving(t, FrontendBlockDevice)
	require.Equal(t, "Internal", CodeOf(m.phase(m.to, PhasePromoting)), "there is no connection to reload")
	require.Equal(t, [2]string{ANAOptimized, ANAInaccessible}, m.states())

	m = newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing, PhaseSwitching)
	m.plane.SetCut("node-1", true)
	m.close(1, m.b.Name, TypeEngine)
	require.Error(t, m.phase(m.to, PhasePromoting))
	m.plane.SetCut("node-1", false)
	require.Equal(t, ANAInaccessible, m.states()[0], "it did not answer")
	require.Error(t, m.phase(m.to, PhasePromoting))
	require.Equal(t, ANAOptimized, m.states()[0], "and is opened once it does")
}

func TestTheStatesOfListenersOutliveTheFrontendsServerAndEndWithTheEngine(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing, PhaseSwitching)
	m.boot(2)
	require.Equal(t, m.b.Name, m.goesTo(), "the node's kernel continues")
	m.unmoved()
	require.Equal(t, [2]string{ANAInaccessible, ANANonOptimized}, m.states())
	m.phases(m.to, PhasePromoting)
	m.boot(2)
	require.Equal(t, m.b.Address, m.reported().ActivePath, "the new record was saved")
	m.close(0, m.a.Name, TypeEngine)
	require.Equal(t, "NotFound", CodeOf(m.servers[0].SetTargetANA(m.a.Name, ANAOptimized)))
}

func TestAnOldTargetThatIsGoneIsSkippedOrNotByWhatItsServerKnows(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing)
	m.servers[0].instances[m.a.Name].run.close()
	m.phases(m.to, PhaseSwitching) // "unable to find subsystem" is skipped
	m.close(0, m.a.Name, TypeEngine)
	require.Equal(t, "Internal", CodeOf(m.phase(m.to, PhaseSwitching)), "the engine behind the ANA call")
	m.servers[0].Stop()
	require.Equal(t, "Unavailable", CodeOf(m.phase(m.to, PhaseSwitching)), "a wrapped status keeps its code")
	m.phases(m.to, PhasePromoting)
	require.Equal(t, m.b.Name, m.goesTo())
}

func TestWhatASwitchOverIsRefusedFor(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	require.Equal(t, "InvalidArgument", CodeOf(m.phase(Target{Engine: "x", Address: "127.1.1.2"}, PhasePreparing)))
	require.Equal(t, "InvalidArgument", CodeOf(m.phase(m.to, "jumping")))
	require.Equal(t, "NotFound", CodeOf(m.servers[2].SwitchOver(V2, "nobody", TypeFrontend, m.to, PhasePreparing)))
	require.Equal(t, "Internal", CodeOf(m.phase(Target{Engine: "nobody", Address: m.b.Address}, PhasePreparing)))
	require.Equal(t, "Internal", CodeOf(m.phase(Target{Engine: m.b.Name, Address: "127.1.1.2:29999"}, PhasePreparing)),
		"nothing listens there")
	require.Equal(t, "Unimplemented", CodeOf(m.servers[0].SwitchOver(V2, m.a.Name, TypeEngine, m.to, "")))
	m.plane.SetCopyTime("vol", Held)
	ref := m.through()
	require.NoError(t, m.servers[2].Expand(ref, 2<<20, ""))
	require.Equal(t, "FailedPrecondition", CodeOf(m.phase(m.to, PhasePreparing)), "it is expanding")
	for _, frontend := range []string{FrontendUblk, ""} {
		m := newMoving(t, frontend)
		err := m.phase(m.to, PhasePreparing)
		require.Equal(t, "FailedPrecondition", CodeOf(err))
		require.ErrorContains(t, err, "does not support target switchover")
	}
	for code, err := range map[string]error{"NotFound": m.servers[0].SetTargetANA("nobody", ANAOptimized),
		"InvalidArgument": m.servers[0].SetTargetANA(m.a.Name, "closed")} {
		require.Equal(t, code, CodeOf(err))
	}
}

// The server connects nothing for nvmf: whoever uses the endpoint connects to the one on record.
func TestAnNVMfFrontendSwitchesTheListenersOnly(t *testing.T) {
	m := newMoving(t, FrontendNVMf)
	m.phases(m.to, PhasePreparing)
	require.Equal(t, [2]string{ANAOptimized, ANANonOptimized}, m.states())
	m.phases(m.to, PhaseSwitching)
	require.Equal(t, "", m.goesTo())
	m.unmoved()
	m.phases(m.to, PhasePromoting)
	require.Equal(t, m.b.Name, m.goesTo())
	require.Contains(t, m.reported().Endpoint, "nvmf://"+m.b.Address)
	m.harmless()
}

func TestAllPhasesAtOnce(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	m.phases(m.to, "")
	require.Equal(t, m.b.Name, m.goesTo())
	m.plane.SetCut("node-2", true)
	require.Error(t, m.phase(m.old(), ""))
	m.plane.SetCut("node-2", false)
	require.Equal(t, [2]string{ANAInaccessible, ANAOptimized}, m.states(), "the old target could not be closed, so that the new one was")
	m.harmless()
}

func TestOnlyBlockDevicesAreSuspended(t *testing.T) {
	for _, frontend := range []string{FrontendNVMf, FrontendUblk, ""} {
		m := newMoving(t, frontend)
		m.step(time.Second)
		require.Equal(t, "Unimplemented", CodeOf(m.servers[2].Suspend(V2, "vol-ef-0", TypeFrontend)))
		require.Contains(t, m.reported().ErrorMsg, "does not support suspend")
		require.Equal(t, Running, m.reported().State)
		require.NoError(t, m.servers[2].Resume(V2, "vol-ef-0", TypeFrontend), "it runs")
	}
	m := newMoving(t, FrontendBlockDevice)
	for range 2 {
		require.NoError(t, m.servers[2].Suspend(V2, "vol-ef-0", TypeFrontend))
		require.Equal(t, "", m.goesTo())
	}
	for range 2 {
		require.NoError(t, m.servers[2].Resume(V2, "vol-ef-0", TypeFrontend))
		require.Equal(t, m.a.Name, m.goesTo())
	}
}

// Between switching and promoting the server still sends to the old engine what comes through the frontend.
func TestCallsThroughAFrontendGoToTheEngineOnRecordWhileItsWritesGoElsewhere(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	ref := m.through()
	m.phases(m.to, PhasePreparing)
	_, err := m.servers[2].Snapshot(ref, "before", nil)
	require.NoError(t, err)
	m.harmless()
	m.phases(m.to, PhaseSwitching)
	_, err = m.servers[2].Snapshot(ref, "between", nil)
	require.NoError(t, err)
	require.Contains(t, m.wrongs(), EffectWrongEngine)
	where := m.replica(2, "vol")
	require.NoError(t, m.servers[2].ReplicaAdd(context.Background(), ref, Addition{Name: "vol-r-2", Address: where}))
	require.Equal(t, m.b.Name, m.goesTo())
	require.NotContains(t, m.plane.Volumes("vol")[0].Devices[0].Engine, m.a.Name)
	a, err := m.servers[0].Engine(Ref{DataEngine: V2, Name: m.a.Name})
	require.NoError(t, err)
	require.Equal(t, ModeRW, a.Modes["vol-r-2"], "the old engine has the replica")
	b, err := m.servers[1].Engine(Ref{DataEngine: V2, Name: m.b.Name})
	require.NoError(t, err)
	require.NotContains(t, b.Modes, "vol-r-2", "the one that gets the writes does not")
}

func TestTwoTargetsThatAreEquallyOpenAreTold(t *testing.T) {
	m := newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing, PhaseSwitching)
	require.NoError(t, m.servers[0].SetTargetANA(m.a.Name, ANANonOptimized))
	require.Contains(t, m.wrongs(), EffectTwoTargets, "the kernel prefers neither")

	m = newMoving(t, FrontendBlockDevice)
	m.phases(m.to, PhasePreparing, PhaseSwitching)
	require.NoError(t, m.servers[1].SetTargetANA(m.b.Name, ANAInaccessible))
	require.NoError(t, m.servers[0].SetTargetANA(m.a.Name, ANAOptimized))
	require.Equal(t, m.a.Name, m.goesTo(), "the exact way back: first the new one is closed")
	m.harmless()
}

// A target that was partitioned while it was open is open when it is back: unless its frontend's node gave the connection up.
func TestAnOldTargetThatIsBackIsUsedAgainUntilTheKernelGaveItUp(t *testing.T) {
	for lost, reported := range map[time.Duration]bool{29 * time.Second: true, 30 * time.Second: false} {
		m := newMoving(t, FrontendBlockDevice)
		m.phases(m.to, PhasePreparing)
		m.plane.SetCut("node-1", true)
		require.Equal(t, "Unavailable", CodeOf(m.phase(m.to, PhaseSwitching)))
		m.phases(m.to, PhasePromoting)
		m.step(lost)
		m.plane.SetCut("node-1", false)
		if reported {
			require.Contains(t, m.wrongs(), EffectTwoTargets, lost)
		} else {
			m.harmless()
			require.Equal(t, m.b.Name, m.goesTo())
		}
	}
}
