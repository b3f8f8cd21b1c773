package cluster

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

const (
	egressConfigFile = "egress.yaml"
	egressSocket     = "egress.sock"
)

// egressConfig sends what is for nodes, pods and Services through a proxy.
const egressConfig = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: %q}}}
`

// startEgress serves CONNECT on a socket of the cluster's directory, by means of Options.Dial, until Stop.
func (c *Cluster) startEgress() error {
	if c.options.Dial == nil {
		return nil
	}
	socket := c.path(egressSocket)
	if err := os.WriteFile(c.path(egressConfigFile), fmt.Appendf(nil, egressConfig, socket), 0o600); err != nil {
		return fmt.Errorf("writing the egress configuration: %w", err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listening for the API server's connections: %w", err)
	}
	c.egress = &http.Server{Handler: http.HandlerFunc(c.connect)}
	go func() { _ = c.egress.Serve(listener) }() // ends with Close
	return nil
}

// connect joins one connection of the API server with the address that it asks for.
func (c *Cluster) connect(w http.ResponseWriter, r *http.Request) {
	target, err := c.options.Dial(r.Context(), r.URL.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = target.Close() }()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{target, client}, {client, target}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	<-ended // then both are closed
}

func (c *Cluster) stopEgress() error {
	if c.egress == nil {
		return nil
	}
	return c.egress.Close()
}
