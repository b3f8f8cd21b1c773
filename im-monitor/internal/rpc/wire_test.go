package rpc_test

import (
	"bufio"
	"encoding/hex"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	_ "drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
)

// packages are the proto packages of the API; the empty one holds what has none.
var packages = map[string]bool{"imrpc": true, "spdkrpc": true, "ptypes": true, "": true}

// table reads the checked-in copy of the API's tables, which was written independently of the .proto files.
func table(t *testing.T) []string {
	t.Helper()
	file, err := os.Open("testdata/table.txt")
	require.NoError(t, err)
	defer file.Close()
	var lines []string
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	sort.Strings(lines)
	return lines
}

// ours renders every descriptor of the API in the table's notation.
func ours() []string {
	var lines []string
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !packages[string(file.Package())] {
			return true
		}
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				lines = append(lines, renderMethod(service, service.Methods().Get(j)))
			}
		}
		for i := range file.Enums().Len() {
			lines = append(lines, renderEnum(file.Enums().Get(i)))
		}
		for i := range file.Messages().Len() {
			lines = append(lines, renderMessage(file.Messages().Get(i)))
		}
		return true
	})
	sort.Strings(lines)
	return lines
}

func renderMethod(service protoreflect.ServiceDescriptor, method protoreflect.MethodDescriptor) string {
	stream := ""
	if method.IsStreamingServer() {
		stream = "stream "
	}
	return "rpc " + string(service.FullName()) + "/" + string(method.Name()) + " " + string(method.Input().Name()) + " " + stream +
		string(method.Output().Name())
}

func renderEnum(enum protoreflect.EnumDescriptor) string {
	var values []string
	for i := range enum.Values().Len() {
		value := enum.Values().Get(i)
		values = append(values, strconv.Itoa(int(value.Number()))+"="+string(value.Name()))
	}
	return "enum " + string(enum.FullName()) + ": " + strings.Join(values, ", ")
}

func renderMessage(message protoreflect.MessageDescriptor) string {
	var fields []string
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		line := strconv.Itoa(int(field.Number())) + " " + string(field.Name()) + " " + renderType(field)
		if field.Options().(*descriptorpb.FieldOptions).GetDeprecated() {
			line += " (deprecated)"
		}
		fields = append(fields, line)
	}
	return "message " + string(message.FullName()) + ": " + strings.Join(fields, "; ")
}

func renderType(field protoreflect.FieldDescriptor) string {
	if field.IsMap() {
		return "map<" + renderType(field.MapKey()) + "," + renderType(field.MapValue()) + ">"
	}
	prefix := ""
	if field.IsList() {
		prefix = "repeated "
	}
	var named protoreflect.Descriptor
	switch {
	case field.Message() != nil:
		named = field.Message()
	case field.Enum() != nil:
		named = field.Enum()
	default:
		return prefix + field.Kind().String()
	}
	home := field.ContainingMessage().ParentFile().Package()
	if named.ParentFile().Package() == home {
		return prefix + string(named.Name())
	}
	return prefix + string(named.FullName())
}

func TestEveryServiceMessageFieldAndEnumIsAsTheTableSays(t *testing.T) {
	require.Equal(t, table(t), ours())
}

func TestEmptyIsTheWellKnownOne(t *testing.T) {
	watch := imrpc.File_imrpc_instance_proto.Services().ByName("InstanceService").Methods().ByName("InstanceWatch")
	require.Equal(t, protoreflect.FullName("google.protobuf.Empty"), watch.Input().FullName())
	require.Equal(t, protoreflect.FullName("google.protobuf.Empty"), watch.Output().FullName())
	require.Equal(t, "/imrpc.InstanceService/InstanceWatch", imrpc.InstanceService_InstanceWatch_FullMethodName)
	require.Equal(t, "/spdkrpc.SPDKService/ReplicaList", spdkrpc.SPDKService_ReplicaList_FullMethodName)
}

// TestHandMadeBytes decodes and encodes messages that were encoded by hand.
func TestHandMadeBytes(t *testing.T) {
	for _, c := range []struct {
		name    string
		message proto.Message
		bytes   string
	}{
		{"a deletion: name 2, type 3, cleanup 5, engine 6, uuid 7",
			&imrpc.InstanceDeleteRequest{Name: "r", Type: "replica", CleanupRequired: true, DataEngine: imrpc.DataEngine_DATA_ENGINE_V2,
				Uuid: "u"},
			"12 01 72  1a 07 7265706c696361  28 01  30 01  3a 01 75"},
		{"a status: state 1, ports 3 and 4, uuid 11",
			&imrpc.InstanceStatus{State: "running", PortStart: 10000, PortEnd: 10009, Uuid: "u"},
			"0a 07 72756e6e696e67  18 90 4e  20 99 4e  5a 01 75"},
		{"versions 4 to 7, without a package",
			&common.VersionResponse{Version: "v", InstanceManagerAPIVersion: 7, InstanceManagerAPIMinVersion: 1,
				InstanceManagerProxyAPIVersion: 7, InstanceManagerProxyAPIMinVersion: 1},
			"0a 01 76  20 07  28 01  30 07  38 01"},
		{"a replica of SPDK: disk 3, head 9 with its UUID 2",
			&spdkrpc.Replica{Name: "r", LvsUuid: "d", Head: &spdkrpc.Lvol{Uuid: "h"}},
			"0a 01 72  1a 01 64  4a 03 12 01 68"},
		{"a disk's creation: type 1, name 2, UUID 3, path 4, block size 5, driver 6",
			&imrpc.DiskCreateRequest{DiskType: imrpc.DiskType_block, DiskName: "n", DiskUuid: "u", DiskPath: "p", BlockSize: 512,
				DiskDriver: "aio"},
			"08 01  12 01 6e  1a 01 75  22 01 70  28 80 04  32 03 61696f"},
		{"a disk's deletion: driver 5",
			&imrpc.DiskDeleteRequest{DiskType: imrpc.DiskType_block, DiskName: "n", DiskUuid: "u", DiskPath: "p", DiskDriver: "aio"},
			"08 01  12 01 6e  1a 01 75  22 01 70  2a 03 61696f"},
		{"the deletion of a replica on a disk: the misspelled name 4",
			&imrpc.DiskReplicaInstanceDeleteRequest{DiskType: imrpc.DiskType_block, DiskName: "n", DiskUuid: "u", ReplciaInstanceName: "r",
				DiskDriver: "aio"},
			"08 01  12 01 6e  1a 01 75  22 01 72  2a 03 61696f"},
		{"a disk's health: temperature 6 as a double, the last figure 21",
			&imrpc.DiskHealthGetResponse{CriticalWarning: 1, TemperatureCelsius: 1, CriticalCompositeTemperatureTimeMinutes: 3},
			"28 01  31 000000000000f03f  a8 01 03"},
		{"a list: a map from name to entry, spec 1 with name 2 and engine 9, status 2",
			&imrpc.InstanceListResponse{Instances: map[string]*imrpc.InstanceResponse{"r": {
				Spec:   &imrpc.InstanceSpec{Name: "r", DataEngine: imrpc.DataEngine_DATA_ENGINE_V2},
				Status: &imrpc.InstanceStatus{State: "s"}}}},
			"0a 11  0a 01 72  12 0c  0a 05 12 01 72 48 01  12 03 0a 01 73"},
		{"a state of an engine's listener: name 1, state 2",
			&spdkrpc.EngineSetTargetListenerANAStateRequest{Name: "e", AnaState: "inaccessible"},
			"0a 01 65  12 0c 696e61636365737369626c65"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := hex.DecodeString(regexp.MustCompile(`\s`).ReplaceAllString(c.bytes, ""))
			require.NoError(t, err)
			encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.message)
			require.NoError(t, err)
			require.Equal(t, want, encoded)
			decoded := c.message.ProtoReflect().New().Interface()
			require.NoError(t, proto.Unmarshal(want, decoded))
			require.True(t, proto.Equal(c.message, decoded))
		})
	}
}

// TestEachFieldEncodesWithItsNumberAndWireType fills every field of every message of the table, one at a time, and looks at the bytes: the
// tag comes from the table's text, not from the descriptors.
func TestEachFieldEncodesWithItsNumberAndWireType(t *testing.T) {
	entry := regexp.MustCompile(`^(\d+) (\w+) (.*?)(?: \(deprecated\))?$`)
	fields := 0
	for _, line := range table(t) {
		full, body, ok := strings.Cut(strings.TrimPrefix(line, "message "), ": ")
		if !ok || !strings.HasPrefix(line, "message ") {
			continue
		}
		kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(full))
		require.NoError(t, err)
		for _, text := range strings.Split(body, "; ") {
			parts := entry.FindStringSubmatch(text)
			require.Len(t, parts, 4, text)
			message := dynamicpb.NewMessage(kind.Descriptor())
			field := kind.Descriptor().Fields().ByName(protoreflect.Name(parts[2]))
			require.NotNil(t, field, text)
			fill(message, field)
			encoded, err := proto.Marshal(message)
			require.NoError(t, err)
			number, wire, _ := protowire.ConsumeTag(encoded)
			require.Equal(t, parts[1], strconv.Itoa(int(number)), "%s %s", full, text)
			require.Equal(t, wireType(parts[3]), wire, "%s %s", full, text)
			fields++
		}
	}
	require.Equal(t, 401, fields)
}

// wireType is what the encoding of a type of the table begins with.
func wireType(text string) protowire.Type {
	switch text {
	case "bool", "int32", "int64", "uint32", "uint64", "DataEngine", "BackendStoreDriver", "DataLayoutType", "DiskType", "CloneMode",
		"ReplicaMode", "ptypes.ReplicaMode":
		return protowire.VarintType
	case "double":
		return protowire.Fixed64Type
	default:
		return protowire.BytesType
	}
}

// fill gives a field a value that is not its default.
func fill(message *dynamicpb.Message, field protoreflect.FieldDescriptor) {
	switch {
	case field.IsMap():
		value := message.NewField(field).Map()
		value.Set(protoreflect.ValueOf("k").MapKey(), mapValue(value, field.MapValue()))
		message.Set(field, protoreflect.ValueOfMap(value))
	case field.IsList():
		value := message.NewField(field).List()
		if field.Message() != nil {
			value.AppendMutable()
		} else {
			value.Append(scalar(field))
		}
		message.Set(field, protoreflect.ValueOfList(value))
	case field.Message() != nil:
		message.Set(field, message.NewField(field))
	default:
		message.Set(field, scalar(field))
	}
}

func mapValue(of protoreflect.Map, field protoreflect.FieldDescriptor) protoreflect.Value {
	if field.Message() != nil {
		return of.NewValue()
	}
	return scalar(field)
}

// scalar is a value of a plain type that is not its default.
func scalar(field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("x")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("x"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(1)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(1)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(1)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(1)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(1)
	default:
		return protoreflect.ValueOfEnum(1)
	}
}
