package command

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/kubectl-drover/internal/bundle"
	"drover.dev/drover/kubectl-drover/internal/cluster"
)

const (
	// logLines and logBytes bound what is read of one container's log.
	logLines, logBytes = 20000, 16 << 20
	// podTimeout bounds one request to a pod.
	podTimeout = 30 * time.Second
)

// podFiles adds logs and metrics of pods to a report. What cannot be read is named, and does not end it.
type podFiles struct {
	reader *cluster.PodReader
	// within bounds one request.
	within func(context.Context) (context.Context, context.CancelFunc)
	add    func(name, text string) error
	// missing are sentences on what could not be read.
	missing []string
	// silent are the nodes whose kubelet did not answer in time: nothing there is asked for again.
	silent map[string]bool
}

// of adds the files of one pod.
func (p *podFiles) of(ctx context.Context, pod *corev1.Pod) error {
	for _, log := range bundle.LogsOf(pod) {
		late, err := p.file(ctx, pod, "logs/"+pod.Name+"/"+log.File(), func(ctx context.Context) (string, error) {
			return p.reader.Logs(ctx, pod, log.Container, log.Previous, logLines, logBytes)
		})
		if err != nil {
			return err
		}
		p.silent[pod.Spec.NodeName] = p.silent[pod.Spec.NodeName] || late
	}
	port, ok := cluster.MetricsPort(pod)
	if !ok {
		return nil
	}
	_, err := p.file(ctx, pod, "metrics/"+pod.Name+".txt", func(ctx context.Context) (string, error) {
		return p.reader.Metrics(ctx, pod, port)
	})
	return err
}

// file adds what read returns, and reports whether that took too long. An error is one of the report itself.
func (p *podFiles) file(ctx context.Context, pod *corev1.Pod, name string, read func(context.Context) (string, error)) (
	late bool, err error) {
	if node := pod.Spec.NodeName; p.silent[node] {
		p.missing = append(p.missing, fmt.Sprintf("%s: the kubelet of node %s did not answer before", name, node))
		return false, nil
	}
	bounded, cancel := p.within(ctx)
	defer cancel()
	text, err := read(bounded)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		p.missing = append(p.missing, fmt.Sprintf("%s: %v", name, err))
		return bounded.Err() != nil, nil
	}
	return false, p.add(name, bundle.Text(text))
}
