package record

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// streams are the methods of an instance manager that stay open.
var streams = map[string]bool{"InstanceWatch": true, "InstanceLog": true, "Watch": true, "ServerReflectionInfo": true}

// effects are the methods that change something in the data plane.
var effects = map[string]bool{
	"InstanceCreate": true, "InstanceDelete": true, "InstanceReplace": true, "InstanceSuspend": true,
	"InstanceResume": true, "InstanceSwitchOverTarget": true, "InstanceDeleteTarget": true, "DiskReplicaInstanceDelete": true,
	"DiskCreate": true, "DiskDelete": true,
	"VolumeExpand": true, "VolumeFrontendStart": true, "VolumeFrontendShutdown": true, "VolumeSnapshot": true,
	"SnapshotRevert": true, "SnapshotPurge": true, "SnapshotClone": true, "SnapshotRemove": true, "SnapshotHash": true,
	"SnapshotBackup": true, "BackupRestore": true, "ReplicaAdd": true, "ReplicaRemove": true, "ReplicaModeUpdate": true,
}

func baseName(method string) string { return method[strings.LastIndex(method, "/")+1:] }

// localAddress is the address at which the caller reaches the instance manager.
func localAddress(ctx context.Context) (string, int, error) {
	caller, ok := peer.FromContext(ctx)
	if !ok || caller.LocalAddr == nil {
		return "", 0, status.Error(codes.Internal, "the recording proxy does not know its own address")
	}
	host, text, err := net.SplitHostPort(caller.LocalAddr.String())
	if err != nil {
		return "", 0, status.Errorf(codes.Internal, "the recording proxy's own address: %v", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return "", 0, status.Errorf(codes.Internal, "the recording proxy's own port: %v", err)
	}
	return host, port, nil
}

// effect forwards a unary call that changes something: it numbers and records the call, and drops it where the run is cut.
func (d *DataPlane) effect(method, address string, port int, downstream grpc.ServerStream) error {
	request := &frame{}
	if err := downstream.RecvMsg(request); err != nil {
		return err
	}
	call := Call{Address: address, Method: baseName(method), Request: request.payload.Materialize(), Began: time.Now()}
	step, cut := d.sequence.begin(DataPlaneActor, call.Method+" "+nameIn(call.Request)+" at "+address)
	call.Step = step
	if cut {
		return status.Error(codes.Unavailable, "the run was cut before this call")
	}
	d.mutex.Lock()
	hook := d.before
	d.mutex.Unlock()
	if hook != nil {
		if err := hook(call); err != nil {
			return err
		}
	}
	answer, err := d.forwardCall(downstream.Context(), method, address, port, request)
	call.Ended, call.Code = time.Now(), status.Code(err)
	d.finished(call, answer)
	if d.sequence.end(step) {
		return status.Error(codes.Unavailable, "the run was cut after this call")
	}
	if err != nil {
		return err
	}
	return downstream.SendMsg(answer)
}

// ends reports whether a real server ends the operation with the caller's connection: the addition of a v1 replica does.
func ends(method string) bool { return strings.HasSuffix(method, "/ReplicaAdd") }

// finished keeps a call, or reports it to the observer.
func (d *DataPlane) finished(call Call, answer *frame) {
	if d.after != nil {
		if answer != nil {
			call.Answer = answer.payload.Materialize()
		}
		d.after(call)
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.calls = append(d.calls, call)
}

// forwardCall makes the call with the caller's deadline, but completes it when the caller dies, as a real server does unless ends is true.
func (d *DataPlane) forwardCall(ctx context.Context, method, address string, port int, request *frame) (*frame, error) {
	lasting := ctx
	if !ends(method) {
		lasting = context.WithoutCancel(ctx)
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		lasting, cancel = context.WithDeadline(lasting, deadline)
		defer cancel()
	}
	upstream, err := d.open(lasting, method, address, port)
	if err != nil {
		return nil, err
	}
	if err := upstream.SendMsg(request); err != nil {
		return nil, err
	}
	if err := upstream.CloseSend(); err != nil {
		return nil, err
	}
	answer := &frame{}
	if err := upstream.RecvMsg(answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// nameIn finds the name in a request, for people who read the list of steps: its first string of some length,
// in the message itself or in the one that its first field holds.
func nameIn(message []byte) string {
	for len(message) > 0 {
		_, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return ""
		}
		message = message[n:]
		if kind != protowire.BytesType {
			skip := protowire.ConsumeFieldValue(1, kind, message)
			if skip < 0 {
				return ""
			}
			message = message[skip:]
			continue
		}
		value, n := protowire.ConsumeBytes(message)
		if n < 0 {
			return ""
		}
		if name := readable(value); name != "" {
			return name
		}
		if name := nameIn(value); name != "" {
			return name
		}
		message = message[n:]
	}
	return ""
}

func readable(value []byte) string {
	if len(value) < 3 {
		return ""
	}
	for _, b := range value {
		if b < 0x20 || b > 0x7e {
			return ""
		}
	}
	return string(value)
}
