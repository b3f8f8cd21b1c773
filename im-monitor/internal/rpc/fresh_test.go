package rpc_test

import (
	"path/filepath"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
)

func TestTheGeneratedCodeIsThatOfTheProtoFiles(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("*", "*.proto"))
	require.NoError(t, err)
	require.Len(t, paths, 6)
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{})}
	files, err := compiler.Compile(t.Context(), paths...)
	require.NoError(t, err)
	for _, file := range files {
		generated, err := protoregistry.GlobalFiles.FindFileByPath(file.Path())
		require.NoError(t, err)
		require.True(t, proto.Equal(protoutil.ProtoFromFileDescriptor(file), protodesc.ToFileDescriptorProto(generated)),
			"%s changed: run go generate ./im-monitor/internal/rpc", file.Path())
	}
}
