package realnode

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

func TestOnlyFrontendsOfBlockDevicesAreReplaced(t *testing.T) {
	for given, wanted := range map[string]string{"tgt-blockdev": "socket", "tgt-iscsi": "socket", "socket": "socket", "": ""} {
		args := []string{"/engine-binaries/image/longhorn", "controller", "tgt-vol", "--frontend", given, "--size", "1"}
		is := overSocket(args)
		require.Equal(t, []string{args[0], "controller", "tgt-vol", "--frontend", wanted, "--size", "1"}, is)
		require.Equal(t, given, args[4], "the caller's arguments stay")
	}
}

func TestATaskIsNamedByItsArguments(t *testing.T) {
	engine := task{args: []string{"longhorn", "--engine-instance-name", "vol-e-0", "controller", "vol", "--frontend", "socket"}}
	require.Equal(t, "vol-e-0", engine.instance())
	require.Equal(t, "vol", engine.volume())
	replica := task{args: []string{"longhorn", "--volume-name", "vol", "replica", "/dir", "--replica-instance-name", "vol-r-1"}}
	require.Equal(t, "vol-r-1", replica.instance())
	require.Equal(t, "vol", replica.volume())
	agent := task{args: []string{"longhorn", "--volume-name", "vol", "sync-agent", "--replica-instance-name", "vol-r-1"}}
	require.Empty(t, agent.instance(), "a sync agent carries the name of its replica")
	require.True(t, agent.isAgent())
}

func TestTheJournalHasWhatACallDid(t *testing.T) {
	p := &pod{Pod: machine.Pod{Name: "im-1", Node: "node-1", DataEngine: "v1"}}
	request, err := proto.Marshal(&imrpc.InstanceDeleteRequest{Name: "vol-r-1", Type: "replica", Uuid: "asked"})
	require.NoError(t, err)
	answer, err := proto.Marshal(&imrpc.InstanceResponse{Status: &imrpc.InstanceStatus{Uuid: "found"}})
	require.NoError(t, err)

	done := entryOf(p, record.Call{Method: "InstanceDelete", Request: request, Answer: answer})
	require.Equal(t, []string{"vol-r-1", "asked", "found", dataplane.EffectStopped, "node-1", "im-1"},
		[]string{done.Name, done.UUIDAsked, done.UUIDFound, done.Effect, done.Node, done.Pod})
	refused := entryOf(p, record.Call{Method: "InstanceDelete", Request: request, Code: codes.NotFound})
	require.Equal(t, dataplane.EffectNone, refused.Effect)
	require.Empty(t, refused.UUIDFound)

	add, err := proto.Marshal(&imrpc.EngineReplicaAddRequest{
		ProxyEngineRequest: &imrpc.ProxyEngineRequest{EngineName: "vol-e-0", VolumeName: "vol"}})
	require.NoError(t, err)
	added := entryOf(p, record.Call{Method: "ReplicaAdd", Request: add})
	require.Equal(t, []string{"vol", "vol-e-0", dataplane.EffectChanged}, []string{added.Volume, added.Name, added.Effect})
}

func TestTheJournalIsReadFromASerialNumberOn(t *testing.T) {
	j := newJournal()
	j.add(entry{Name: "a"})
	j.add(entry{Name: "b"})
	require.Len(t, j.after(t.Context(), 0), 2)
	require.Equal(t, "b", j.after(t.Context(), 1)[0].Name)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Empty(t, j.after(ctx, 2))
	later := make(chan []entry)
	go func() { later <- j.after(t.Context(), 2) }()
	j.add(entry{Name: "c"})
	require.Equal(t, "c", (<-later)[0].Name)
}

func TestAFaultConcernsTheCallsThatItNames(t *testing.T) {
	p := &pod{Pod: machine.Pod{Node: "node-1", DataEngine: "v1", IP: "198.18.0.2"}}
	f := newFront(Options{}, func(string) *pod { return p }, func(string) {}, func(string) {})
	_, err := f.add(fault.Rule{Kind: fault.PartialList, Method: "SnapshotList"})
	require.ErrorIs(t, err, control.ErrNotServed)
	_, err = f.add(fault.Rule{Kind: fault.Error, Code: "Unavailable", Node: "node-1", Method: "InstanceDelete", Times: 2})
	require.NoError(t, err)
	require.NoError(t, f.spoil(record.Call{Address: p.IP, Method: "InstanceCreate"}))
	for range 2 {
		require.ErrorContains(t, f.spoil(record.Call{Address: p.IP, Method: "InstanceDelete"}), "Unavailable")
	}
	require.NoError(t, f.spoil(record.Call{Address: p.IP, Method: "InstanceDelete"}), "it was to fail twice")
	_, err = f.add(fault.Rule{Kind: fault.Hang, Node: "node-2", Method: "*"})
	require.NoError(t, err)
	require.NoError(t, f.spoil(record.Call{Address: p.IP, Method: "InstanceDelete"}), "it concerns another node")
	require.Equal(t, 1, f.clear(""))
}

func TestACallThatHangsGoesOnWhenItsFaultEnds(t *testing.T) {
	p := &pod{Pod: machine.Pod{Node: "node-1", DataEngine: "v1", IP: "198.18.0.2"}}
	f := newFront(Options{}, func(string) *pod { return p }, func(string) {}, func(string) {})
	id, err := f.add(fault.Rule{Kind: fault.Hang, Method: "*"})
	require.NoError(t, err)
	answered := make(chan error)
	go func() { answered <- f.spoil(record.Call{Address: p.IP, Method: "InstanceDelete"}) }()
	_, err = f.add(fault.Rule{Kind: fault.Hang, Node: "node-2", Method: "*"})
	require.NoError(t, err)
	select {
	case <-answered:
		t.Fatal("another fault let it go on")
	case <-time.After(50 * time.Millisecond):
	}
	require.Equal(t, 1, f.clear(id))
	require.NoError(t, <-answered)
}

func TestACallWhoseCallerLeftIsStranded(t *testing.T) {
	p := &pod{Pod: machine.Pod{Name: "im-1", Node: "node-1", DataEngine: "v1"}}
	require.Equal(t, dataplane.EffectStranded, entryOf(p, record.Call{Method: "ReplicaAdd", Code: codes.Canceled}).Effect)
	require.Equal(t, dataplane.EffectNone, entryOf(p, record.Call{Method: "ReplicaAdd", Code: codes.Unavailable}).Effect)
}

func TestARelayPassesOnWhatItCannotRead(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(connection, connection) }()
		}
	}()
	port := listener.Addr().(*net.TCPAddr).Port
	r := newRelay([]int{port}, func(string, int) string { return listener.Addr().String() })
	require.NoError(t, r.Serve("127.0.0.2"))
	require.NoError(t, r.Serve("127.0.0.2"))
	address := net.JoinHostPort("127.0.0.2", strconv.Itoa(port))
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = connection.Write([]byte("hello"))
	require.NoError(t, err)
	answer := make([]byte, 5)
	_, err = io.ReadFull(connection, answer)
	require.NoError(t, err)
	require.Equal(t, "hello", string(answer))

	r.Forget("127.0.0.2")
	_, err = connection.Read(answer)
	require.Error(t, err, "its connections end")
	_, err = net.Dial("tcp", address)
	require.Error(t, err, "nothing listens")
	require.NoError(t, r.Serve("127.0.0.2"))
	r.Close()
}

func TestAPodRunsTheArgumentsOfItsContainer(t *testing.T) {
	m := &Machine{options: Options{Directory: "/d", InstanceManager: "/im", Engine: "/engine", TLSDirectory: "/certificates"},
		nodes: map[string]*node{"node-1": {host: "/d/node-1/host"}}}
	p := &pod{Pod: machine.Pod{Name: "im-1", Node: "node-1", IP: "198.18.0.2"}, container: machine.Container{Image: "im:v1.12.1",
		Arguments: []string{"instance-manager", "--debug", "daemon", "--listen", ":8500"}, Environment: map[string]string{"DATA_ENGINE": "v1"},
		Addresses: []string{"POD_IP"}, Mounts: map[string]string{"/host": "/", "/log": "/var/log/x"},
		Secrets: map[string]string{"/tls-files": "longhorn-grpc-tls"}}}
	o, err := m.setupOf(p)
	require.NoError(t, err)
	require.Equal(t, []string{"--debug", "daemon", "--listen", ":8500"}, o.Arguments)
	require.Equal(t, []string{"DATA_ENGINE=v1", "POD_IP=198.18.0.2"}, o.Environment)
	require.Equal(t, map[string]string{"/host": "/d/node-1/host", "/log": "/d/node-1/host/var/log/x", "/tls-files": "/certificates"}, o.Mounts)

	p.container.Arguments[4] = ":9999"
	o, err = m.setupOf(p)
	require.NoError(t, err, "whether an argument is right is up to the binary")
	require.Contains(t, o.Arguments, ":9999")
	for name, spoil := range map[string]func(*machine.Container){
		"a script that the image lacks": func(c *machine.Container) { c.Arguments = []string{"start-all"} },
		"no arguments":                  func(c *machine.Container) { c.Arguments = nil },
		"another entry point":           func(c *machine.Container) { c.Command = []string{"/bin/instance-manager"} },
		"SPDK": func(c *machine.Container) {
			c.Arguments = append(c.Arguments, "-s", "-m", "0x1", "--spdk-memory-size", "1")
		},
	} {
		spoilt := *p
		spoil(&spoilt.container)
		_, err := m.setupOf(&spoilt)
		require.ErrorIs(t, err, machine.ErrEnded, name)
	}
}

// answerOnce answers one request at a unix socket as an engine does, and returns what it received.
func answerOnce(t *testing.T, path string, kind uint32, data []byte) <-chan []byte {
	t.Helper()
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	got := make(chan []byte, 1)
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = connection.Close() }()
		header := make([]byte, headerSize)
		if _, err := io.ReadFull(connection, header); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(header[22:]))
		if _, err := io.ReadFull(connection, body); err != nil {
			return
		}
		got <- append(header, body...)
		binary.LittleEndian.PutUint32(header[6:], kind)
		binary.LittleEndian.PutUint32(header[22:], uint32(len(data)))
		_, _ = connection.Write(append(header, data...))
	}()
	return got
}

func TestABlockIsWrittenAndReadAsTheSocketFrontendTakesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	got := answerOnce(t, path, typeResponse, nil)
	connection, err := net.Dial("unix", path)
	require.NoError(t, err)
	data := make([]byte, blockSize)
	copy(data, "text")
	_, err = converse(connection, typeWrite, 3*blockSize, blockSize, data)
	require.NoError(t, err)
	sent := <-got
	require.Equal(t, []byte{0x01, 0x1b}, sent[:2])
	require.EqualValues(t, typeWrite, binary.LittleEndian.Uint32(sent[6:]))
	require.EqualValues(t, 3*blockSize, binary.LittleEndian.Uint64(sent[10:]))
	require.Equal(t, data, sent[headerSize:])
}

func TestAnErrorOfTheEngineIsAnInputOutputError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	answerOnce(t, path, 3, []byte("no replica"))
	connection, err := net.Dial("unix", path)
	require.NoError(t, err)
	_, err = converse(connection, typeRead, 0, blockSize, nil)
	require.ErrorIs(t, err, errIO)
	require.ErrorContains(t, err, "no replica")
}

func TestAWriterCountsWhatTheWorkloadSees(t *testing.T) {
	w := &writer{latest: map[int64]string{}, pending: map[int64]string{}}
	w.count(1, "a", nil, time.Time{})
	w.count(1, "b", errIO, time.Time{})
	w.count(1, "c", control.ErrConflict, time.Time{})
	require.EqualValues(t, 1, w.state.Writes)
	require.EqualValues(t, 1, w.state.Failed)
	require.EqualValues(t, 1, w.state.Waited)
	require.Equal(t, map[int64]string{1: "a"}, w.latest)
	require.Equal(t, map[int64]string{1: "b"}, w.pending, "a write that failed may have been carried out")
}
