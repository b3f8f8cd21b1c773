package imclient

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// FuzzWhateverAServerSaysIsAListOrAnError feeds arbitrary bytes to the reading of a list: it is total, keeps every name, and bounds prose.
func FuzzWhateverAServerSaysIsAListOrAnError(f *testing.F) {
	for _, seed := range []map[string]*imrpc.InstanceResponse{
		nil,
		{"r": entry("r", "replica", "v2", "running", "u")},
		{"r": entry("other", "replica", "v1", "running", "u")},
		{"r": {Status: &imrpc.InstanceStatus{Conditions: map[string]bool{"a": true}, Paths: []*imrpc.EngineFrontendNvmeTcpPath{nil}}}},
	} {
		encoded, err := proto.Marshal(&imrpc.InstanceListResponse{Instances: seed})
		require.NoError(f, err)
		f.Add(encoded)
	}
	f.Add([]byte("\x0a\x02\x12\x00"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var answer imrpc.InstanceListResponse
		if proto.Unmarshal(encoded, &answer) != nil {
			return
		}
		instances, err := convertList(&answer)
		if err != nil {
			require.Nil(t, instances, "a part of a list is never used")
			return
		}
		require.Len(t, instances, len(answer.Instances))
		for name, instance := range instances {
			require.Equal(t, name, instance.Name)
			require.NotEmpty(t, name)
			require.LessOrEqual(t, len(instance.ErrorMsg), maxTextBytes)
			require.LessOrEqual(t, len(instance.State), maxTextBytes)
			require.Equal(t, instance.UUID != "", instance.UUIDSource == UUIDFromInstanceStatus)
			require.Equal(t, questions{
				replicas: instance.DataEngine == "v2" && instance.Type == "replica",
				engines:  instance.DataEngine == "v2" && instance.Type == "engine",
			}, carryOver(map[string]Instance{name: instance}, nil))
		}
	})
}

// A v1 server takes every name with "-e-" in it for an engine's.
func TestTheTypeOfAProcessFollowsFromTheFormOfItsName(t *testing.T) {
	for _, c := range []struct{ name, guessed, engine, want string }{
		{"vol-r-0a1b2c3d", "replica", "v1", "replica"},
		{"vol-e-0", "engine", "v1", "engine"},
		{"shop-e-commerce-r-0a1b2c3d", "engine", "v1", "replica"},
		{"shop-e-commerce-e-0", "engine", "v1", "engine"},
		{"a-r-b-e-0", "replica", "v1", "engine"},
		{"vol-r-e-0", "engine", "v1", "engine"},
		{"vol-e-r-0", "engine", "v1", "replica"},
		{"vol-r-UPPER", "engine", "v1", "engine"},
		{"-r-0a1b2c3d", "engine", "v1", "engine"},
		{"something", "replica", "v1", "replica"},
		{"something", "", "v1", ""},
		{"vol-r-0a1b2c3d", "", "v1", "replica"},
		{"shop-e-commerce-r-0a1b2c3d", "engine", "v2", "engine"},
		{"vol-ef-0", "engine-frontend", "v2", "engine-frontend"},
	} {
		t.Run(c.name+" "+c.guessed+" "+c.engine, func(t *testing.T) {
			instances, err := convertList(&imrpc.InstanceListResponse{Instances: map[string]*imrpc.InstanceResponse{
				c.name: entry(c.name, c.guessed, c.engine, "running", "u")}})
			require.NoError(t, err)
			require.Equal(t, c.want, instances[c.name].Type)
		})
	}
}
