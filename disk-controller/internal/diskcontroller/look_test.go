package diskcontroller

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An attempt has ended when its answer is there: the next one, which may follow at once, finds the directory free.
func TestTheNextLookFindsTheDirectoryFree(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "data"), 0o755))
	l := NewLooker(Options{Root: root, LookTimeout: time.Minute})
	for range 20_000 {
		require.Empty(t, l.Look("/data").Problem)
	}
}
