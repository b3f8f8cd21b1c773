package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
)

// packed is JSON as it is kept in memory: compressed with a dictionary, or as it is without one.
type packed struct {
	bytes      []byte
	dictionary *s2.Dict
}

// packer encodes and compresses resources that are mostly alike. The resources of two volumes have the same fields, and the same links but
// for their names: with the first resource as the dictionary, every later one takes a tenth of its size.
type packer struct {
	once       sync.Once
	dictionary *s2.Dict
	spaces     sync.Pool // of *space
}

// space is memory for encoding one resource after the other: a list of thousands would leave much garbage behind.
type space struct {
	json   bytes.Buffer
	packed []byte
}

// pack encodes a resource, and compresses it. The first resource becomes the dictionary.
func (p *packer) pack(resource any) (packed, error) {
	s, found := p.spaces.Get().(*space)
	if !found {
		s = &space{}
	}
	defer p.spaces.Put(s)
	s.json.Reset()
	if err := json.NewEncoder(&s.json).Encode(resource); err != nil {
		return packed{}, fmt.Errorf("encoding a resource: %w", err)
	}
	body := bytes.TrimSuffix(s.json.Bytes(), []byte{'\n'})
	p.once.Do(func() { p.dictionary = s2.MakeDict(bytes.Clone(body), nil) })
	if p.dictionary == nil { // the first resource was too short
		return packed{bytes: bytes.Clone(body)}, nil
	}
	s.packed = p.dictionary.Encode(s.packed, body)
	return packed{bytes: bytes.Clone(s.packed), dictionary: p.dictionary}, nil
}

// unpack returns the JSON, in the given space if it is compressed and has room there.
func (p packed) unpack(space []byte) ([]byte, error) {
	if p.dictionary == nil {
		return p.bytes, nil
	}
	body, err := p.dictionary.Decode(space[:0], p.bytes)
	if err != nil {
		return nil, fmt.Errorf("reading a resource that was kept: %w", err)
	}
	return body, nil
}
