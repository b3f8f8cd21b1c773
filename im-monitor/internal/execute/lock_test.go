package execute_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/execute"
)

func TestOneHandAtATimeChangesAnInstance(t *testing.T) {
	var locks execute.Locks
	key := execute.Key{InstanceManager: "im-1", Name: "vol-r-1"}
	unlock, ok := locks.TryLock(key)
	require.True(t, ok)

	_, ok = locks.TryLock(key)
	require.False(t, ok, "a start and a deletion of one name must never overlap")
	other, ok := locks.TryLock(execute.Key{InstanceManager: "im-2", Name: "vol-r-1"})
	require.True(t, ok, "the same name elsewhere is another instance")
	other()

	unlock()
	again, ok := locks.TryLock(key)
	require.True(t, ok)
	unlock()
	_, ok = locks.TryLock(key)
	require.False(t, ok, "giving back twice must not free the next holder's lock")
	again()
}
