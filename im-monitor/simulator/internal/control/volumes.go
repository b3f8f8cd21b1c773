package control

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

func (s *Server) volumes(r *http.Request) (any, error) {
	return s.options.Plane.Volumes(r.URL.Query().Get("name")), nil
}

func (s *Server) verify(r *http.Request) (any, error) {
	return s.options.Plane.Verify(r.PathValue("name"))
}

func (s *Server) readBlock(r *http.Request) (any, error) {
	block, err := strconv.ParseInt("0"+r.URL.Query().Get("block"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: block: %w", errBadRequest, err)
	}
	text, written, err := s.options.Plane.Read(r.PathValue("name"), r.URL.Query().Get("node"), block)
	return ReadBlock{Text: text, Written: written}, err
}

// waitPause is how often a write that waits is tried again.
const waitPause = 2 * time.Millisecond

func (s *Server) writeBlock(r *http.Request) (any, error) {
	in, err := Read[WriteBlock](r)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(min(time.Duration(in.Wait), LongestWait))
	for {
		written, err := s.options.Plane.Write(r.PathValue("name"), in.Node, in.Block, in.Text)
		if dataplane.CodeOf(err) != string(dataplane.Unavailable) || time.Now().After(deadline) {
			return written, err
		}
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(waitPause):
		}
	}
}

func (s *Server) failReplica(r *http.Request) (any, error) {
	in, err := Read[FailReplica](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.options.Plane.FailReplica(r.PathValue("name"), in.Replica)
}

func (s *Server) saveVolume(r *http.Request) (any, error) {
	in, err := Read[SaveVolume](r)
	if err != nil {
		return nil, err
	}
	return s.options.Plane.Save(r.PathValue("name"), in.Snapshot, in.Backup, in.Target)
}

func (s *Server) startWriter(r *http.Request) (any, error) {
	in, err := Read[StartWriter](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.options.Plane.StartWriter(dataplane.Writer{Volume: in.Volume, Node: in.Node, Interval: time.Duration(in.Interval),
		Blocks: in.Blocks})
}

func (s *Server) writers(*http.Request) (any, error) { return shown(s.options.Plane.Writers()), nil }

func (s *Server) stopWriters(r *http.Request) (any, error) {
	return shown(s.options.Plane.StopWriters(r.URL.Query().Get("volume"), r.URL.Query().Get("node"))), nil
}

// shown are writers with durations that people can read.
func shown(list []dataplane.Writer) []Writer {
	out := make([]Writer, 0, len(list))
	for _, w := range list {
		out = append(out, Writer{Writer: w, Interval: fault.Duration(w.Interval), MaxPause: fault.Duration(w.MaxPause)})
	}
	return out
}

func (s *Server) copyTime(r *http.Request) (any, error) {
	in, err := Read[CopyTime](r)
	if err != nil {
		return nil, err
	}
	if in.Time < 0 {
		return nil, fmt.Errorf("%w: a time cannot be negative", errBadRequest)
	}
	d := time.Duration(in.Time)
	if in.Hold {
		d = dataplane.Held
	}
	if in.HoldBefore {
		d = dataplane.HeldBefore
	}
	s.options.Plane.SetCopyTime(in.Volume, d)
	return nothing{}, nil
}
