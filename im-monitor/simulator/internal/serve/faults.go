package serve

import (
	"context"
	"path"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// unary puts hangs, latencies and error codes around a call.
func (s *Servers) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	method := path.Base(info.FullMethod)
	if err := s.misbehave(ctx, e, method, false); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(info.FullMethod, "/grpc.") {
		if err := waitTurn(e.server, info.FullMethod); err != nil {
			return nil, err
		}
	}
	answer, err := handle(ctx, request)
	if fault := s.misbehave(ctx, e, method, true); fault != nil {
		return nil, fault
	}
	return answer, err
}

// stream puts hangs, latencies and error codes before a stream. Health checks and reflection are spared.
func (s *Servers) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	e, err := endpointOf(stream.Context())
	if err != nil {
		return err
	}
	if !strings.HasPrefix(info.FullMethod, "/grpc.") {
		if err := s.misbehave(stream.Context(), e, path.Base(info.FullMethod), false); err != nil {
			return err
		}
	}
	return handle(server, stream)
}

// queues are the calls that wait for the lock of their volume in the server, and continue when their caller leaves.
var queues = map[string]bool{"InstanceCreate": true, "InstanceDelete": true, "InstanceSuspend": true, "InstanceResume": true,
	"InstanceSwitchOverTarget": true,
	"VolumeExpand":             true}

// misbehave applies the rules before a call or (after) between its work and its answer.
func (s *Servers) misbehave(ctx context.Context, e *Endpoint, method string, after bool) error {
	faults, target := s.options.Faults, e.Target()
	if rule, ok := faults.Take(fault.Latency, target, method, after); ok {
		waiting := ctx
		if queues[method] && !after {
			waiting = context.WithoutCancel(ctx)
		}
		if err := sleep(waiting, e, time.Duration(rule.Delay)); err != nil {
			return err
		}
	}
	if rule, ok := faults.Take(fault.Hang, target, method, after); ok {
		if err := s.hang(ctx, e, rule); err != nil {
			return err
		}
	}
	if rule, ok := faults.Take(fault.Error, target, method, after); ok {
		return status.Error(codeOf(rule.Code), messageOf(rule))
	}
	return nil
}

// hang waits until the rule is cleared. One that was for one call only holds that call until its caller disconnects or the server dies.
func (s *Servers) hang(ctx context.Context, e *Endpoint, rule fault.Rule) error {
	for {
		changed := s.options.Faults.Changed()
		if rule.Times != 1 && !s.options.Faults.Has(rule.ID) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-e.server.Done():
			return status.Error(codes.Unavailable, "the instance manager is gone")
		}
	}
}

func sleep(ctx context.Context, e *Endpoint, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	case <-e.server.Done():
		return status.Error(codes.Unavailable, "the instance manager is gone")
	}
}

func messageOf(r fault.Rule) string {
	if r.Message != "" {
		return r.Message
	}
	return "injected by rule " + r.ID
}

// codeOf reads a code's name; Unavailable when there is none.
func codeOf(name string) codes.Code {
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if strings.EqualFold(c.String(), name) {
			return c
		}
	}
	return codes.Unavailable
}
