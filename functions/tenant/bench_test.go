package main

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkRunFunction reports the median and the 99th percentile of one call with everything observed: alone, and while each processor has
// another call to serve all the time.
func BenchmarkRunFunction(b *testing.B) {
	req := request(xr(), everything())
	measure := func(b *testing.B) {
		b.Helper()
		durations := make([]float64, 0, b.N)
		for b.Loop() {
			start := time.Now()
			once(b, req)
			durations = append(durations, float64(time.Since(start)))
		}
		slices.Sort(durations)
		b.ReportMetric(durations[len(durations)/2], "p50-ns")
		b.ReportMetric(durations[len(durations)*99/100], "p99-ns")
	}
	b.Run("Alone", measure)
	b.Run("Pressed", func(b *testing.B) {
		ctx, cancel := context.WithCancel(b.Context())
		var others sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			others.Go(func() {
				for ctx.Err() == nil {
					if _, err := newFunction().RunFunction(ctx, req); err != nil {
						b.Errorf("f.RunFunction(...): unexpected error: %v", err)
					}
				}
			})
		}
		measure(b)
		cancel()
		others.Wait()
	})
}
