package serve

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// API versions that are reported.
const (
	apiVersion         = 7
	apiMinVersion      = 1
	proxyAPIVersion    = 7
	proxyAPIMinVersion = 1
	serverVersion      = "v1.10.0-simulator"
)

// instanceService is the life cycle and inventory of instances.
type instanceService struct {
	imrpc.UnimplementedInstanceServiceServer
	servers *Servers
}

// InstanceCreate starts an instance; what fails inside it is reported by its state.
func (s *instanceService) InstanceCreate(ctx context.Context, in *imrpc.InstanceCreateRequest) (*imrpc.InstanceResponse, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	spec := specOf(in.GetSpec())
	work, err := e.server.BeginCreation(spec)
	if err != nil {
		return nil, failure(err)
	}
	if err := carryOut(ctx, e, work); err != nil {
		return nil, err
	}
	made, err := e.server.Create(spec)
	if err != nil {
		return nil, failure(err)
	}
	if rule, ok := s.servers.options.Faults.Poll(fault.FailCreate, e.Target(), "InstanceCreate"); ok && rule.Concerns(spec.Name) {
		state, message := dataplane.Failed, messageOf(rule)
		if made, err = s.servers.options.Plane.Change(e.server.Node(), spec.Name,
			dataplane.Change{State: &state, ErrorMsg: &message}); err != nil {
			return nil, failure(err)
		}
	}
	reported := e.server.Report(made)
	return response(reported), nil
}

// carryOut waits for work of a server, which goes on if its caller leaves.
func carryOut(ctx context.Context, e *Endpoint, work dataplane.Work) error {
	defer work.End()
	return sleep(context.WithoutCancel(ctx), e, work.Takes)
}

// InstanceDelete ends an instance.
func (s *instanceService) InstanceDelete(ctx context.Context, in *imrpc.InstanceDeleteRequest) (*imrpc.InstanceResponse, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	deletion := dataplane.Deletion{Name: in.GetName(), Type: in.GetType(), DataEngine: engineName(in.GetDataEngine()),
		UUID: in.GetUuid(), DiskUUID: in.GetDiskUuid(), Cleanup: in.GetCleanupRequired()}
	if rule, ok := s.servers.options.Faults.Poll(fault.StuckStop, e.Target(), "InstanceDelete"); ok {
		deletion.Stuck = rule.Concerns(deletion.Name)
	}
	if err := carryOut(ctx, e, e.server.BeginDeletion(deletion)); err != nil {
		return nil, err
	}
	ended, err := e.server.Delete(deletion)
	if err != nil {
		return nil, failure(err)
	}
	reported := e.server.Report(ended)
	out := response(reported)
	out.Deleted = true
	return out, nil
}

// InstanceGet is one instance.
func (s *instanceService) InstanceGet(ctx context.Context, in *imrpc.InstanceGetRequest) (*imrpc.InstanceResponse, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	reported, err := e.server.Get(engineName(in.GetDataEngine()), in.GetName())
	if err != nil {
		return nil, failure(err)
	}
	return response(s.servers.blank(e, "InstanceGet", reported)), nil
}

// InstanceList is the whole inventory.
func (s *instanceService) InstanceList(ctx context.Context, _ *emptypb.Empty) (*imrpc.InstanceListResponse, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := e.server.List()
	if err != nil {
		return nil, failure(err)
	}
	left := leftOut(s.servers, e, "InstanceList", list)
	out := &imrpc.InstanceListResponse{Instances: make(map[string]*imrpc.InstanceResponse, len(list))}
	for name, reported := range list {
		if !left[name] {
			out.Instances[name] = response(s.servers.blank(e, "InstanceList", reported))
		}
	}
	s.servers.spoil(e, out)
	return out, nil
}

// InstanceWatch sends an empty message when something changed, one for all changes since the last, with a pause between two; none at the
// start.
func (s *instanceService) InstanceWatch(_ *emptypb.Empty, stream grpc.ServerStreamingServer[emptypb.Empty]) error {
	e, err := endpointOf(stream.Context())
	if err != nil {
		return err
	}
	w := e.server.Watch()
	defer w.Close()
	for {
		select {
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		case <-w.Done():
			return status.Error(codes.Unavailable, "the instance manager is gone")
		case <-w.More():
			if err := s.notify(e, stream, w.Take()); err != nil {
				return err
			}
			if err := sleep(stream.Context(), e, s.servers.options.NoticeGap); err != nil {
				return err
			}
		}
	}
}

// notify sends one notice for a number of changes, or what the rules make of each.
func (s *instanceService) notify(e *Endpoint, stream grpc.ServerStreamingServer[emptypb.Empty], changes int) error {
	sends := 0
	for range changes {
		rule, faulty := s.servers.options.Faults.Take(fault.Events, e.Target(), "InstanceWatch", false)
		switch {
		case faulty && rule.Mode == "drop":
			continue
		case faulty && rule.Mode == "duplicate":
			sends = 2
		case faulty && rule.Mode == "delay":
			if err := sleep(stream.Context(), e, time.Duration(rule.Delay)); err != nil {
				return err
			}
		}
		sends = max(sends, 1)
	}
	for range sends {
		if err := stream.Send(&emptypb.Empty{}); err != nil {
			return err
		}
	}
	return nil
}

// InstanceLog is one line, and the end.
func (s *instanceService) InstanceLog(in *imrpc.InstanceLogRequest, stream grpc.ServerStreamingServer[common.LogResponse]) error {
	server, err := serverOf(stream.Context())
	if err != nil {
		return err
	}
	reported, err := server.Get(engineName(in.GetDataEngine()), in.GetName())
	if err != nil {
		return failure(err)
	}
	return stream.Send(&common.LogResponse{Line: "[" + reported.Name + "] simulated, state " + reported.State})
}

// InstanceSuspend holds a v2 frontend's I/O.
func (s *instanceService) InstanceSuspend(ctx context.Context, in *imrpc.InstanceSuspendRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.Suspend(engineName(in.GetDataEngine()), in.GetName(), in.GetType())
	})
}

// InstanceResume lets a v2 frontend's I/O continue.
func (s *instanceService) InstanceResume(ctx context.Context, in *imrpc.InstanceResumeRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.Resume(engineName(in.GetDataEngine()), in.GetName(), in.GetType())
	})
}

// InstanceSwitchOverTarget moves a v2 frontend to another engine.
func (s *instanceService) InstanceSwitchOverTarget(ctx context.Context, in *imrpc.InstanceSwitchOverTargetRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SwitchOver(engineName(in.GetDataEngine()), in.GetName(), in.GetType(),
			dataplane.Target{Engine: in.GetEngineName(), Address: in.GetTargetAddress()}, in.GetSwitchoverPhase())
	})
}

// InstanceDeleteTarget disconnects a v2 frontend from its target.
func (s *instanceService) InstanceDeleteTarget(ctx context.Context, in *imrpc.InstanceDeleteTargetRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.DeleteTarget(engineName(in.GetDataEngine()), in.GetName(), in.GetType())
	})
}

// VersionGet reports the API versions.
func (s *instanceService) VersionGet(context.Context, *emptypb.Empty) (*common.VersionResponse, error) {
	return version(), nil
}

// onServer runs a call that answers nothing.
func onServer(ctx context.Context, call func(*dataplane.Server) error) (*emptypb.Empty, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := call(server); err != nil {
		return nil, failure(err)
	}
	return &emptypb.Empty{}, nil
}
