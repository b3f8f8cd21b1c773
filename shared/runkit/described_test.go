package runkit

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func TestMetricsWithoutASeriesAreDescribed(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "b_total", Help: `Says "b", {once}, \ more.`}, []string{"op", "result"}),
		prometheus.NewGauge(prometheus.GaugeOpts{Name: "a", Help: "A.", ConstLabels: prometheus.Labels{"x": "y"}}),
		prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "c", Help: "C."}, nil))
	answer := httptest.NewRecorder()
	described(registry).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, DescribedPath, nil))
	require.Equal(t, http.StatusOK, answer.Code)
	var all []MetricDescription
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &all))
	require.Equal(t, []MetricDescription{{"a", "A.", []string{}}, {"b_total", `Says "b", {once}, \ more.`, []string{"op", "result"}},
		{"c", "C.", []string{}}}, all)
}

func TestARegistryThatDescribesNothingIsAnError(t *testing.T) {
	answer := httptest.NewRecorder()
	described(struct{}{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, DescribedPath, nil))
	require.Equal(t, http.StatusInternalServerError, answer.Code)
}
