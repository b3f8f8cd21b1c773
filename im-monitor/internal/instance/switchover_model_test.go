package instance

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// model is a frontend's server and three engines, as the contract defines them: the engines have the states of the paths, phases are not
// remembered.
type model struct {
	t         *rapid.T
	w         World
	state     map[string]string // of the path to the engine at an IP
	runs      map[string]bool
	reachable map[string]bool // by everybody
	linked    map[string]bool
}

const open = "non-optimized"

func newModel(t *rapid.T) *model {
	m := &model{t: t, w: world(recordedAt(oldTarget)), state: map[string]string{}, runs: map[string]bool{}, reachable: map[string]bool{},
		linked: map[string]bool{oldTarget: true}}
	for _, ip := range []string{oldTarget, newTarget, thirdTarget} {
		m.state[ip], m.runs[ip], m.reachable[ip] = anaOptimized, true, true
	}
	m.know(true)
	return m
}

func (m *model) record() string { return record(m.w.Here.Entry).IP }

// know updates the facts about the engines; with proof also that one is gone.
func (m *model) know(proof bool) {
	var up []string
	for ip, runs := range m.runs {
		if runs && m.reachable[ip] {
			up = append(up, ip)
		}
	}
	serving(up...)(&m.w)
	for ip, runs := range m.runs {
		if !runs && proof && m.reachable[ip] {
			gone(ip)(&m.w)
		}
	}
}

// used are the engines that the kernel chooses among.
func (m *model) used() (out []string) {
	for _, wanted := range []string{anaOptimized, open} {
		for ip := range m.linked {
			if m.runs[ip] && m.reachable[ip] && m.state[ip] == wanted {
				out = append(out, ip)
			}
		}
		if len(out) > 0 {
			slices.Sort(out)
			return out
		}
	}
	return nil
}

// set changes the state of a path, if its engine's server answers. found is false where that knows no such engine.
func (m *model) set(ip, state string) (done, found bool) {
	if !m.reachable[ip] {
		return false, true
	}
	if !m.runs[ip] {
		return false, false
	}
	m.state[ip] = state
	require.LessOrEqual(m.t, len(m.used()), 1, "two engines write: %v, %v", m.state, m.linked)
	return true, true
}

// serve executes a phase and reports whether it was accepted.
func (m *model) serve(ip, phase string) bool {
	if m.record() == ip {
		return true
	}
	switch phase {
	case phasePreparing:
		if done, _ := m.set(ip, anaInaccessible); !done {
			return false
		}
		m.linked[ip] = true
		done, _ := m.set(ip, open)
		return done
	case phaseSwitching:
		done, _ := m.set(m.record(), anaInaccessible)
		return done
	}
	if done, _ := m.set(ip, anaOptimized); !done || rapid.IntRange(0, 5).Draw(m.t, "reload fails") == 0 {
		m.set(ip, anaInaccessible)
		m.set(m.record(), anaOptimized)
		return false
	}
	m.w.Here.Entry.EngineName, m.w.Here.Entry.ActivePath = engineAt(ip), net.JoinHostPort(ip, "20001")
	return true
}

// execute sends a call as the executor does.
func (m *model) execute(c Call) bool {
	if c.Op == OpSwitchOver {
		return (!c.CloseFirst || m.serve(c.Target.IP, phaseSwitching)) && m.serve(c.Target.IP, c.Phase)
	}
	if done, found := m.set(c.Revert.Close[len("engine at "):], anaInaccessible); !done && found && !c.Revert.Harmless {
		return false
	}
	if c.Revert.Open == "" {
		return true
	}
	done, _ := m.set(c.Revert.Open[len("engine at "):], anaOptimized)
	return done
}

// step decides once and executes, unless the process dies: before the call, before its answer, or before that is written.
func (m *model) step(dies string) {
	v := Decide(m.w)
	m.w.Status = v.Status
	if v.Call.Op == OpNone || dies == "first" {
		return
	}
	require.Contains(m.t, []Op{OpSwitchOver, OpRevert}, v.Call.Op)
	m.w.Status = v.Call.Ahead
	if dies == "ahead" {
		return
	}
	accepted := m.execute(v.Call)
	switch {
	case dies == "after":
	case accepted:
		m.w.Status.Switchover = v.Call.Accepted
	case v.Call.Op == OpSwitchOver:
		m.w.MoveAfter = m.w.Now.Add(time.Minute)
	}
}

// end ends an engine, except one that I/O may go to: attach-controller does not end such an engine.
func (m *model) end(ip string) {
	s := m.w.Status.Switchover
	status := v1beta2.EngineFrontendStatus{SwitchoverPhase: s.Phase, Switchover: v1beta2.SwitchoverStatus{OldTargetClosed: s.OldClosed}}
	if ip != m.record() && (ip != s.IP || !status.SwitchoverInProgress()) {
		m.runs[ip] = false
	}
}

// UPG-3 and one writer: whichever engines start, end and stop answering, wherever the process dies, and whichever target is requested, no
// two engines are open at once; and once the engines answer again the frontend is at its target, with all others closed or ended.
func TestASwitchOverNeverHasTwoOpenTargetsAndEndsAfterAnyCrash(t *testing.T) {
	ips := []string{oldTarget, newTarget, thirdTarget}
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		for range rapid.IntRange(0, 25).Draw(t, "steps") {
			ip := rapid.SampledFrom(ips).Draw(t, "ip")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				m.w.Object.Target = targetAt(ip)
			case 1:
				m.end(ip)
			case 2:
				m.reachable[ip] = false
			case 3:
				m.reachable[ip] = true
				require.LessOrEqual(t, len(m.used()), 1, "two engines write: %v, %v", m.state, m.linked)
			case 4:
				m.w.MoveAfter = time.Time{}
			default:
				m.know(true)
				m.step(rapid.SampledFrom([]string{"", "", "", "first", "ahead", "after"}).Draw(t, "dies"))
			}
		}
		for _, ip := range ips {
			m.reachable[ip] = true
		}
		wanted := m.w.Object.Target.IP
		if !m.runs[wanted] {
			wanted = m.record()
			m.w.Object.Target = targetAt(wanted)
		}
		for n := range 40 {
			m.know(true)
			m.w.MoveAfter = time.Time{}
			m.step("")
			for _, ip := range ips {
				if n > 30 && ip != wanted {
					m.end(ip)
				}
			}
		}
		require.Equal(t, wanted, m.record())
		require.Zero(t, m.w.Status.Switchover)
		require.Equal(t, []string{wanted}, m.used())
	})
}

// An engine that ends during a switch-over stops I/O no longer than it takes to prove that the engine is gone.
func TestTheOldTargetIsOpenedOnceTheNewOneIsProvenGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			m.know(true)
			m.step(rapid.SampledFrom([]string{"", "", "ahead", "after"}).Draw(t, "dies"))
		}
		if m.record() == newTarget {
			return
		}
		m.runs[newTarget] = false
		for range 10 {
			m.know(true)
			m.w.MoveAfter = time.Time{}
			m.step("")
		}
		require.Equal(t, []string{oldTarget}, m.used())
		require.Equal(t, v1beta2.InstanceStateRunning, m.w.Status.State)
	})
}
