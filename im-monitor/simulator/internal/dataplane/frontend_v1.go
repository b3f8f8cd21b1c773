package dataplane

import "fmt"

// endpointV1 is where a v1 engine's volume is found on its node, as its frontend has it.
func endpointV1(r *engineRun) string {
	switch r.frontend {
	case "tgt-blockdev":
		return "/dev/longhorn/" + r.volumeName()
	case "tgt-iscsi":
		return fmt.Sprintf("iscsi://%s:3260/iqn.2019-10.io.longhorn:%s/1", r.engine.server.ip, r.volumeName())
	case "socket":
		return "/var/run/longhorn-" + r.volumeName() + ".sock"
	}
	return ""
}

// FrontendStart gives a running v1 engine a frontend.
func (s *Server) FrontendStart(ref Ref, frontend string) error {
	return s.onFrontendOfV1(ref, "VolumeFrontendStart", func(r *engineRun) error {
		switch {
		case frontend == "":
			return refuse(InvalidArgument, "a frontend needs a name")
		case r.frontend != "" && r.frontend != frontend:
			return refuse(Unknown, "frontend %s is up already", r.frontend)
		case r.frontend == "":
			r.frontend = frontend
			s.plane.epoch++
			s.plane.openDevice(r.engine, s.plane.epoch)
		}
		return nil
	})
}

// FrontendShutdown takes a running v1 engine's frontend.
func (s *Server) FrontendShutdown(ref Ref) error {
	return s.onFrontendOfV1(ref, "VolumeFrontendShutdown", func(r *engineRun) error {
		r.frontend = ""
		s.plane.closeDevice(r.engine)
		return nil
	})
}

func (s *Server) onFrontendOfV1(ref Ref, method string, do func(*engineRun) error) error {
	return s.onEngine(ref, false, method, func(r *engineRun) (string, error) {
		if r.engine.server.engine != V1 {
			return "", refuse(Unimplemented, "not implemented for data engine v2")
		}
		return "", do(r)
	})
}

// Set changes an engine's settings.
func (s *Server) Set(ref Ref, method string, change func(*EngineSettings)) error {
	return s.onEngine(ref, false, method, func(r *engineRun) (string, error) {
		change(&r.settings)
		return "", nil
	})
}
