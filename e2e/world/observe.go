package world

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
)

// WaitMetric waits until a counter of the controller with this suffix and these labels is above zero.
func (w *World) WaitMetric(ctx context.Context, controller, name string, labels map[string]string, within time.Duration) error {
	return w.Wait(ctx, fmt.Sprintf("metric …%s%v", name, labels), within, func(ctx context.Context) (string, error) {
		lines, err := w.Metrics(ctx, controller)
		if err != nil {
			return "", err
		}
		seen := "nothing of that name"
		for _, line := range lines {
			metric, value, _ := strings.Cut(line, " ")
			family, rest, _ := strings.Cut(metric, "{")
			if !strings.HasSuffix(family, name) {
				continue
			}
			seen = "there is " + line
			if matches(rest, labels) && value != "0" {
				return "", nil
			}
		}
		return seen, nil
	})
}

func matches(text string, labels map[string]string) bool {
	for key, value := range labels {
		if !strings.Contains(text, key+`="`+value+`"`) {
			return false
		}
	}
	return true
}

// Metrics are the lines that a controller's metrics endpoint shows, without comments.
func (w *World) Metrics(ctx context.Context, controller string) ([]string, error) {
	content, err := w.readMetrics(ctx, controller, "/metrics")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out, nil
}

// DescribedMetrics are the metrics that a controller registered, whether they have a series or not.
func (w *World) DescribedMetrics(ctx context.Context, controller string) ([]runkit.MetricDescription, error) {
	content, err := w.readMetrics(ctx, controller, runkit.DescribedPath)
	if err != nil {
		return nil, err
	}
	var all []runkit.MetricDescription
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("parsing the descriptions of the metrics of %s: %w", controller, err)
	}
	return all, nil
}

func (w *World) readMetrics(ctx context.Context, controller, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.Process(controller).metrics+path, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking %s for metrics: %w", controller, err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of %s: %w", controller, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading the metrics of %s: %s", controller, response.Status)
	}
	return content, nil
}

// WaitEvent waits until an event has the word in its reason or note.
func (w *World) WaitEvent(ctx context.Context, word string, within time.Duration) error {
	return w.Wait(ctx, "an event with "+word, within, func(ctx context.Context) (string, error) {
		var list eventsv1.EventList
		if err := w.List(ctx, &list); err != nil {
			return "", err
		}
		var reasons []string
		for _, event := range list.Items {
			if strings.Contains(event.Reason, word) || strings.Contains(event.Note, word) {
				return "", nil
			}
			reasons = append(reasons, event.Reason)
		}
		return fmt.Sprintf("events are %v", reasons), nil
	})
}

// Counter adds up all lines of a metric of the controller.
func (w *World) Counter(ctx context.Context, controller, name string) (float64, error) {
	lines, err := w.Metrics(ctx, controller)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, line := range lines {
		metric, text, _ := strings.Cut(line, " ")
		family, _, _ := strings.Cut(metric, "{")
		if family != name {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return 0, fmt.Errorf("reading the metric %s: %w", line, err)
		}
		sum += value
	}
	return sum, nil
}

// PatchOften creates a Replica object that no controller reads, patches its status count times, one after the other, and removes it.
func (w *World) PatchOften(ctx context.Context, name string, times int) error {
	replica := &v1beta2.Replica{}
	replica.Name, replica.Namespace = name, w.Namespace
	if err := w.Admin.Create(ctx, replica); err != nil {
		return fmt.Errorf("creating an object to measure with: %w", err)
	}
	for i := range times {
		if err := w.SetStatus(ctx, replica, map[string]any{"port": i}); err != nil {
			return err
		}
	}
	if err := w.Admin.Delete(ctx, replica); err != nil {
		return fmt.Errorf("removing the object that was measured with: %w", err)
	}
	return nil
}
