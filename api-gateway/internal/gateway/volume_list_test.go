package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// counting is a cache that counts the volumes that were read, and the lists.
type counting struct {
	client.Reader
	volumes, lists atomic.Int64
}

// Get implements client.Reader.
func (c *counting) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if _, isVolume := into.(*v1beta2.Volume); isVolume {
		c.volumes.Add(1)
	}
	return c.Reader.Get(ctx, key, into, options...)
}

// List implements client.Reader.
func (c *counting) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if _, ofVolumes := into.(*v1beta2.VolumeList); ofVolumes {
		c.lists.Add(1)
	}
	return c.Reader.List(ctx, into, options...)
}

// With thousands of volumes a change of one volume must cost one volume: the others are neither read nor encoded again, and stay where they
// are in memory, for all clients and all streams.
func TestAChangeOfOneVolumeEncodesOneVolume(t *testing.T) {
	e := newEnv(t)
	for n := range 4 {
		e.attachedVolume(fmt.Sprint("vol-", n), "node-1")
	}
	e.eventually("/v1/volumes", "the volumes", func(l map[string]any) bool { return len(l["data"].([]any)) == 4 })
	cache, seen := &counting{Reader: e.server.reader.cache}, newChanges()
	volumes := newVolumeCache(reader{cache: cache, namespace: e.namespace}, seen)
	before, err := volumes.list(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, cache.lists.Load())

	read := cache.volumes.Load()
	seen.record(topicVolumes, "vol-2")
	after, err := volumes.list(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, cache.lists.Load(), "all volumes were read again")
	require.LessOrEqual(t, cache.volumes.Load()-read, int64(2))
	require.Len(t, after, len(before))
	encoded := 0
	for i := range after {
		if &after[i].bytes[0] != &before[i].bytes[0] && after[i].dictionary != nil {
			encoded++
		}
	}
	require.Equal(t, 1, encoded)
	require.True(t, after.equals(before), "nothing of it changed: a stream sends no message")
}

// The list that follows changes is the list that a process builds that has just started: the same volumes in the same order, byte for byte.
func TestAListThatFollowsChangesIsTheListOfANewProcess(t *testing.T) {
	e := newEnv(t)
	volumes := newVolumeCache(reader{cache: e.server.reader.cache, namespace: e.namespace}, newChanges())
	compare := func(changed ...string) {
		volumes.changes.record(topicVolumes, changed...)
		followed, err := volumes.list(t.Context())
		require.NoError(t, err)
		built, err := newVolumeCache(volumes.reader, newChanges()).list(t.Context())
		require.NoError(t, err)
		text := written(t, followed, `http://a"b`)
		require.Equal(t, written(t, built, `http://a"b`), text)
		require.NotContains(t, text, anyBase)
		require.True(t, json.Valid([]byte(text)), text)
	}
	compare()
	for _, name := range []string{"m", "z", "a"} {
		e.attachedVolume(name, "node-1")
		e.eventually("/v1/volumes/"+name, "its replica", func(v map[string]any) bool { return len(v["replicas"].([]any)) == 1 })
		compare(name)
	}
	for _, name := range []string{"m", "a"} {
		require.NoError(t, e.admin.Delete(t.Context(), &v1beta2.Volume{ObjectMeta: e.meta(name)}))
		e.eventuallyGone("/v1/volumes/" + name)
		compare(name, "never-there")
	}
	for n := range mostChanged + 2 { // more than are counted: all are listed again
		volumes.changes.record(topicVolumes, fmt.Sprint("gone-", n))
	}
	_, known := volumes.changes.takeVolumes()
	require.False(t, known)
	volumes.changes.record(topicVolumes, "z")
	_, known = volumes.changes.takeVolumes()
	require.True(t, known)
}

// panicking is a cache that panics when it reads one volume, until it is mended.
type panicking struct {
	client.Reader
	volume string
}

// Get implements client.Reader.
func (p *panicking) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if _, isVolume := into.(*v1beta2.Volume); isVolume && key.Name == p.volume {
		panic("reading " + key.Name)
	}
	return p.Reader.Get(ctx, key, into, options...)
}

// A server goes on after a panic in a handler. The volumes that were to be read then are neither old nor missing in the next list.
func TestAListThatDidNotEndIsBuiltAgain(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"a", "b", "c"} {
		e.attachedVolume(name, "node-1")
	}
	e.eventually("/v1/volumes", "the volumes", func(l map[string]any) bool { return len(l["data"].([]any)) == 3 })
	cache, seen := &panicking{Reader: e.server.reader.cache}, newChanges()
	volumes := newVolumeCache(reader{cache: cache, namespace: e.namespace}, seen)
	var first *resources
	for range 2 { // a list of all, and then a list of those that changed
		seen.record(topicVolumes, "a", "b", "c")
		cache.volume = "b"
		require.Panics(t, func() { _, _ = volumes.list(t.Context()) })
		cache.volume = ""
		_, err := volumes.list(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c"}, volumes.listed.names)
		require.NotSame(t, first, volumes.listed, "all volumes are read again: those that changed were taken")
		first = volumes.listed
	}
}

// A text is written in chunks, whatever the size of its pieces, and each client has its own links.
func TestATextIsWrittenInChunks(t *testing.T) {
	var p packer
	resource := func(base, name string) map[string]string {
		return map[string]string{"long": base + strings.Repeat("x", 3*chunk) + base, "self": base + "/" + name, "odd": "<&>"}
	}
	list, want := text{}, ""
	for _, name := range []string{"a", "b", "c"} {
		piece, err := p.pack(resource(anyBase, name))
		require.NoError(t, err)
		plain, err := piece.unpack(nil)
		require.NoError(t, err)
		list = append(list, piece, packed{bytes: plain})
		seen, err := json.Marshal(resource("http://ui", name))
		require.NoError(t, err)
		want += string(seen) + string(seen)
	}
	require.Equal(t, want, written(t, list, "http://ui"))
	short, err := new(packer).pack(map[string]string{})
	require.NoError(t, err)
	require.Equal(t, `{}`, written(t, text{short}, "http://ui"), "too short for a dictionary")
}

// A list of thousands of volumes that is being built, for whatever time, holds up no answer about one volume: mounts wait for it.
func TestAVolumeIsAnsweredWhileTheListIsBuilt(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("one", "node-1")
	e.eventually("/v1/volumes", "the volume", func(l map[string]any) bool { return len(l["data"].([]any)) == 1 })
	building := <-e.server.lists.each["volumes"]
	defer func() { e.server.lists.each["volumes"] <- building }()
	require.Equal(t, "one", e.call(http.MethodGet, "/v1/volumes/one", nil)["id"])
}

// Pages with thousands of volumes must not take the processor from requests: all streams together send so many bytes and no more.
func TestStreamsKeepToTheirRate(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var sent bytes.Buffer
	w := messageWriter{ctx: ctx, cutOff: cancel, rate: rate.NewLimiter(rate.Every(time.Hour), 2*chunk), to: &sent}
	n, err := w.Write(make([]byte, 5*chunk))
	require.Error(t, err, "the third chunk would have to wait for longer than the client does")
	require.Equal(t, 2*chunk, n)
	require.Equal(t, 2*chunk, sent.Len())
	require.GreaterOrEqual(t, newLimits(DefaultOptions(), clock.RealClock{}).streamRate.Burst(), chunk, "no chunk could ever be sent")
}

// written returns a text as a client reads it.
func written(t *testing.T, list text, base string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, list.writeFor(base, &out))
	return out.String()
}
