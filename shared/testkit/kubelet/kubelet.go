// Package kubelet stands in for kubelets and pods where no container runs: the API server reads logs of pods from it over HTTPS, and
// proxies requests to their ports. Give its Dial to the control plane (cluster.Options.Dial).
package kubelet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// port is that of every kubelet.
const port = 10250

// Log names one log: that of a container, or of its run before.
type Log struct {
	Namespace, Pod, Container string
	Previous                  bool
}

// Kubelet is the kubelets of all nodes of a control plane, and what its pods serve.
type Kubelet struct {
	mu   sync.Mutex
	logs map[Log]string
	// servers are those of nodes and pods, by address (host:port).
	servers map[string]*httptest.Server
}

// New returns a Kubelet of no node.
func New() *Kubelet { return &Kubelet{logs: map[Log]string{}, servers: map[string]*httptest.Server{}} }

// Node starts the kubelet of a node at an IP, and returns what the status of the node must have of it. A handler answers in its place; with
// nil it serves the logs.
func (k *Kubelet) Node(ip string, instead http.Handler) corev1.NodeStatus {
	if instead == nil {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.serveLog)
		instead = mux
	}
	k.serve(net.JoinHostPort(ip, strconv.Itoa(port)), httptest.NewTLSServer(instead))
	return corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: port}}}
}

// Pod serves the address (IP:port) of a pod over HTTP.
func (k *Kubelet) Pod(address string, handler http.Handler) {
	k.serve(address, httptest.NewServer(handler))
}

func (k *Kubelet) serve(address string, server *httptest.Server) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.servers[address] = server
}

// Write makes a text the content of a log.
func (k *Kubelet) Write(log Log, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.logs[log] = text
}

// serveLog answers as a kubelet does: the last lines of a log where tailLines is given, and 404 where there is no such log.
func (k *Kubelet) serveLog(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	text, there := k.logs[Log{Namespace: r.PathValue("namespace"), Pod: r.PathValue("pod"), Container: r.PathValue("container"),
		Previous: r.URL.Query().Get("previous") == "true"}]
	k.mu.Unlock()
	if !there {
		http.Error(w, "no such log", http.StatusNotFound)
		return
	}
	if count, err := strconv.Atoi(r.URL.Query().Get("tailLines")); err == nil {
		lines := strings.SplitAfter(text, "\n")
		text = strings.Join(lines[max(len(lines)-1-count, 0):], "") // the last one is what follows the last line's end
	}
	_, _ = w.Write([]byte(text))
}

// Dial connects with what serves an address. Nothing else is reachable.
func (k *Kubelet) Dial(ctx context.Context, address string) (net.Conn, error) {
	k.mu.Lock()
	server := k.servers[address]
	k.mu.Unlock()
	if server == nil {
		return nil, fmt.Errorf("no route to %s", address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
}
