package imclient

import (
	"slices"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/shared/api/v1beta2"
)

const typeFrontend = v1beta2.InstanceTypeEngineFrontend

// Frontend is what a list reports about an engine-frontend beside what all instances have.
type Frontend struct {
	// EngineName is the engine that it is connected to, Kind the wire's word for what it shows.
	EngineName, Kind string
	// ActivePath is the path that carries I/O, PreferredPath the one that should carry it.
	ActivePath, PreferredPath string
	UblkID                    int32
	Paths                     []Path
}

// Path is one NVMe-over-TCP path of a frontend.
type Path struct {
	EngineName, TargetIP string
	TargetPort           int32
	NQN, NGUID           string
	// ANAState is optimized, non-optimized or inaccessible.
	ANAState string
}

// Equal compares all of it; nil is equal to nil only.
func (f *Frontend) Equal(other *Frontend) bool {
	if f == nil || other == nil {
		return f == other
	}
	return f.EngineName == other.EngineName && f.Kind == other.Kind && f.ActivePath == other.ActivePath &&
		f.PreferredPath == other.PreferredPath && f.UblkID == other.UblkID && slices.Equal(f.Paths, other.Paths)
}

// frontendOf keeps nothing for other types: of a hundred thousand instances, nearly none is a frontend.
func frontendOf(spec *imrpc.InstanceSpec, status *imrpc.InstanceStatus) *Frontend {
	if spec.GetType() != typeFrontend {
		return nil
	}
	out := &Frontend{
		EngineName: cut(status.GetEngineName()), Kind: intern(status.GetFrontend()), UblkID: status.GetUblkId(),
		ActivePath: cut(status.GetActivePath()), PreferredPath: cut(status.GetPreferredPath()),
	}
	for _, p := range status.GetPaths() {
		out.Paths = append(out.Paths, Path{EngineName: cut(p.GetEngineName()), TargetIP: cut(p.GetTargetIp()),
			TargetPort: p.GetTargetPort(),
			NQN:        cut(p.GetNqn()), NGUID: cut(p.GetNguid()), ANAState: intern(p.GetAnaState())})
	}
	return out
}
