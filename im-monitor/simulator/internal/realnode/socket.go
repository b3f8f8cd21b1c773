package realnode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// socketFrontend is the engine's frontend that serves a volume at a unix socket.
const socketFrontend = "socket"

// The messages of the socket frontend: a header of 26 bytes (little endian: magic 2, sequence 4, type 4, offset 8, size 4, length 4), then
// the data.
const (
	magic         = 0x1b01
	headerSize    = 26
	typeRead      = 0
	typeWrite     = 1
	typeResponse  = 2
	typeEndOfFile = 4
)

// blockSize is the size of the blocks that scenarios read and write.
const blockSize = 4096

// ioTime bounds one read or write: an engine answers or fails within its replica timeout of 8 s.
const ioTime = 20 * time.Second

// errIO marks an answer of the engine that the read or write failed, as a workload sees it.
var errIO = errors.New("input/output error")

// socket is where the engine of a volume in a pod serves it, seen from this process.
type socket struct {
	pid    int
	volume string
}

func (s socket) directory() string { return fmt.Sprintf("/proc/%d/root/var/run", s.pid) }

func (s socket) name() string { return "longhorn-" + s.volume + ".sock" }

// dial connects to the engine. The path can be longer than the address of a unix socket may be, so that it begins at an open directory.
func (s socket) dial() (net.Conn, error) {
	directory, err := os.Open(s.directory())
	if err != nil {
		return nil, fmt.Errorf("opening the directory of a volume's socket: %w", err)
	}
	defer func() { _ = directory.Close() }()
	connection, err := net.DialTimeout("unix", fmt.Sprintf("/proc/self/fd/%d/%s", directory.Fd(), s.name()), ioTime)
	if err != nil {
		return nil, fmt.Errorf("connecting to volume %s: %w", s.volume, err)
	}
	return connection, nil
}

// exchange sends one request to the engine and returns the data of its answer.
func (s socket) exchange(kind uint32, offset int64, size uint32, data []byte) ([]byte, error) {
	connection, err := s.dial()
	if err != nil {
		return nil, err
	}
	return converse(connection, kind, offset, size, data)
}

// converse sends one request over a connection, reads the answer and closes the connection.
func converse(connection net.Conn, kind uint32, offset int64, size uint32, data []byte) ([]byte, error) {
	defer func() { _ = connection.Close() }()
	if err := connection.SetDeadline(time.Now().Add(ioTime)); err != nil {
		return nil, fmt.Errorf("setting a deadline: %w", err)
	}
	request := make([]byte, headerSize, headerSize+len(data))
	binary.LittleEndian.PutUint16(request[0:], magic)
	binary.LittleEndian.PutUint32(request[2:], 1)
	binary.LittleEndian.PutUint32(request[6:], kind)
	binary.LittleEndian.PutUint64(request[10:], uint64(offset))
	binary.LittleEndian.PutUint32(request[18:], size)
	binary.LittleEndian.PutUint32(request[22:], uint32(len(data)))
	if _, err := connection.Write(append(request, data...)); err != nil {
		return nil, fmt.Errorf("writing to a volume's socket: %w", err)
	}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(connection, header); err != nil {
		return nil, fmt.Errorf("%w: reading the answer of a volume: %w", errIO, err)
	}
	answer := make([]byte, binary.LittleEndian.Uint32(header[22:]))
	if _, err := io.ReadFull(connection, answer); err != nil {
		return nil, fmt.Errorf("%w: reading the answer of a volume: %w", errIO, err)
	}
	if binary.LittleEndian.Uint16(header) != magic {
		return nil, fmt.Errorf("a volume answered with the magic %x", header[:2])
	}
	if got := binary.LittleEndian.Uint32(header[6:]); got != typeResponse && got != typeEndOfFile {
		return nil, fmt.Errorf("%w: %s", errIO, answer)
	}
	return answer, nil
}

// write writes a text to the beginning of a block, and zeros behind it.
func (s socket) write(block int64, text string) error {
	data := make([]byte, blockSize)
	copy(data, text)
	_, err := s.exchange(typeWrite, block*blockSize, blockSize, data)
	return err
}

// read returns the text at the beginning of a block.
func (s socket) read(block int64) (string, error) {
	data, err := s.exchange(typeRead, block*blockSize, blockSize, nil)
	text, _, _ := bytes.Cut(data, []byte{0})
	return string(text), err
}
