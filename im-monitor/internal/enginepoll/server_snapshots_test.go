package enginepoll_test

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

const head = "volume-head"

// snapshotWork is what the scripted engine keeps of work at its snapshots.
type snapshotWork struct {
	taken   []*imrpc.EngineVolumeSnapshotRequest
	removed [][]string
	purges  int
	// slow lets a purge continue until the test ends it; purging is one that does.
	slow, purging bool
	// broken is the error with which a purge ends, and merges nothing.
	broken string
	// lost are calls whose answer never comes, by method: they are carried out.
	lost map[string]int
}

// holds puts a snapshot below the head.
func (s *engineServer) holds(name string, user bool) {
	s.do(func() { s.snap(name, user, nil) })
}

func (s *engineServer) snap(name string, user bool, labels map[string]string) {
	parent := s.snapshots[head].GetParent()
	if p := s.snapshots[parent]; p != nil {
		s.snapshots[parent] = &imrpc.EngineSnapshotDiskInfo{Name: parent, Parent: p.Parent, Children: map[string]bool{name: true},
			UserCreated: p.UserCreated,
			Created:     p.Created, Removed: p.Removed, Labels: p.Labels}
	}
	s.snapshots[name] = &imrpc.EngineSnapshotDiskInfo{Name: name, Parent: parent, Children: map[string]bool{head: true}, UserCreated: user,
		Created: time.Now().UTC().Format(time.RFC3339), Size: "4096", Labels: labels}
	s.snapshots[head] = &imrpc.EngineSnapshotDiskInfo{Name: head, Parent: name}
}

// drop merges a snapshot into its child.
func (s *engineServer) drop(name string) {
	gone := s.snapshots[name]
	if gone == nil {
		return
	}
	for child := range gone.GetChildren() {
		d := s.snapshots[child]
		s.snapshots[child] = &imrpc.EngineSnapshotDiskInfo{Name: child, Parent: gone.GetParent(), Children: d.Children,
			UserCreated: d.UserCreated, Created: d.Created, Removed: d.Removed}
	}
	if p := s.snapshots[gone.GetParent()]; p != nil {
		s.snapshots[p.Name] = &imrpc.EngineSnapshotDiskInfo{Name: p.Name, Parent: p.Parent, Children: gone.GetChildren(),
			UserCreated: p.UserCreated, Created: p.Created, Removed: p.Removed}
	}
	delete(s.snapshots, name)
}

// answered is the answer, unless it is to be lost; the lock is held.
func (s *engineServer) answered(method string) error {
	if s.work.lost[method] > 0 {
		s.work.lost[method]--
		return status.Error(codes.Unavailable, "the answer is lost")
	}
	return nil
}

func (s *engineServer) VolumeSnapshot(_ context.Context, r *imrpc.EngineVolumeSnapshotRequest) (*imrpc.EngineVolumeSnapshotProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.GetSnapshotVolume().GetName()
	if s.snapshots[name] != nil {
		return nil, status.Error(codes.Unknown, "snapshot is already existing")
	}
	s.work.taken = append(s.work.taken, r)
	s.snap(name, true, r.GetSnapshotVolume().GetLabels())
	return &imrpc.EngineVolumeSnapshotProxyResponse{}, s.answered("VolumeSnapshot")
}

func (s *engineServer) SnapshotRemove(_ context.Context, r *imrpc.EngineSnapshotRemoveRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work.removed = append(s.work.removed, r.GetNames())
	for _, name := range r.GetNames() {
		if s.v2 {
			s.drop(name)
		} else if d := s.snapshots[name]; d != nil {
			s.snapshots[name] = &imrpc.EngineSnapshotDiskInfo{Name: name, Parent: d.Parent, Children: d.Children,
				UserCreated: d.UserCreated, Created: d.Created, Removed: true}
		}
	}
	return &emptypb.Empty{}, s.answered("SnapshotRemove")
}

func (s *engineServer) SnapshotPurge(context.Context, *imrpc.EngineSnapshotPurgeRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work.purges++
	for name, d := range s.snapshots {
		if name != head && !d.GetUserCreated() && !s.v2 {
			s.snapshots[name] = &imrpc.EngineSnapshotDiskInfo{Name: name, Parent: d.Parent, Children: d.Children, Created: d.Created,
				Removed: true}
		}
	}
	if s.work.purging = s.work.slow; !s.work.purging && s.work.broken == "" {
		s.purge()
	}
	return &emptypb.Empty{}, s.answered("SnapshotPurge")
}

// purge merges what is marked and is not the head's parent.
func (s *engineServer) purge() {
	s.work.purging = false
	for name, d := range s.snapshots {
		if d.GetRemoved() && s.snapshots[head].GetParent() != name {
			s.drop(name)
		}
	}
}

func (s *engineServer) SnapshotPurgeStatus(context.Context, *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotPurgeStatusProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*ptypes.SnapshotPurgeStatusResponse{}
	for _, m := range s.members {
		if s.work.purging {
			out[m.address] = &ptypes.SnapshotPurgeStatusResponse{IsPurging: true, Progress: 60, State: "in_progress"}
		} else if s.work.broken != "" && s.work.purges > 0 {
			out[m.address] = &ptypes.SnapshotPurgeStatusResponse{State: "error", Error: s.work.broken}
		} else if s.work.purges > 0 {
			out[m.address] = &ptypes.SnapshotPurgeStatusResponse{Progress: 100, State: "complete"}
		}
	}
	return &imrpc.EngineSnapshotPurgeStatusProxyResponse{Status: out}, nil
}
