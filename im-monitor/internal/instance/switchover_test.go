package instance

import (
	"net"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	oldTarget, newTarget = "10.0.0.8", "10.0.0.9"
	open                 = "non-optimized"
)

func serving(ips ...string) change {
	return func(w *World) {
		for _, ip := range ips {
			w.Serving = append(w.Serving, ip+":20001")
		}
	}
}

func pathTo(ip, state string) v1beta2.NvmeTCPPath {
	return v1beta2.NvmeTCPPath{EngineName: "engine at " + ip, TargetIP: ip, TargetPort: 20001, ANAState: state}
}

// connected is a running frontend whose spec names the new target, with these paths.
func connected(paths ...v1beta2.NvmeTCPPath) change {
	return func(w *World) {
		wanted(w)
		asFrontend(w)
		status(was(running))(w)
		lists(running)(w)
		w.Here.Entry.Paths = paths
	}
}

// UPG-3: a failed new engine never becomes the target, and an error half-way brings the old one back.
func TestAFrontendGoesBackWhereItCannotGoOn(t *testing.T) {
	declined := func(w *World) { w.MoveAfter = w.Now.Add(time.Minute) }
	asked := func(w *World) { w.Taken = "switch-over/im-1//10.0.0.8:20001/promoting" }
	for _, c := range []struct {
		name         string
		world        World
		to, phase    string
		reason, said string
	}{
		{"a new engine that does not serve is not asked for", world(connected(pathTo(oldTarget, anaOptimized)), serving(oldTarget)), "", "", ReasonTargetNotServing, ""},
		{"prepared, and the new engine is gone: the old path stays the only one",
			world(connected(pathTo(oldTarget, anaOptimized), pathTo(newTarget, open)), serving(oldTarget)), oldTarget, phaseSwitching, ReasonCalling, phasePreparing},
		{"switched, and the new engine is gone: the old path is opened first",
			world(connected(pathTo(oldTarget, anaInaccessible), pathTo(newTarget, open)), serving(oldTarget)), oldTarget, phasePromoting, ReasonCalling, phaseSwitching},
		{"with both closed the old one is promoted",
			world(connected(pathTo(oldTarget, anaInaccessible), pathTo(newTarget, anaInaccessible)), serving(oldTarget)), oldTarget, phasePromoting, ReasonCalling, phaseSwitching},
		{"declined half-way: back", world(connected(pathTo(oldTarget, anaInaccessible), pathTo(newTarget, open)), serving(oldTarget, newTarget), declined), oldTarget, phasePromoting, ReasonCalling, phaseSwitching},
		{"back again, it waits before it tries anew", world(connected(pathTo(oldTarget, anaOptimized)), serving(oldTarget, newTarget), declined), "", "", ReasonMoveRefused, ""},
		{"with no old engine it goes on, however often that was declined", world(connected(pathTo(oldTarget, anaInaccessible), pathTo(newTarget, open)), serving(newTarget)), newTarget, phasePromoting, ReasonCalling, phaseSwitching},
		{"with neither it waits", world(connected(pathTo(oldTarget, anaInaccessible), pathTo(newTarget, open))), "", "", ReasonTargetNotServing, phaseSwitching},
		{"a path that an earlier move closed is taken away first", world(connected(pathTo(oldTarget, anaOptimized), pathTo(newTarget, anaInaccessible)), serving(oldTarget, newTarget)),
			oldTarget, phasePromoting, ReasonCalling, phasePreparing},
		{"a server that lists it all the same is not asked twice", world(connected(pathTo(oldTarget, anaOptimized), pathTo(newTarget, anaInaccessible)), serving(oldTarget, newTarget), asked),
			newTarget, phaseSwitching, ReasonCalling, phasePreparing},
		{"at the target nothing else counts", world(connected(pathTo(newTarget, anaOptimized)), declined), "", "", ReasonDone, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.reason, v.Reason, v.Message)
			require.Equal(t, c.to, v.Call.Target.IP)
			require.Equal(t, c.phase, v.Call.Phase)
			require.Equal(t, c.said, v.Status.SwitchoverPhase)
			require.Equal(t, running, v.Status.State)
		})
	}
}

// switchOver is what a server does in a phase, as the contract says.
func switchOver(e *Entry, c Call) {
	own := func(p v1beta2.NvmeTCPPath) bool { return p.TargetIP == c.Target.IP }
	switch c.Phase {
	case phasePreparing:
		if !slices.ContainsFunc(e.Paths, own) {
			e.Paths = append(e.Paths, pathTo(c.Target.IP, open))
		}
	case phaseSwitching:
		for i := range e.Paths {
			if !own(e.Paths[i]) {
				e.Paths[i].ANAState = anaInaccessible
			}
		}
	case phasePromoting:
		e.Paths = []v1beta2.NvmeTCPPath{pathTo(c.Target.IP, anaOptimized)}
	}
}

// leads tells whether some I/O finds a way to an engine that serves.
func leads(w World) bool {
	return slices.ContainsFunc(w.Here.Entry.Paths, func(p v1beta2.NvmeTCPPath) bool {
		return p.ANAState != anaInaccessible && slices.Contains(w.Serving, net.JoinHostPort(p.TargetIP, strconv.Itoa(p.TargetPort)))
	})
}

// UPG-3: whatever engines come and go, and whatever is asked for in between, no call goes to an engine that does not serve, and none takes the way
// of the I/O away while the old engine serves; once the wanted one serves, the frontend ends there.
func TestAFrontendAlwaysHasAWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world(connected(pathTo(oldTarget, anaOptimized)), serving(oldTarget))
		served := func(ip string) bool { return slices.Contains(w.Serving, ip+":20001") }
		step := func(declines bool) {
			v := Decide(w)
			w.Status = v.Status
			if v.Call.Op == OpNone {
				return
			}
			require.Equal(t, OpSwitchOver, v.Call.Op)
			require.True(t, served(v.Call.Target.IP), "asked to go to an engine that does not serve")
			w.Tried, w.NotBefore = v.Call.Identity(), w.Now
			if declines {
				w.MoveAfter = w.Now.Add(time.Minute)
				return
			}
			had := leads(w)
			w.Taken = v.Call.Identity()
			switchOver(w.Here.Entry, v.Call)
			// Closing the path of an engine that does not serve takes nothing away; the next phase opens the other one.
			require.True(t, !had || leads(w), "%s to %s took the way of the I/O away: %+v", v.Call.Phase, v.Call.Target.IP, w.Here.Entry.Paths)
		}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				w.Serving = nil
				serving(rapid.SampledFrom([][]string{{oldTarget}, {newTarget}, {oldTarget, newTarget}}).Draw(t, "serving")...)(&w)
			case 1:
				ip := rapid.SampledFrom([]string{oldTarget, newTarget}).Draw(t, "wanted")
				w.Object.Target = TargetSpec{Engine: "engine at " + ip, IP: ip, Port: 20001}
			case 2:
				step(true)
			default:
				step(false)
			}
		}
		w.Serving, w.MoveAfter = nil, time.Time{}
		serving(oldTarget, newTarget)(&w)
		for range 10 {
			step(false)
		}
		for _, p := range w.Here.Entry.Paths {
			require.Equal(t, p.TargetIP == w.Object.Target.IP, p.ANAState == anaOptimized)
		}
		require.Equal(t, w.Object.Target.IP, w.Status.TargetIP)
		require.Empty(t, w.Status.SwitchoverPhase)
	})
}
