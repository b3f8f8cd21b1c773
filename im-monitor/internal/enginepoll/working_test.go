package enginepoll

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWorkCountsWhileItIsUnderWay(t *testing.T) {
	var w working
	now := time.Now()
	require.False(t, w.on("e", now))
	one, two := w.begin("e"), w.begin("e")
	require.True(t, w.on("e", now))
	require.False(t, w.on("other", now))
	one()
	require.True(t, w.on("e", now))
	two()
	require.False(t, w.on("e", now))
	require.Empty(t, w.underWay, "nothing is kept of it")
}

// A v2 engine answers the addition of a replica at once, and rebuilds it then.
func TestACallThatEndedCountsUntilAPollAfterItWasWritten(t *testing.T) {
	var w working
	now := time.Now()
	end := w.beginCall("e")
	during := w.ended("e") // a poll begins
	end()
	w.shown("e", during)
	require.True(t, w.on("e", now), "that poll may have listed the replicas before the call took effect")

	after := w.ended("e")
	again := w.beginCall("e")
	w.shown("e", after)
	require.True(t, w.on("e", now), "the next call is under way")
	again()
	require.True(t, w.on("e", now), "and no poll showed what it brought")
	w.shown("e", w.ended("e"))
	require.False(t, w.on("e", now))
	require.Empty(t, w.unshown)

	w.beginCall("e")()
	w.forget("e")
	require.False(t, w.on("e", now), "it does not run any more, so that no poll comes")
	w.shown("e", 1)
	require.False(t, w.on("e", now))
}

// L5: a server goes on with a call whose caller gave up.
func TestACallThatWasNotAnsweredCountsUntilItCannotBeExecutedAnyMore(t *testing.T) {
	var w working
	now := time.Now()
	w.leaveOpen("e", now.Add(3*time.Minute))
	w.leaveOpen("e", now.Add(time.Minute))
	w.shown("e", 1)
	require.True(t, w.on("e", now.Add(3*time.Minute-time.Second)))
	require.False(t, w.on("other", now))
	require.False(t, w.on("e", now.Add(3*time.Minute)))
	require.Empty(t, w.open, "nothing is kept of it")
	w.leaveOpen("e", now.Add(time.Minute))
	w.forget("e")
	require.False(t, w.on("e", now), "it does not run any more")
}
