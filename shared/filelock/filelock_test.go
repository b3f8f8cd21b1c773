package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/filelock"
)

func TestALockIsHeldUntilItsFileIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Try(path)
	require.NoError(t, err)
	_, err = filelock.Try(path)
	require.ErrorIs(t, err, filelock.ErrHeld)

	require.NoError(t, held.Close())
	again, err := filelock.Try(path)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestAPathThatCannotBeOpenedIsNoHeldLock(t *testing.T) {
	_, err := filelock.Try(filepath.Join(t.TempDir(), "missing", "lock"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotErrorIs(t, err, filelock.ErrHeld)
}
