package record

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// frame is one message, forwarded as the received bytes.
type frame struct{ payload mem.BufferSlice }

// rawCodec neither encodes nor decodes: the proxy decodes no messages.
type rawCodec struct{}

// Marshal returns the frame's bytes.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("the recording proxy was given a %T to send", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.payload.Materialize())}, nil
}

// Unmarshal keeps a copy of the bytes in the frame.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("the recording proxy was given a %T to receive into", v)
	}
	f.payload = mem.BufferSlice{mem.SliceBuffer(data.Materialize())}
	return nil
}

// Name is the name that is sent in the content type; servers then decode as usual.
func (rawCodec) Name() string { return "proto" }
