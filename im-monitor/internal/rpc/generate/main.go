// Command generate turns the .proto files beside it into Go, with nothing but Go modules: the compiler is linked in, the two plugins are
// run at pinned versions. Run it from the repository's root: go run ./im-monitor/internal/rpc/generate
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

// root holds the .proto files, one directory per Go package; generated code lands beside them.
const root = "im-monitor/internal/rpc"

// plugins are run one after the other over all files.
var plugins = []string{
	"google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12",
	"google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	request, err := compile(ctx)
	if err != nil {
		return err
	}
	for _, plugin := range plugins {
		if err := generate(ctx, plugin, request); err != nil {
			return fmt.Errorf("running %s: %w", plugin, err)
		}
	}
	return nil
}

// compile parses every .proto file under root into one request for the plugins.
func compile(ctx context.Context) (*pluginpb.CodeGeneratorRequest, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*", "*.proto"))
	if err != nil {
		return nil, err
	}
	for i := range paths {
		paths[i], _ = filepath.Rel(root, paths[i])
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, paths...)
	if err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: paths, Parameter: proto.String("paths=source_relative")}
	seen := map[string]bool{}
	for _, file := range files {
		appendFile(request, file, seen)
	}
	return request, nil
}

// appendFile adds a file after everything that it imports, as plugins demand.
func appendFile(request *pluginpb.CodeGeneratorRequest, file protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		appendFile(request, file.Imports().Get(i).FileDescriptor, seen)
	}
	descriptor := protoutil.ProtoFromFileDescriptor(file)
	request.ProtoFile = append(request.ProtoFile, descriptor)
}

// generate runs one plugin and writes the files that it answers with.
func generate(ctx context.Context, plugin string, request *pluginpb.CodeGeneratorRequest) error {
	input, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	var output bytes.Buffer
	command := exec.CommandContext(ctx, "go", "run", plugin)
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &output, os.Stderr
	if err := command.Run(); err != nil {
		return err
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(output.Bytes(), response); err != nil {
		return fmt.Errorf("reading its answer: %w", err)
	}
	if response.Error != nil {
		return fmt.Errorf("it refused: %s", response.GetError())
	}
	for _, file := range response.File {
		if err := os.WriteFile(filepath.Join(root, file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
