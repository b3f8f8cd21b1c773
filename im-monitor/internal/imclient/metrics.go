package imclient

import (
	"context"
	"path"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// Metrics of every call to instance managers. Labels come from closed sets.
type Metrics struct {
	calls          *prometheus.CounterVec
	duration       *prometheus.HistogramVec
	lists          *prometheus.CounterVec
	connections    prometheus.Gauge
	reloadFailures prometheus.Counter
}

// NewMetrics makes the metrics and registers them, unless registerer is nil.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_im_monitor_calls_total",
			Help: "Calls to instance managers, by method and gRPC code; a stream counts when it is opened.",
		}, []string{"method", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "drover_im_monitor_call_duration_seconds",
			Help:    "Duration of unary calls to instance managers, by method.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"method"}),
		lists: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_im_monitor_lists_total",
			Help: "Whole lists read, by cause: event, reconnect, safety, fresh, follow-up.",
		}, []string{"cause"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "drover_im_monitor_connections",
			Help: "Connections to instance managers that are open or being made.",
		}),
		reloadFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "drover_im_monitor_tls_reload_failures_total",
			Help: "Times that changed TLS files could not be read and the earlier ones were used.",
		}),
	}
	if registerer != nil {
		registerer.MustRegister(m.calls, m.duration, m.lists, m.connections, m.reloadFailures)
	}
	return m
}

// unary counts and times one unary call.
func (m *Metrics) unary(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker,
	options ...grpc.CallOption) error {
	name, began := path.Base(method), time.Now()
	err := invoke(ctx, method, request, reply, connection, options...)
	m.duration.WithLabelValues(name).Observe(time.Since(began).Seconds())
	m.calls.WithLabelValues(name, status.Code(err).String()).Inc()
	return err
}

// stream counts one stream when it is opened.
func (m *Metrics) stream(ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string, open grpc.Streamer,
	options ...grpc.CallOption) (grpc.ClientStream, error) {
	opened, err := open(ctx, description, connection, method, options...)
	m.calls.WithLabelValues(path.Base(method), status.Code(err).String()).Inc()
	return opened, err
}
