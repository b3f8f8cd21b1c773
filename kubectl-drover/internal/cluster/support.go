package cluster

import (
	"context"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The rights to read of pods what no object has.
var (
	ReadLogs  = Right{Resource: "pods/log", Verb: "get"}
	ProxyPods = Right{Resource: "pods/proxy", Verb: "get"}
)

// PodReader reads logs and metrics of pods, by way of the API server.
type PodReader struct{ pods kubernetes.Interface }

// NewPodReader returns a reader with the access of the kubeconfig.
func NewPodReader(config *rest.Config) (*PodReader, error) {
	pods, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	return &PodReader{pods: pods}, nil
}

// Logs returns the last lines of a container's log, at most the last limit bytes; previous is that of the run before.
func (r *PodReader) Logs(ctx context.Context, pod *corev1.Pod, container string, previous bool, lines int64, limit int) (string, error) {
	stream, err := r.pods.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name,
		&corev1.PodLogOptions{Container: container, Previous: previous, TailLines: &lines}).Stream(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the log of pod %s, container %s: %w", pod.Name, container, err)
	}
	defer func() { _ = stream.Close() }()
	end := tail{limit: limit} // the API's own limitBytes keeps the oldest
	_, err = io.Copy(&end, stream)
	return end.String(), err
}

// tail keeps the last limit bytes of what is written to it.
type tail struct {
	limit int
	data  []byte
	cut   bool // something before data was forgotten
}

// Write appends, and forgets what is before the last limit bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit {
		t.cut = true
		t.data = append(t.data[:0], t.data[len(t.data)-t.limit:]...)
	}
	return len(p), nil
}

// String returns the last limit bytes, from the beginning of a line: half a line may be a value without its name.
func (t *tail) String() string {
	if !t.cut && len(t.data) <= t.limit {
		return string(t.data)
	}
	_, whole, _ := strings.Cut(string(t.data[max(len(t.data)-t.limit, 0):]), "\n")
	return whole
}

// MetricsPort returns the port of a pod that is named metrics, or has that in its name; ok is false where it has none.
func MetricsPort(pod *corev1.Pod) (port int32, ok bool) {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if strings.Contains(port.Name, "metrics") {
				return port.ContainerPort, true
			}
		}
	}
	return 0, false
}

// Metrics returns what the pod serves at /metrics of a port.
func (r *PodReader) Metrics(ctx context.Context, pod *corev1.Pod, port int32) (string, error) {
	body, err := r.pods.CoreV1().Pods(pod.Namespace).ProxyGet("http", pod.Name, fmt.Sprint(port), "/metrics", nil).DoRaw(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the metrics of pod %s: %w", pod.Name, err)
	}
	return string(body), nil
}
