package enginepoll

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/events"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

// The progress is in the status of restores, and the map of rebuilds has none.
func TestARestoreThatFillsAReplicaIsNotAborted(t *testing.T) {
	p, s, _ := opened()
	p.options.RebuildStallTimeout, p.engine.Spec.VolumeSize = 10*time.Minute, 1<<30
	const minutes = 99
	watch := func(percent int) {
		p.watchRebuild(engine.Verdict{Rebuilding: "r-2", Status: v1beta2.EngineStatus{
			RebuildStatus: map[string]v1beta2.RebuildStatus{"tcp://10.0.0.2:1": {}},
			RestoreStatus: map[string]v1beta2.RestoreStatus{"tcp://10.0.0.2:1": {IsRestoring: true, Progress: percent}}}})
		s.clock.Step(time.Minute)
	}
	for percent := range minutes {
		watch(percent)
	}
	require.Zero(t, p.memory.view(p.engine, s.clock.Now()).failures["r-2"])
	for range 12 {
		watch(minutes)
	}
	require.Equal(t, engine.FailuresToErr, p.memory.view(p.engine, s.clock.Now()).failures["r-2"], "a restore that hangs is given up")
}

// Engines report whole per cents: at 24 MB/s one of a volume of 2 TiB takes 15 minutes.
func TestARebuildIsAbortedWhenItMakesNoProgressForItsSize(t *testing.T) {
	const tib = 1 << 40
	for name, test := range map[string]struct {
		size int64
		// each is the time between two per cents; polls are polls, one a minute.
		each    time.Duration
		polls   int
		aborted bool
	}{
		"a large volume that goes on":              {2 * tib, 15 * time.Minute, 99 * 15, false},
		"a large volume that hangs":                {2 * tib, time.Hour * 24 * 365, 7 * 60, true},
		"a small volume that hangs":                {1 << 30, time.Hour * 24 * 365, 11, true},
		"a small volume that goes on":              {1 << 30, 5 * time.Minute, 99 * 5, false},
		"a small volume that went on a moment ago": {1 << 30, time.Hour * 24 * 365, 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, s, _ := opened()
			p.options.RebuildStallTimeout, p.engine.Spec.VolumeSize, p.engine.Status.CurrentSize = 10*time.Minute, test.size, test.size
			began := s.clock.Now()
			for range test.polls + 1 {
				percent := int(s.clock.Since(began) / test.each)
				p.watchRebuild(engine.Verdict{Rebuilding: "r-2", Status: v1beta2.EngineStatus{CurrentSize: test.size,
					RebuildStatus: map[string]v1beta2.RebuildStatus{"tcp://10.0.0.2:1": {IsRebuilding: true, Progress: percent}}}})
				s.clock.Step(time.Minute)
			}
			require.Equal(t, test.aborted, len(s.created) > 0, "its call is ended")
			require.Equal(t, test.aborted, p.memory.view(p.engine, s.clock.Now()).failures["r-2"] == engine.FailuresToErr)
			emitted := p.rt.Recorder.(*events.FakeRecorder).Events
			require.Equal(t, test.aborted, len(emitted) == 1)
			if test.aborted {
				require.Contains(t, <-emitted, "Warning RebuildAborted The rebuild of replica r-2 made no progress for ")
			}
		})
	}
}
