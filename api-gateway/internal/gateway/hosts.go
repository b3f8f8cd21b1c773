package gateway

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"drover.dev/drover/api-gateway/internal/wire"
)

// services are the names of the Services that lead to the gateway.
var services = []string{"longhorn-backend", "api-gateway"}

// checkHost refuses requests for hosts that this gateway is not. A page of another web site whose name suddenly leads to the gateway's
// address (DNS rebinding) has the same origin as the gateway for its browser; only the name of the host shows it.
func (s *server) checkHost(hr *http.Request) error {
	names := []string{hr.Host}
	if forwarded := hr.Header.Get("X-Forwarded-Host"); forwarded != "" && len(s.options.Hosts) > 0 {
		names = append(names, strings.Split(forwarded, ",")...)
	}
	for _, name := range names {
		host := strings.ToLower(strings.TrimSuffix(hostOf(strings.TrimSpace(name)), "."))
		if isOwnHost(host, s.reader.namespace) || slices.Contains(s.options.Hosts, host) {
			continue
		}
		// The interface passes on the host name that a person typed, and that name is not known here unless a flag names it.
		if len(s.options.Hosts) == 0 && s.isTrusted(hr.Context(), hostOf(hr.RemoteAddr)) {
			continue
		}
		return wire.WithStatus(http.StatusForbidden, fmt.Errorf("%q is no name of this gateway: name it in --allowed-hosts", host))
	}
	return nil
}

// isOwnHost reports whether a host is an IP address, which no foreign page has as its name, or a name of the gateway's Services.
func isOwnHost(host, namespace string) bool {
	if host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil {
		return true
	}
	for _, name := range services {
		full := name + "." + namespace
		if host == name || host == full || host == full+".svc" || strings.HasPrefix(host, full+".svc.") {
			return true
		}
	}
	return false
}
