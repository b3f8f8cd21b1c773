package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"sync"
)

// anyBase is the placeholder for the address of the gateway, as a client knows it, in texts that all clients share.
const anyBase = "http://gateway.invalid"

// text is JSON in pieces that all clients share and nobody modifies, with links that begin with anyBase. A change of one item of a list
// makes a text with one new piece, and copies no other piece.
type text []packed

// chunk is the most bytes of a text that are copied at once for a client.
const chunk = 64 << 10

// equals reports whether two texts have the same pieces. Two pieces at the same place in memory cost no comparison.
func (t text) equals(other text) bool {
	return slices.EqualFunc(t, other, func(a, b packed) bool { return a.dictionary == b.dictionary && bytes.Equal(a.bytes, b.bytes) })
}

// writing is memory for writing one text after the other.
type writing struct {
	out   *bufio.Writer
	space []byte // of an unpacked piece
}

var writings = sync.Pool{New: func() any { return &writing{out: bufio.NewWriterSize(nil, chunk)} }}

// writeFor writes a text with links that begin with base, in chunks.
func (t text) writeFor(base string, to io.Writer) error {
	address, err := inJSON(base)
	if err != nil {
		return err
	}
	w := writings.Get().(*writing)
	defer writings.Put(w)
	w.out.Reset(to)
	defer w.out.Reset(nil)
	for _, piece := range t {
		body, err := piece.unpack(w.space)
		if err != nil {
			return err
		}
		if piece.dictionary != nil {
			w.space = body
		}
		if err := writeWithBase(w.out, body, address); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

// writeWithBase writes JSON with an address in place of anyBase.
func writeWithBase(out *bufio.Writer, body, address []byte) error {
	for {
		before, after, found := bytes.Cut(body, []byte(anyBase))
		if _, err := out.Write(before); err != nil || !found {
			return err
		}
		if _, err := out.Write(address); err != nil {
			return err
		}
		body = after
	}
}

// inJSON returns a word as it is written within a string of JSON.
func inJSON(word string) ([]byte, error) {
	quoted, err := json.Marshal(word)
	if err != nil {
		return nil, err
	}
	return quoted[1 : len(quoted)-1], nil
}
