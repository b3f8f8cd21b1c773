package target

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// engineAt serves the blocks of a volume at a socket, as an engine's frontend does; a block beyond the end is an error.
func engineAt(t *testing.T, path string) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	content := make([]byte, 8*BlockSize)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			answer(connection, content)
		}
	}()
}

func answer(connection net.Conn, content []byte) {
	defer func() { _ = connection.Close() }()
	header := make([]byte, socketHeader)
	if _, err := io.ReadFull(connection, header); err != nil {
		return
	}
	data := make([]byte, binary.LittleEndian.Uint32(header[22:]))
	if _, err := io.ReadFull(connection, data); err != nil {
		return
	}
	kind, offset := uint32(socketResponse), binary.LittleEndian.Uint64(header[10:])
	var out []byte
	switch {
	case offset+BlockSize > uint64(len(content)):
		kind, out = 3, []byte("beyond the end")
	case binary.LittleEndian.Uint32(header[6:]) == socketWrite:
		copy(content[offset:], data)
	default:
		out = content[offset : offset+BlockSize]
	}
	binary.LittleEndian.PutUint32(header[6:], kind)
	binary.LittleEndian.PutUint32(header[22:], uint32(len(out)))
	_, _ = connection.Write(append(header, out...))
}

func TestBlocksAreReadAndWrittenThroughTheSocketOfAnEngine(t *testing.T) {
	root, err := os.MkdirTemp("", "socket")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(root)) })
	require.NoError(t, os.MkdirAll(filepath.Join(root, "run"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "var"), 0o755))
	require.NoError(t, os.Symlink("/run", filepath.Join(root, "var", "run")))
	engineAt(t, filepath.Join(root, "run", "longhorn-v.sock"))
	here, other := &Manager{Host: "10.0.0.1"}, &Manager{Host: "10.0.0.2"}
	s := SocketContent{Roots: map[string]string{here.Host: root}}
	require.True(t, s.Reaches(here))
	require.False(t, s.Reaches(other))
	v := Volume{Name: "v", Manager: here, Endpoint: "/var/run/longhorn-v.sock"}
	require.NoError(t, s.Write(t.Context(), v, 3, "three"))
	text, err := s.Read(t.Context(), v, 3)
	require.NoError(t, err)
	require.Equal(t, "three", text)
	text, err = s.Read(t.Context(), v, 2)
	require.NoError(t, err)
	require.Empty(t, text)
	require.ErrorContains(t, s.Write(t.Context(), v, 8, "x"), "beyond the end")
	_, err = s.Read(t.Context(), Volume{Name: "w", Manager: here}, 1)
	require.ErrorContains(t, err, "is no socket")
}
