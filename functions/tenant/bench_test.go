package main

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkRunFunction reports the median and the 99th percentile of one call with everything observed.
func BenchmarkRunFunction(b *testing.B) {
	req := request(xr(), everything())
	durations := make([]float64, 0, b.N)
	for b.Loop() {
		start := time.Now()
		run(b, req)
		durations = append(durations, float64(time.Since(start)))
	}
	slices.Sort(durations)
	b.ReportMetric(durations[len(durations)/2], "p50-ns")
	b.ReportMetric(durations[len(durations)*99/100], "p99-ns")
}
