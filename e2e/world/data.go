package world

import (
	"context"
	"net/http"
	"net/url"
)

// Data is the data plane's state of a volume, on all nodes, at one moment.
type Data struct {
	Name    string
	Writes  uint64
	Engines []struct {
		Node, Name string
		// Modes are the engine's replicas by name.
		Modes map[string]string
		Mixed bool
	}
	// Devices are the devices to which a workload may write: Engine is where its I/O goes, Waits why it does not.
	Devices  []struct{ Node, Name, Engine, Waits string }
	Replicas []struct {
		Node, Name     string
		Stale, Partial bool
	}
}

// DataOf returns the data plane's state of each volume; of one where a name is given.
func (w *World) DataOf(ctx context.Context, volume string) (map[string]Data, error) {
	var list []Data
	if err := w.ctl(ctx, http.MethodGet, "/v1/volumes?name="+url.QueryEscape(volume), nil, &list); err != nil {
		return nil, err
	}
	out := map[string]Data{}
	for _, d := range list {
		out[d.Name] = d
	}
	return out, nil
}
