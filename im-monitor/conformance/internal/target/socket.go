package target

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// SocketContent reaches v1 volumes through the sockets of the engines' frontend "socket".
type SocketContent struct {
	// Roots are where the roots of the managers' nodes are found, by the address of the manager.
	Roots map[string]string
}

// A message of a socket has a header, little endian (magic 2 bytes, sequence 4, type 4, offset 8, size 4, length of the data 4), and data.
const (
	socketMagic      = 0x1b01
	socketHeader     = 26
	socketRead       = 0
	socketWrite      = 1
	socketResponse   = 2
	socketEndOfFile  = 4
	socketSequence   = 1
	maxSocketMessage = 1 << 20
)

var errSocket = errors.New("input/output error")

// Reaches reports whether the root of the manager's node is known.
func (s SocketContent) Reaches(m *Manager) bool { return s.Roots[m.Host] != "" }

// Write returns once the engine has acknowledged the block.
func (s SocketContent) Write(ctx context.Context, v Volume, block int64, text string) error {
	data := make([]byte, BlockSize)
	copy(data, text)
	_, err := s.exchange(ctx, v, socketWrite, block, data)
	return err
}

// Read returns the text of a block.
func (s SocketContent) Read(ctx context.Context, v Volume, block int64) (string, error) {
	data, err := s.exchange(ctx, v, socketRead, block, nil)
	return textOf(data), err
}

// exchange sends one message over a connection of its own, and returns the data of the answer.
func (s SocketContent) exchange(ctx context.Context, v Volume, kind uint32, block int64, data []byte) ([]byte, error) {
	connection, err := s.dial(ctx, v)
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	request := binary.LittleEndian.AppendUint16(nil, socketMagic)
	request = binary.LittleEndian.AppendUint32(request, socketSequence)
	request = binary.LittleEndian.AppendUint32(request, kind)
	request = binary.LittleEndian.AppendUint64(request, uint64(block*BlockSize))
	request = binary.LittleEndian.AppendUint32(request, BlockSize)
	request = binary.LittleEndian.AppendUint32(request, uint32(len(data)))
	if _, err := connection.Write(append(request, data...)); err != nil {
		return nil, fmt.Errorf("writing to the socket of volume %s: %w", v.Name, errors.Join(err, ctx.Err()))
	}
	answer, err := answerOf(connection)
	if err != nil {
		return nil, fmt.Errorf("volume %s: %w", v.Name, errors.Join(err, ctx.Err()))
	}
	return answer, nil
}

// dial begins at an open directory, since the whole path may be longer than the address of a socket may be.
func (s SocketContent) dial(ctx context.Context, v Volume) (net.Conn, error) {
	if !strings.HasPrefix(v.Endpoint, "/") {
		return nil, fmt.Errorf("the endpoint %q of volume %s is no socket", v.Endpoint, v.Name)
	}
	directory, err := os.Open(within(s.Roots[v.Manager.Host], filepath.Dir(v.Endpoint)))
	if err != nil {
		return nil, fmt.Errorf("opening the directory of the socket: %w", err)
	}
	defer func() { _ = directory.Close() }()
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", directory.Fd(), filepath.Base(v.Endpoint)))
	if err != nil {
		return nil, fmt.Errorf("connecting to the socket of volume %s: %w", v.Name, err)
	}
	return connection, nil
}

// within returns where a directory of another root is. A link to an absolute path, as /var/run often is, leads into that root.
func within(root, directory string) string {
	path := filepath.Join(root, directory)
	if link, err := os.Readlink(path); err == nil && filepath.IsAbs(link) {
		return filepath.Join(root, link)
	}
	return path
}

// answerOf reads one answer.
func answerOf(from io.Reader) ([]byte, error) {
	header := make([]byte, socketHeader)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	length := binary.LittleEndian.Uint32(header[22:])
	if got := binary.LittleEndian.Uint16(header); got != socketMagic || length > maxSocketMessage {
		return nil, fmt.Errorf("the answer begins with %x and has %d bytes", got, length)
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(from, data); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if kind := binary.LittleEndian.Uint32(header[6:]); kind != socketResponse && kind != socketEndOfFile {
		return nil, fmt.Errorf("%w: %s", errSocket, data)
	}
	return data, nil
}
