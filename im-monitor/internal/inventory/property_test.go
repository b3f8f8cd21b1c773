package inventory

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// step is one thing that may happen to an instance manager.
type step struct {
	kind string
	name string
	wait time.Duration
}

// steps draws a history.
func steps(t *rapid.T) []step {
	one := rapid.Custom(func(t *rapid.T) step {
		return step{
			kind: rapid.SampledFrom([]string{"create", "delete", "quiet-delete", "crash", "down", "up", "empty", "replace", "slow", "fast",
				"late",
				"wait", "fresh"}).Draw(t, "kind"),
			name: rapid.SampledFrom([]string{"r-1", "r-2", "r-3"}).Draw(t, "name"),
			wait: time.Duration(rapid.IntRange(0, 8000).Draw(t, "wait")) * time.Millisecond,
		}
	})
	return rapid.SliceOfN(one, 1, 40).Draw(t, "steps")
}

// proves repeats the rule of absence over what the server knows that it answered, in the plainest way.
func proves(answers []answer, name, uuid string, v2 bool) bool {
	if len(answers) == 0 {
		return false
	}
	latest := answers[len(answers)-1]
	if instance, there := latest.instances[name]; there {
		return instance.UUID != uuid
	}
	if v2 && latest.began.Sub(latest.since) < 30*time.Second {
		return false
	}
	for _, earlier := range slices.Backward(answers) {
		if _, there := earlier.instances[name]; there || earlier.client != latest.client {
			return false
		}
		if latest.began.Sub(earlier.ended) >= 5*time.Second {
			return true
		}
	}
	return false
}

// TestLatestIsOfThePresentEpochAndAbsenceIsNeverClaimedWithoutEvidence drives an inventory through random histories (O16).
func TestLatestIsOfThePresentEpochAndAbsenceIsNeverClaimedWithoutEvidence(t *testing.T) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		t.Run(dataEngine, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				history := steps(r)
				bubble(t, dataEngine, func(t *testing.T, b *bench) { live(t, b, history) })
			})
		})
	}
}

// live plays a history and checks after each step.
func live(t *testing.T, b *bench, history []step) {
	serial := 0
	b.Set(b.target)
	for _, s := range history {
		play(t, b, s, &serial)
		synctest.Wait()
		check(t, b)
		b.after(s.wait)
		check(t, b)
	}
}

func play(t *testing.T, b *bench, s step, serial *int) {
	switch s.kind {
	case "create":
		*serial++
		b.server.change(true, func(m map[string]Instance) { m[s.name] = running(s.name, fmt.Sprint("u", *serial)) })
	case "delete", "quiet-delete":
		b.server.change(s.kind == "delete", func(m map[string]Instance) { delete(m, s.name) })
	case "crash", "down":
		b.server.crash(s.kind == "down")
	case "up":
		b.server.set(func(s *server) { s.down = false })
	case "empty":
		b.server.change(false, func(m map[string]Instance) { clear(m) })
	case "replace":
		*serial++
		b.target.PodUID = b.target.PodUID + "x"
		b.Set(b.target)
		if list, known := b.Latest(manager); known {
			require.Equal(t, b.target.PodUID, list.Epoch.PodUID, "another pod is another epoch at once")
		}
	case "slow":
		b.server.set(func(s *server) { s.latency = 3 * time.Second })
	case "late":
		b.server.set(func(s *server) { s.late = !s.late })
	case "fast":
		b.server.set(func(s *server) { s.latency = 0 })
	case "fresh":
		asked := time.Now()
		if list, err := b.Fresh(t.Context(), manager); err == nil {
			require.False(t, list.Began.Before(asked))
		}
	}
}

// check compares every claim with what the server answered.
func check(t *testing.T, b *bench) {
	latest, known := b.Latest(manager)
	b.server.mu.Lock()
	answers := b.server.answers
	b.server.mu.Unlock()
	if known {
		last := answers[len(answers)-1]
		client, epoch, _ := b.Client(manager)
		require.Equal(t, b.target.PodUID, latest.Epoch.PodUID)
		require.Equal(t, latest.Epoch, epoch)
		require.Same(t, last.client, untracked(client), "a list of an earlier connection")
		require.Equal(t, last.instances, maps.Collect(latest.Instances.All()))
		require.Equal(t, last.began, latest.Began)
	}
	for _, name := range []string{"r-1", "r-2", "r-3", "never"} {
		v2 := b.target.DataEngine == v1beta2.DataEngineV2
		require.Equal(t, known && proves(answers, name, "u1", v2), b.absent(name, "u1"), name)
		if _, there := instanceOf(latest, name); there {
			require.Equal(t, []string{manager}, b.Holders(name))
		} else {
			require.Empty(t, b.Holders(name))
		}
	}
}

func instanceOf(list *Snapshot, name string) (Instance, bool) {
	if list == nil {
		return Instance{}, false
	}
	return list.Instances.Find(name)
}
