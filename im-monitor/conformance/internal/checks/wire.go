package checks

import (
	"crypto/tls"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// wire are the checks of ports and transport, for each data engine.
func wire() []suite.Check {
	var out []suite.Check
	for _, engine := range []string{target.V1, target.V2} {
		out = append(out,
			suite.Check{ID: engine + "-versions", Engine: engine, Contract: onPorts, Run: versions,
				Name: "InstanceService reports API version 7 or later that still serves version 7, and the same of the proxy's"},
			suite.Check{ID: engine + "-health", Engine: engine, Contract: onPorts, Run: health,
				Name: "gRPC health reports SERVING on each of the ports"},
			suite.Check{ID: engine + "-reflection", Engine: engine, Contract: onPorts, Run: reflects,
				Name: "server reflection names the services on each of the ports"},
			found(suite.Check{ID: engine + "-process-manager", Engine: engine, Contract: onFacts, Run: processManager,
				Name: "port 8500 serves ProcessManagerService without a proto package, and VersionGet answers there"}, "P7"),
			found(suite.Check{ID: engine + "-log-settings", Engine: engine, Contract: onFacts, Run: logSettings,
				Name: "LogSetLevel and LogSetFlags are accepted, LogGetFlags reports what was set, and LogGetLevel the manager's own level"},
				"P7", "K9"),
			found(suite.Check{ID: engine + "-log-level-refused", Engine: engine, Contract: onFacts, Run: logLevelRefused,
				Name: "an unknown log level is refused, and the manager's own level, which is set by data engine v1, stays as it was"}, "P"),
			suite.Check{ID: engine + "-tls-required", Engine: engine, Contract: onPorts, Run: tlsRequired, Needs: needs(suite.TLS),
				Name: "with mutual TLS a client in plaintext, without a certificate or with TLS 1.2 is not served"},
			suite.Check{ID: engine + "-tls-name", Engine: engine, Contract: onPorts, Run: tlsName, Needs: needs(suite.TLS),
				Name: "the server's certificate carries longhorn-backend.longhorn-system and no other name is accepted for it"},
			suite.Check{ID: engine + "-watch-silent-start", Engine: engine, Contract: onSemantics, Run: watchSilentStart,
				Name: "InstanceWatch sends nothing at its start"},
		)
	}
	return out
}

func versions(t *suite.T) {
	v, err := t.Manager.Version(t.Context())
	t.OK(err, "asking for the version")
	t.Require(v.GetInstanceManagerAPIVersion() >= 7 && v.GetInstanceManagerAPIMinVersion() <= 7, "the API versions are %d to %d",
		v.GetInstanceManagerAPIMinVersion(), v.GetInstanceManagerAPIVersion())
	t.Require(v.GetInstanceManagerProxyAPIVersion() >= 7 && v.GetInstanceManagerProxyAPIMinVersion() <= 7,
		"the proxy API versions are %d to %d",
		v.GetInstanceManagerProxyAPIMinVersion(), v.GetInstanceManagerProxyAPIVersion())
}

func health(t *suite.T) {
	for _, port := range t.Manager.Ports() {
		if port == target.ProcessPort {
			continue // its health is nowhere described
		}
		out, err := grpc_health_v1.NewHealthClient(t.Manager.Conn(port)).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		t.OK(err, "asking port %d for its health", port)
		t.Require(out.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING, "port %d is %s", port, out.GetStatus())
	}
}

// services by port.
var services = map[int]string{target.ProxyPort: "imrpc.ProxyEngineService", target.DiskPort: "imrpc.DiskService",
	target.InstancePort: "imrpc.InstanceService", target.SPDKPort: "spdkrpc.SPDKService"}

func reflects(t *suite.T) {
	for _, port := range t.Manager.Ports() {
		service := services[port]
		if service == "" {
			continue
		}
		stream, err := grpc_reflection_v1.NewServerReflectionClient(t.Manager.Conn(port)).ServerReflectionInfo(t.Context())
		t.OK(err, "opening reflection on port %d", port)
		t.OK(stream.Send(&grpc_reflection_v1.ServerReflectionRequest{
			MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}), "asking for the services on port %d", port)
		out, err := stream.Recv()
		t.OK(err, "reading the services on port %d", port)
		t.Require(slices.ContainsFunc(out.GetListServicesResponse().GetService(), func(s *grpc_reflection_v1.ServiceResponse) bool {
			return s.GetName() == service
		}), "port %d does not name %s", port, service)
	}
}

func processManager(t *suite.T) {
	v, err := t.Manager.Process.VersionGet(t.Context(), &emptypb.Empty{})
	t.OK(err, "asking /ProcessManagerService/VersionGet on port 8500")
	t.Require(v.GetVersion() != "", "the version is empty")
}

func logSettings(t *suite.T) {
	engine, level, flags := imrpc.DataEngine_DATA_ENGINE_V1, "DEBUG", ""
	if t.Manager.Engine == target.V2 {
		engine, flags = imrpc.DataEngine_DATA_ENGINE_V2, "nvmf"
	}
	service := t.Manager.Instance
	_, err := service.LogSetLevel(t.Context(), &imrpc.LogSetLevelRequest{DataEngine: engine, Level: level})
	t.OK(err, "LogSetLevel")
	_, err = service.LogSetFlags(t.Context(), &imrpc.LogSetFlagsRequest{DataEngine: engine, Flags: flags})
	t.OK(err, "LogSetFlags")
	own, err := service.LogGetLevel(t.Context(), &imrpc.LogGetLevelRequest{DataEngine: engine})
	t.OK(err, "LogGetLevel")
	t.Require(own.GetLevel() != "", "the level is empty")
	seenFlags, err := service.LogGetFlags(t.Context(), &imrpc.LogGetFlagsRequest{DataEngine: engine})
	t.OK(err, "LogGetFlags")
	if engine == imrpc.DataEngine_DATA_ENGINE_V2 {
		t.Require(own.GetLevel() != level, "the level of SPDK was set, and %q is reported, which is the manager's own", own.GetLevel())
		t.Require(seenFlags.GetFlags() == flags, "flags %q were set, %q are reported", flags, seenFlags.GetFlags())
	}
}

func logLevelRefused(t *suite.T) {
	service, engines := t.Manager.Instance, []imrpc.DataEngine{imrpc.DataEngine_DATA_ENGINE_V1}
	if t.Manager.Engine == target.V2 {
		engines = append(engines, imrpc.DataEngine_DATA_ENGINE_V2)
	}
	own := func() string {
		out, err := service.LogGetLevel(t.Context(), &imrpc.LogGetLevelRequest{})
		t.OK(err, "LogGetLevel")
		return out.GetLevel()
	}
	before := own()
	_, err := service.LogSetLevel(t.Context(), &imrpc.LogSetLevelRequest{Level: "Warn"})
	t.OK(err, "LogSetLevel of the manager itself")
	t.Require(own() == "warning", "the manager's own level is %q after it was set to Warn", own())
	for _, engine := range engines {
		_, err := service.LogSetLevel(t.Context(), &imrpc.LogSetLevelRequest{DataEngine: engine, Level: "chatty"})
		t.Require(err != nil, "%s accepts the level chatty", engine)
	}
	t.Require(own() == "warning", "the manager's own level is %q after another one was refused", own())
	_, err = service.LogSetLevel(t.Context(), &imrpc.LogSetLevelRequest{Level: before})
	t.OK(err, "LogSetLevel back to %s", before)
}

// ask calls VersionGet over a connection of its own.
func ask(t *suite.T, secure credentials.TransportCredentials) error {
	conn, err := grpc.NewClient("passthrough:///"+t.Manager.Address(target.InstancePort), grpc.WithTransportCredentials(secure))
	t.OK(err, "connecting")
	_, err = imrpc.NewInstanceServiceClient(conn).VersionGet(t.Context(), &emptypb.Empty{})
	t.OK(conn.Close(), "closing the connection")
	return err
}

func tlsRequired(t *suite.T) {
	t.OK(ask(t, credentials.NewTLS(t.TLS)), "asking with the right certificate")
	bare, old := t.TLS.Clone(), t.TLS.Clone()
	bare.Certificates = nil
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for what, secure := range map[string]credentials.TransportCredentials{"in plaintext": insecure.NewCredentials(),
		"without a certificate": credentials.NewTLS(bare), "with TLS 1.2": credentials.NewTLS(old)} {
		err := ask(t, secure)
		t.Require(status.Code(err) == codes.Unavailable, "asking %s: expected Unavailable, got %s", what, status.Code(err))
	}
}

func tlsName(t *suite.T) {
	t.OK(ask(t, credentials.NewTLS(t.TLS)), "asking for longhorn-backend.longhorn-system")
	other := t.TLS.Clone()
	other.ServerName = "another-name.longhorn-system"
	t.Require(status.Code(ask(t, credentials.NewTLS(other))) == codes.Unavailable, "the server proves any name")
}

func watchSilentStart(t *suite.T) {
	w := watch(t, t.Manager)
	t.Never("a notice at the start of InstanceWatch", w.noticed)
}
