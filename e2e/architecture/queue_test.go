package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A controller without the options of shared/queue has a queue whose timer wakes the process twice a second.
func TestEveryControllerHasAQueueWithoutTimers(t *testing.T) {
	found := 0
	for _, top := range append([]string{"shared"}, binaries...) {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := string(content)
			built := strings.Count(text, "NewControllerManagedBy(") + strings.Count(text, "controller.New(")
			typed := strings.Count(text, "controller.NewTyped(")
			found += built + typed
			if built > 0 {
				require.Contains(t, text, "queue.Options(", path)
				require.LessOrEqual(t, built, strings.Count(text, "WithOptions(")+strings.Count(text, "controller.New("), path)
			}
			require.Equal(t, typed, strings.Count(text, "NewQueue: queue.New["), path)
			if !strings.HasSuffix(filepath.ToSlash(path), "shared/queue/queue.go") {
				require.NotRegexp(t, `\bcontroller\.Options\{`, text, path)
			}
			return nil
		}))
	}
	require.Greater(t, found, 20, "the controllers are found")
}
