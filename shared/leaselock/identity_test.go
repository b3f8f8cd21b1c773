package leaselock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/leaselock"
)

func run(t *testing.T, place leaselock.Place) *leaselock.Identity {
	t.Helper()
	i, err := leaselock.NewIdentity(place)
	require.NoError(t, err)
	return i
}

func TestAnEarlierContainerOfThePodIsDead(t *testing.T) {
	pod := leaselock.Place{PodName: "im-monitor-1", PodUID: "uid-1"}
	first, second := run(t, pod), run(t, pod)
	require.NotEqual(t, first.Name, second.Name)
	require.True(t, second.Dead(first.Name))
	require.False(t, second.Dead(second.Name), "oneself")
	require.False(t, second.Dead(""), "no holder")
	for _, other := range []leaselock.Place{{PodName: "im-monitor-2", PodUID: "uid-2"}, {PodName: "im-monitor-1", PodUID: "uid-10"}, {}} {
		require.False(t, second.Dead(run(t, other).Name), "%v", other)
	}
}

func TestOutsidePodsTheRunIsDeadWhoseLockFileIsFree(t *testing.T) {
	place := leaselock.Place{Directory: filepath.Join(t.TempDir(), "made"), Key: "lease"}
	first := run(t, place)
	beside := run(t, place)
	require.False(t, beside.Dead(first.Name), "it lives")
	require.NoError(t, first.Close())
	second := run(t, place)
	require.True(t, second.Dead(first.Name))
	require.False(t, second.Dead(beside.Name), "it never had the lock file, so nothing is known of it")
	other := place
	other.Key = "another lease"
	require.False(t, run(t, other).Dead(second.Name))
}

func TestWithoutAUsableLockFileNobodyIsDead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	i, err := leaselock.NewIdentity(leaselock.Place{Directory: file, Key: "lease"})
	require.Error(t, err)
	require.NotEmpty(t, i.Name)
	require.False(t, i.Dead(run(t, leaselock.Place{}).Name))
	require.NoError(t, i.Close())
}
