package control

import (
	"net/http"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

func (s *Server) devices(r *http.Request) (any, error) {
	return s.options.Plane.Devices(r.URL.Query().Get("node")), nil
}

func (s *Server) addDevice(r *http.Request) (any, error) {
	in, err := Read[dataplane.Device](r)
	if err != nil {
		return nil, err
	}
	return s.options.Plane.AddDevice(in)
}

func (s *Server) removeDevice(r *http.Request) (any, error) {
	q := r.URL.Query()
	return nothing{}, s.options.Plane.RemoveDevice(q.Get("node"), q.Get("path"))
}

func (s *Server) setDevice(r *http.Request) (any, error) {
	in, err := Read[SetDevice](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.options.Plane.SetDevicePresent(in.Node, in.Path, in.Present)
}

func (s *Server) swapDevices(r *http.Request) (any, error) {
	in, err := Read[SwapDevices](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.options.Plane.SwapDevices(in.Node, in.Path, in.OtherNode, in.OtherPath)
}

// createDisk asks a v2 server for a disk, as another control plane does that runs before the one under test.
func (s *Server) createDisk(r *http.Request) (any, error) {
	in, err := Read[CreateDisk](r)
	if err != nil {
		return nil, err
	}
	server, err := s.options.Machine.Server(in.Node, dataplane.V2)
	if err != nil {
		return nil, err
	}
	_, err = server.DiskCreate(dataplane.DiskRequest{Name: in.Name, Path: in.Path, UUID: in.UUID, Driver: in.Driver})
	return nothing{}, err
}

func (s *Server) serverDisks(r *http.Request) (any, error) {
	return s.options.Plane.ServerDisks(r.URL.Query().Get("node")), nil
}
