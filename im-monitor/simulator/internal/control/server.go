package control

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/address"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// Options are what the endpoint controls.
type Options struct {
	Plane   *dataplane.Plane
	Machine *machine.Machine
	Faults  *fault.Set
	Block   *address.Block
	// RemoveNode removes a node with its object.
	RemoveNode func(ctx context.Context, name string) error
	Mode       dataplane.ServerMode
	PortOffset int
	TLS        bool
	Log        *slog.Logger
}

// Server answers the control endpoint.
type Server struct{ options Options }

// NewServer makes the endpoint's handler.
func NewServer(o Options) *Server { return &Server{options: o} }

// Handler routes requests.
func (s *Server) Handler() http.Handler {
	return Route(s.options.Log, map[string]Handle{
		"GET /v1/status":                     s.status,
		"GET /v1/nodes":                      s.nodes,
		"POST /v1/nodes":                     s.addNodes,
		"DELETE /v1/nodes/{name}":            s.removeNode,
		"POST /v1/nodes/{name}/state":        s.setNode,
		"GET /v1/pods":                       s.pods,
		"POST /v1/pods/{name}/restart":       s.restart,
		"POST /v1/pods/{name}/crash":         s.crash,
		"GET /v1/instances":                  s.instances,
		"POST /v1/instances":                 s.put,
		"PATCH /v1/instances/{node}/{name}":  s.change,
		"DELETE /v1/instances/{node}/{name}": s.remove,
		"GET /v1/held":                       s.held,
		"POST /v1/backing-images":            s.putBacking,
		"POST /v1/directories":               s.setDirectory,
		"POST /v1/engine-images":             s.setEngineImage,
		"GET /v1/disks":                      s.serverDisks,
		"POST /v1/disks":                     s.createDisk,
		"GET /v1/devices":                    s.devices,
		"POST /v1/devices":                   s.addDevice,
		"DELETE /v1/devices":                 s.removeDevice,
		"POST /v1/devices/present":           s.setDevice,
		"POST /v1/devices/swap":              s.swapDevices,
		"GET /v1/journal":                    s.journal,
		"GET /v1/volumes":                    s.volumes,
		"GET /v1/volumes/{name}/verify":      s.verify,
		"GET /v1/volumes/{name}/read":        s.readBlock,
		"POST /v1/volumes/{name}/write":      s.writeBlock,
		"POST /v1/volumes/{name}/fail":       s.failReplica,
		"POST /v1/volumes/{name}/save":       s.saveVolume,
		"GET /v1/writers":                    s.writers,
		"POST /v1/writers":                   s.startWriter,
		"DELETE /v1/writers":                 s.stopWriters,
		"POST /v1/copy-time":                 s.copyTime,
		"GET /v1/faults":                     s.faults,
		"POST /v1/faults":                    s.addFault,
		"DELETE /v1/faults":                  s.clearFaults,
	})
}

// Serve answers on a listener until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return Serve(ctx, l, s.Handler()) }

// Serve answers with the handler on a listener until ctx ends.
func Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving the control endpoint: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}
