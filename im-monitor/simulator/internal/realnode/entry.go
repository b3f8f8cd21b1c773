package realnode

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// entry is one call, in the form of the simulator's journal.
type entry = dataplane.Entry

// entryOf describes a finished call by its request and its answer. An instance is deleted if the answer is OK: a server compares the UUID.
func entryOf(p *pod, call record.Call) entry {
	e := entry{Source: dataplane.SourceWire, Node: p.Node, Pod: p.Name, Method: call.Method, DataEngine: p.DataEngine,
		Result: call.Code.String(), Effect: dataplane.EffectNone}
	done := call.Code == codes.OK
	switch call.Method {
	case "InstanceCreate":
		request, answer := &imrpc.InstanceCreateRequest{}, &imrpc.InstanceResponse{}
		if proto.Unmarshal(call.Request, request) == nil {
			e.Name, e.Type, e.Volume = request.GetSpec().GetName(), request.GetSpec().GetType(), request.GetSpec().GetVolumeName()
		}
		if done && proto.Unmarshal(call.Answer, answer) == nil {
			e.UUIDFound, e.Effect = answer.GetStatus().GetUuid(), dataplane.EffectCreated
		}
	case "InstanceDelete":
		request, answer := &imrpc.InstanceDeleteRequest{}, &imrpc.InstanceResponse{}
		if proto.Unmarshal(call.Request, request) == nil {
			e.Name, e.Type, e.UUIDAsked, e.Cleanup = request.GetName(), request.GetType(), request.GetUuid(), request.GetCleanupRequired()
		}
		if done && proto.Unmarshal(call.Answer, answer) == nil {
			e.UUIDFound, e.Effect = answer.GetStatus().GetUuid(), dataplane.EffectStopped
		}
	default:
		if done {
			e.Effect = dataplane.EffectChanged
		}
		if call.Method == "ReplicaAdd" && call.Code == codes.Canceled {
			e.Effect = dataplane.EffectStranded // its caller left
		}
		e.Volume, e.Name = proxied(call.Request)
	}
	return e
}

// proxied reads volume and engine of a call to the proxy service: its first field has them.
func proxied(message []byte) (volume, engine string) {
	number, kind, n := protowire.ConsumeTag(message)
	if n < 0 || number != 1 || kind != protowire.BytesType {
		return "", ""
	}
	value, n := protowire.ConsumeBytes(message[n:])
	request := &imrpc.ProxyEngineRequest{}
	if n < 0 || proto.Unmarshal(value, request) != nil {
		return "", ""
	}
	return request.GetVolumeName(), request.GetEngineName()
}
