package enginepoll

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorkCountsWhileItIsUnderWay(t *testing.T) {
	var w working
	require.False(t, w.on("e"))
	one, two := w.begin("e"), w.begin("e")
	require.True(t, w.on("e"))
	require.False(t, w.on("other"))
	one()
	require.True(t, w.on("e"))
	two()
	require.False(t, w.on("e"))
	require.Empty(t, w.underWay, "nothing is kept of it")
}

// A v2 engine answers the addition of a replica at once, and rebuilds it then.
func TestACallThatEndedCountsUntilAPollAfterItWasWritten(t *testing.T) {
	var w working
	end := w.beginCall("e")
	during := w.ended("e") // a poll begins
	end()
	w.shown("e", during)
	require.True(t, w.on("e"), "that poll may have listed the replicas before the call took effect")

	after := w.ended("e")
	again := w.beginCall("e")
	w.shown("e", after)
	require.True(t, w.on("e"), "the next call is under way")
	again()
	require.True(t, w.on("e"), "and no poll showed what it brought")
	w.shown("e", w.ended("e"))
	require.False(t, w.on("e"))
	require.Empty(t, w.unshown)

	w.beginCall("e")()
	w.forget("e")
	require.False(t, w.on("e"), "it does not run any more, so that no poll comes")
	w.shown("e", 1)
	require.False(t, w.on("e"))
}
