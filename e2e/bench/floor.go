package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// floor measures the API server alone: how long a status patch takes, one after the other.
func floor(ctx context.Context, w *world.World) (median50, p99 float64, err error) {
	const patches = 200
	replica := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "floor-r-0", Namespace: w.Namespace}}
	if err := w.Admin.Create(ctx, replica); err != nil {
		return 0, 0, fmt.Errorf("making an object to measure with: %w", err)
	}
	var times []float64
	for i := range patches {
		began := time.Now()
		if err := w.SetStatus(ctx, replica, map[string]any{"port": i}); err != nil {
			return 0, 0, err
		}
		times = append(times, milliseconds(time.Since(began)))
	}
	if err := w.Admin.Delete(ctx, replica); err != nil {
		return 0, 0, fmt.Errorf("removing the object that was measured with: %w", err)
	}
	return median(times), percentile(times, 0.99), nil
}
