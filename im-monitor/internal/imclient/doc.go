// Package imclient speaks to one instance manager over one connection.
//
// A Conn never reconnects: when its transport is lost, every call fails with ErrUnreachable and a new Conn has to be dialled. What is read
// over one Conn therefore belongs to one connection epoch, which is what the design's rule of absence counts with. A Conn never retries
// either: whether a call may be repeated is the caller's knowledge.
//
// The package decides nothing. It bounds what it reads (deadlines, message size, texts), converts answers to plain values, and errors into
// the few kinds that callers distinguish. The wire is described by the .proto files of package rpc.
package imclient
