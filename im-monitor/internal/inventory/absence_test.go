package inventory

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAbsenceNeedsTwoListsFiveSecondsApart(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.server.change(false, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") })
		b.Set(b.target)
		b.after(time.Minute)
		require.False(t, b.absent("r-1", "u1"))
		b.seen()
		b.server.change(true, func(m map[string]Instance) { delete(m, "r-1") })
		synctest.Wait()
		require.Equal(t, []string{"r-1"}, b.seen()[0].Names)
		require.False(t, b.absent("r-1", "u1"), "one list proves nothing")
		b.server.lists()

		b.after(4 * time.Second)
		b.server.set((*server).notify)
		synctest.Wait()
		require.False(t, b.absent("r-1", "u1"), "4 s are not enough, however many lists there are")

		b.after(1001 * time.Millisecond)
		require.Equal(t, []imclient.Cause{imclient.CauseEvent, imclient.CauseFollowUp}, b.server.lists(),
			"asking schedules the list that proves")
		require.True(t, b.absent("r-1", "u1"))
		require.Equal(t, []string{"r-1"}, b.seen()[0].Names, "whoever asked hears of the proof")
		b.after(time.Minute)
		require.Empty(t, b.server.lists(), "and then there is silence")
	})
}

func TestAbsenceOfANameThatThisEpochNeverSaw(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		require.False(t, b.absent("r-1", "u1"), "an instance manager that is not set proves nothing")
		b.Set(b.target)
		b.after(time.Second)
		first, _ := b.Latest(manager)
		require.False(t, b.absent("r-1", "u1"))
		require.Equal(t, first.Ended.Add(5*time.Second), b.expectAbsence("r-1"))
		b.after(4001 * time.Millisecond)
		require.True(t, b.absent("r-1", "u1"))
	})
}

func TestNobodyAsksNoFollowUp(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.startWith(running("r-1", "u1"))
		b.server.change(true, func(m map[string]Instance) { delete(m, "r-1") })
		b.after(time.Minute)
		require.Equal(t, []imclient.Cause{imclient.CauseReconnect, imclient.CauseEvent}, b.server.lists())
	})
}

func TestAnInstanceThatComesBackStartsTheGapAnew(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		there := func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") }
		gone := func(m map[string]Instance) { delete(m, "r-1") }
		b.server.change(false, there)
		b.Set(b.target)
		b.after(time.Minute)
		b.server.change(true, gone)
		b.after(3 * time.Second)
		require.False(t, b.absent("r-1", "u1"))
		b.server.change(true, there)
		b.after(time.Second)
		b.server.change(true, gone)
		b.after(3 * time.Second)
		require.False(t, b.absent("r-1", "u1"))
		b.after(3 * time.Second)
		require.True(t, b.absent("r-1", "u1"))
	})
}

func TestAnotherUUIDAtTheNameProvesAbsenceAtOnce(t *testing.T) {
	bubble(t, v1beta2.DataEngineV2, func(t *testing.T, b *bench) {
		b.server.change(false, func(m map[string]Instance) {
			m["r-1"] = running("r-1", "u2")
			m["e-1"] = running("e-1", "")
		})
		b.Set(b.target)
		synctest.Wait()
		require.True(t, b.absent("r-1", "u1"))
		require.False(t, b.absent("r-1", "u2"))
		require.False(t, b.absent("r-1", ""), "an unknown identity may be any")
		require.False(t, b.absent("e-1", "u1"), "an unknown identity may be any")
		require.True(t, b.AbsentAfter(Call{InstanceManager: manager, Type: v1beta2.InstanceTypeEngine, Name: "r-1", UUID: "u1",
			Ended: time.Now().Add(time.Hour)}))
	})
}

func TestAV2EpochProvesNothingBeforeItHasSettled(t *testing.T) {
	bubble(t, v1beta2.DataEngineV2, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(10 * time.Second)
		_, err := b.Fresh(t.Context(), manager)
		require.NoError(t, err)
		require.False(t, b.absent("r-1", "u1"), "two lists 10 s apart, but the epoch is young")
		list, _ := b.Latest(manager)
		require.Equal(t, list.EpochSince.Add(30*time.Second), b.expectAbsence("r-1"))
		b.after(20*time.Second + time.Millisecond)
		require.True(t, b.absent("r-1", "u1"))
	})
}

func TestAReconnectVoidsTheEvidenceButNotTheQuestion(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(3 * time.Second)
		require.False(t, b.absent("r-1", "u1"))
		b.server.crash(false)
		b.after(4 * time.Second)
		require.False(t, b.absent("r-1", "u1"))
		b.seen()
		b.after(2 * time.Second)
		require.True(t, b.absent("r-1", "u1"))
		require.Equal(t, []string{"r-1"}, b.seen()[0].Names)
	})
}

func TestAfterOurOwnDeletionOneLaterListIsEnough(t *testing.T) {
	call := func(b *bench, t *testing.T) Call {
		_, epoch, ok := b.Client(manager)
		require.True(t, ok)
		return Call{InstanceManager: manager, Type: v1beta2.InstanceTypeEngine, Name: "r-1", UUID: "u1", Epoch: epoch, Ended: time.Now()}
	}
	for _, c := range []struct {
		name       string
		dataEngine string
		reconnect  bool
		age        time.Duration
		want       bool
	}{
		{"of the same epoch, v1", v1beta2.DataEngineV1, false, time.Second, true},
		{"of the same epoch, v2, however young: it had the instance", v1beta2.DataEngineV2, false, time.Second, true},
		{"of another epoch, v1: only the two lists prove it", v1beta2.DataEngineV1, true, time.Second, false},
		{"of another epoch, v2 and young: it may be rediscovering", v1beta2.DataEngineV2, true, time.Second, false},
		{"of another epoch, v2 and settled", v1beta2.DataEngineV2, true, 31 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, c.dataEngine, func(t *testing.T, b *bench) {
				b.server.change(false, func(m map[string]Instance) { m["r-1"] = running("r-1", "u1") })
				b.Set(b.target)
				b.after(time.Second)
				sent := call(b, t)
				b.server.change(false, func(m map[string]Instance) { delete(m, "r-1") })
				require.False(t, b.AbsentAfter(sent), "the answer of the call proves nothing")
				if c.reconnect {
					b.server.crash(false)
				}
				b.after(c.age)
				_, err := b.Fresh(t.Context(), manager)
				require.NoError(t, err)
				require.Equal(t, c.want, b.AbsentAfter(sent))
			})
		})
	}
}

func TestAListBegunBeforeTheCallEndedProvesNothingAboutIt(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Second)
		list, _ := b.Latest(manager)
		require.False(t, b.AbsentAfter(Call{InstanceManager: manager, Type: v1beta2.InstanceTypeEngine, Name: "r-1", UUID: "u1",
			Epoch: list.Epoch, Ended: time.Now()}))
	})
}

func TestTheMemoryOfAbsenceIsBounded(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Second)
		for i := range 1000 {
			name := string(rune('a'+i%26)) + time.Duration(i).String()
			b.server.change(true, func(m map[string]Instance) { m[name] = running(name, "u") })
			b.after(100 * time.Millisecond)
			b.server.change(true, func(m map[string]Instance) { delete(m, name) })
			b.after(100 * time.Millisecond)
			require.False(t, b.absent(name, "u"))
		}
		m, _ := b.member(manager)
		m.mu.Lock()
		defer m.mu.Unlock()
		require.Less(t, len(m.absence.lacked), 40, "only what vanished within the gap")
		require.Less(t, len(m.absence.asked), 40, "only what is not proven yet")
	})
}

// Another process may have made the instance since the list was read, and reported that it runs.
func TestAListFromBeforeTheQuestionProvesNoAbsence(t *testing.T) {
	bubble(t, v1beta2.DataEngineV1, func(t *testing.T, b *bench) {
		b.Set(b.target)
		b.after(time.Minute)
		require.True(t, b.absent("e-1", ""))
		b.server.change(false, func(m map[string]Instance) { m["e-1"] = running("e-1", "u1") })
		later := Subject{InstanceManager: manager, Name: "e-1", Type: v1beta2.InstanceTypeEngine, Since: time.Now()}
		require.True(t, b.absent("e-1", ""), "no list has it yet")
		require.False(t, b.Absent(later))
		b.after(time.Second)
		require.Equal(t, []string{"e-1"}, b.names(t), "it is asked for at once")
		b.server.change(true, func(m map[string]Instance) { delete(m, "e-1") })
		b.after(time.Second)
		require.False(t, b.Absent(later))
		b.after(5 * time.Second)
		require.True(t, b.Absent(later))
	})
}
