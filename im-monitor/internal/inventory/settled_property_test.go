package inventory

import (
	"context"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// truth is a v2 server as it is: what lies on its disk, whether it loaded the disk in this run, and the cache that its lists are answered
// from.
type truth struct {
	server *server
	data   map[string]bool
	loaded bool
	// pass is the copy that the running pass took; nil once a call spoiled it.
	pass map[string]bool
}

// cycle is one pass of the loop that rebuilds the cache: it takes what is there, and 3 s later the lists show it, unless a call came
// between.
func (w *truth) cycle(ctx context.Context) {
	for ctx.Err() == nil {
		w.server.set(func(s *server) {
			if w.pass != nil {
				s.instances = map[string]Instance{}
				for name := range w.pass {
					s.instances[name] = running(name, "u-"+name)
				}
			}
			w.pass = map[string]bool{}
			if w.loaded {
				maps.Copy(w.pass, w.data)
			}
		})
		select {
		case <-time.After(3 * time.Second):
		case <-ctx.Done():
		}
	}
}

// call carries a creation or a deletion out after a while, also when its caller has gone.
func (w *truth) call(ctx context.Context, name string, there bool, lasts time.Duration) error {
	done := make(chan error, 1)
	go func() {
		w.server.set(func(*server) { w.pass = nil })
		<-time.After(lasts)
		w.server.set(func(*server) {
			w.pass = nil
			if !w.loaded { // a creation fails, a deletion answers OK and destroys nothing
				return
			}
			if there {
				w.data[name] = true
			} else {
				delete(w.data, name)
			}
		})
		done <- nil
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errGone
	}
}

// restart is a new run of the server: it forgets its disks and its cache, and calls to the old one are lost.
func (w *truth) restart(b *bench) {
	w.server.set(func(s *server) {
		w.loaded, w.pass, s.disks, s.instances = false, nil, map[string]imclient.Disk{}, map[string]Instance{}
	})
	b.server.crash(false)
	b.target.ContainerStarted = time.Now()
	b.Set(b.target)
}

// TestAReplicaThatIsThereIsNeverProvenAbsent plays random histories of a server that behaves as badly as the contract allows, and asks all
// the time whether a replica is gone. It is never reported of one that lies on the disk.
func TestAReplicaThatIsThereIsNeverProvenAbsent(t *testing.T) {
	proofs := 0
	rapid.Check(t, func(r *rapid.T) {
		kinds := rapid.SampledFrom([]string{"create", "delete", "give up", "restart", "load", "wait", "break", "other", "other give up"})
		history := rapid.SliceOfN(kinds, 10, 30).Draw(r, "history")
		waits := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 7, 20, 40, 90}), len(history), len(history)).Draw(r, "waits")
		bubble(t, v1beta2.DataEngineV2, func(t *testing.T, b *bench) {
			w := &truth{server: b.server, data: map[string]bool{"r-1": true}}
			b.server.set(func(s *server) {
				s.recorded = []NodeDisk{{Name: "disk-a", UUID: "uuid-a"}}
				s.disks = map[string]imclient.Disk{}
				s.create = func(ctx context.Context, name string) error { return w.call(ctx, name, true, 2*time.Second) }
				s.remove = func(ctx context.Context, name string) error { return w.call(ctx, name, false, 2*time.Second) }
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go w.cycle(ctx)
			time.Sleep(2 * time.Second)
			b.target.ContainerStarted = time.Now().Add(-time.Second)
			b.Set(b.target)
			for i, kind := range history {
				go w.play(ctx, b, kind)
				for range waits[i] {
					b.after(time.Second)
					gone := b.gone("uuid-a")
					b.server.mu.Lock()
					there := w.data["r-1"]
					b.server.mu.Unlock()
					require.False(t, gone && there, "r-1 lies on the disk and is reported to be gone, after %v", history[:i+1])
					if gone {
						proofs++
					}
				}
			}
			cancel()
			b.after(10 * time.Second) // calls that no one waits for
			synctest.Wait()
		})
	})
	require.Positive(t, proofs, "the property was never put to the test")
}

func (w *truth) play(ctx context.Context, b *bench, kind string) {
	client, _, connected := b.Client(manager)
	switch kind {
	case "create", "delete", "give up", "other", "other gives up":
		if !connected {
			return
		}
		name := "r-1"
		if strings.HasPrefix(kind, "other") {
			name = "r-2"
		}
		if strings.HasSuffix(kind, " up") {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, time.Second)
			defer stop()
		}
		if kind != "delete" {
			_ = client.Create(ctx, imclient.CreateRequest{Name: name, Type: v1beta2.InstanceTypeReplica})
			return
		}
		_ = client.Delete(ctx, imclient.DeleteRequest{Name: name, Type: v1beta2.InstanceTypeReplica})
	case "restart":
		w.restart(b)
	case "load", "break":
		w.server.set(func(s *server) {
			w.loaded = kind == "load"
			s.disks["disk-a"] = imclient.Disk{State: imclient.DiskError}
			if w.loaded {
				s.disks["disk-a"] = loaded("uuid-a")
			}
		})
		_, _ = b.Disk(ctx, "fake", imclient.DiskQuery{Name: "disk-a"})
	}
}
