package execute_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/execute"
)

func TestOneManagerNeverTakesAllHands(t *testing.T) {
	var s execute.Semaphore
	first, ok := s.Take("im-1", 2)
	require.True(t, ok)
	_, ok = s.Take("im-1", 2)
	require.True(t, ok)
	_, ok = s.Take("im-1", 2)
	require.False(t, ok)
	_, ok = s.Take("im-2", 2)
	require.True(t, ok)
	first()
	_, ok = s.Take("im-1", 2)
	require.True(t, ok)
}
