package runkit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// DescribedPath is where a binary lists its metrics, beside /metrics, which leaves out those that have no series yet.
const DescribedPath = "/metrics/described"

// MetricDescription is what is known of a metric before it has a series.
type MetricDescription struct {
	Name   string   `json:"name"`
	Help   string   `json:"help"`
	Labels []string `json:"labels"`
}

// described serves the descriptions of all metrics of a registry as a JSON list, by name.
func described(registry any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		all, err := describe(registry)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(all)
	})
}

// describe returns the descriptions of all metrics of a registry, by name.
func describe(registry any) ([]MetricDescription, error) {
	collector, ok := registry.(prometheus.Collector)
	if !ok {
		return nil, fmt.Errorf("a registry of type %T does not describe its metrics", registry)
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		collector.Describe(descriptions)
	}()
	var all []MetricDescription
	var failed error
	for d := range descriptions { // to its end, or the sender waits for ever
		description, err := parse(d.String())
		if err != nil {
			failed = err
		}
		all = append(all, description)
	}
	slices.SortFunc(all, func(a, b MetricDescription) int { return strings.Compare(a.Name, b.Name) })
	return all, failed
}

// printed is how the Prometheus library prints a description; it has no other access to one.
var printed = regexp.MustCompile(`^Desc\{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"), .*variableLabels: \{([^}]*)\}\}$`)

func parse(text string) (MetricDescription, error) {
	found := printed.FindStringSubmatch(text)
	if found == nil {
		return MetricDescription{}, fmt.Errorf("the description of a metric is unreadable: %s", text)
	}
	name, err := strconv.Unquote(found[1])
	if err != nil {
		return MetricDescription{}, fmt.Errorf("the name of a metric is unreadable: %s: %w", text, err)
	}
	help, err := strconv.Unquote(found[2])
	if err != nil {
		return MetricDescription{}, fmt.Errorf("the help of a metric is unreadable: %s: %w", text, err)
	}
	labels := []string{}
	if found[3] != "" {
		labels = strings.Split(found[3], ",")
	}
	return MetricDescription{Name: name, Help: help, Labels: labels}, nil
}
