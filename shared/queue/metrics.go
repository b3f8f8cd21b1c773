package queue

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The metrics have the names, labels and texts of controller-runtime's, whose place in the registry they take.
var (
	labels = []string{"name", "controller"}

	adds = prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: metrics.WorkQueueSubsystem, Name: metrics.AddsKey,
		Help: "Total number of adds handled by workqueue"}, labels)
	retries = prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: metrics.WorkQueueSubsystem, Name: metrics.RetriesKey,
		Help: "Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or " +
			"AddAfter calls)"}, labels)
	waited = histogram(metrics.QueueLatencyKey, "How long in seconds an item stays in workqueue before being requested")
	worked = histogram(metrics.WorkDurationKey, "How long in seconds processing an item from workqueue takes.")

	live = &queues{}
)

func histogram(name, help string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help,
		Buckets: prometheus.ExponentialBuckets(10e-9, 10, 12), NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
		NativeHistogramMinResetDuration: time.Hour}, labels)
}

func init() {
	for _, c := range []prometheus.Collector{adds, retries, waited, worked,
		gauge(metrics.DepthKey, "Current depth of workqueue by workqueue and priority", func(s state) float64 { return s.depth },
			"priority"),
		gauge(metrics.UnfinishedWorkKey, "How many seconds of work has been done that is in progress and hasn't been observed by "+
			"work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which "+
			"this increases.", func(s state) float64 { return s.unfinished }),
		gauge(metrics.LongestRunningProcessorKey, "How many seconds has the longest running processor for workqueue been running.",
			func(s state) float64 { return s.longest }),
	} {
		metrics.Registry.Unregister(c)
		metrics.Registry.MustRegister(c)
	}
}

// state is what gauges show of a queue: items that can be taken, and the seconds since those that were taken began, together and at most.
type state struct{ depth, unfinished, longest float64 }

// queues are those of the process that are not shut down.
type queues struct {
	mutex sync.Mutex
	known map[observed]bool
}

type observed interface {
	state() (name string, now state)
}

func (q *queues) add(one observed) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.known == nil {
		q.known = map[observed]bool{}
	}
	q.known[one] = true
}

func (q *queues) remove(one observed) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	delete(q.known, one)
}

// states are those of all queues by name.
func (q *queues) states() map[string]state {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	all := map[string]state{}
	for one := range q.known {
		name, now := one.state()
		sum := all[name]
		all[name] = state{sum.depth + now.depth, sum.unfinished + now.unfinished, max(sum.longest, now.longest)}
	}
	return all
}

// onRead is a gauge of each queue, computed when it is read.
type onRead struct {
	desc  *prometheus.Desc
	value func(state) float64
	more  []string // values of further labels
}

// gauge has further labels that are empty.
func gauge(name, help string, value func(state) float64, further ...string) prometheus.Collector {
	return onRead{prometheus.NewDesc(prometheus.BuildFQName("", metrics.WorkQueueSubsystem, name), help,
		append(labels[:len(labels):len(labels)], further...), nil), value, make([]string, len(further))}
}

// Describe implements prometheus.Collector.
func (g onRead) Describe(into chan<- *prometheus.Desc) { into <- g.desc }

// Collect implements prometheus.Collector.
func (g onRead) Collect(into chan<- prometheus.Metric) {
	for name, now := range live.states() {
		into <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.value(now), append([]string{name, name}, g.more...)...)
	}
}
