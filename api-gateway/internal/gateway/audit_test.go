package gateway

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
)

// After a loss somebody asks who deleted which replica or snapshot. The path of such a request names only the volume.
func TestTheLogNamesWhatAClientChanged(t *testing.T) {
	var mutex sync.Mutex
	var lines []string
	e := newEnv(t, func(e *env) {
		e.log = funcr.New(func(_, args string) {
			mutex.Lock()
			defer mutex.Unlock()
			lines = append(lines, args)
		}, funcr.Options{})
	})
	changed := func() string {
		mutex.Lock()
		defer mutex.Unlock()
		for _, line := range lines {
			if strings.Contains(line, "Changed by a client") {
				lines = nil
				return line
			}
		}
		return ""
	}
	e.attachedVolume("vol-1", "node-1")
	e.eventually("/v1/volumes/vol-1", "its replica", func(v map[string]any) bool { return len(v["replicas"].([]any)) == 1 })
	e.call(http.MethodPost, "/v1/volumes/vol-1?action=replicaRemove", map[string]any{"name": "vol-1-r-1"})
	line := changed()
	require.Contains(t, line, `"object"="/v1/volumes/vol-1"`)
	require.Contains(t, line, "vol-1-r-1")
	require.Contains(t, line, `"result"="done"`)

	e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes", map[string]any{"name": "new", "size": strings.Repeat("9", 5000)})
	line = changed()
	require.Contains(t, line, `new`)
	require.Contains(t, line, `"result"="failed"`)
	require.Less(t, len(line), 9000, "a body is cut")

	e.call(http.MethodGet, "/v1/volumes", nil)
	e.call(http.MethodPost, "/v1/volumes/vol-1?action=snapshotCRList", map[string]any{})
	require.Empty(t, changed(), "a question is no change")
}
