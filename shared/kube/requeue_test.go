package kube

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUntil(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, time.Minute, Until(now.Add(time.Minute), now))
	require.Equal(t, time.Millisecond, Until(now, now), "due now is not never")
	require.Equal(t, time.Millisecond, Until(now.Add(-time.Hour), now), "nor is a time that has passed")
}
