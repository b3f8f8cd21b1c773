// Package rpc holds the instance-manager API on the wire: the .proto files in its subdirectories, one per proto package (common has none),
// and the Go code generated from them. Names and numbers are those of the public Longhorn API, version 7; testdata/table.txt pins each of
// them.
package rpc

//go:generate go -C ../../.. run ./im-monitor/internal/rpc/generate
