package gateway

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count what clients ask for.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refused  *prometheus.CounterVec
	writes   *prometheus.CounterVec
	streams  prometheus.Gauge
}

func newMetrics() *metrics {
	return &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drover_api_gateway_requests_total",
			Help: "Requests to the REST API, by route and status."}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "drover_api_gateway_request_seconds",
			Help: "How long requests to the REST API took, by route.", Buckets: []float64{.001, .005, .025, .1, .5, 2, 9}}, []string{"route"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drover_api_gateway_refused_total",
			Help: "Requests that a limit or the check of their origin, host or token refused, by status."}, []string{"status"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drover_api_gateway_writes_total",
			Help: "Changes that clients asked for, by action and result (done, failed)."}, []string{"action", "result"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "drover_api_gateway_streams",
			Help: "Streams (WebSockets) that are open."}),
	}
}

func (m *metrics) register(registry prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.refused, m.writes, m.streams} {
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// observe counts a request that was answered.
func (m *metrics) observe(route string, failed error, took time.Duration) {
	status := "200"
	if failed != nil {
		status = strconv.Itoa(statusOf(failed))
	}
	m.requests.WithLabelValues(route, status).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// refuse counts a request that a limit refused.
func (m *metrics) refuse(status int) { m.refused.WithLabelValues(strconv.Itoa(status)).Inc() }
