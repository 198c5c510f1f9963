package main

import (
	"context"
	"fmt"
	"slices"
)

// cost is what the API server has done so far.
type cost struct {
	applies, writes, reads float64
	// cpu is in seconds, and counts everything that it does.
	cpu float64
}

// costOf what was asked of the API server about some resources. Watches are not counted: each lasts for minutes.
func (b *bench) costOf(ctx context.Context, resources ...string) (cost, error) {
	m, err := b.serverMetrics(ctx)
	if err != nil {
		return cost{}, err
	}
	sum := func(verbs ...string) float64 {
		return m.sum("apiserver_request_total", func(l map[string]string) bool {
			return slices.Contains(resources, l["resource"]) && slices.Contains(verbs, l["verb"])
		})
	}
	return cost{
		applies: sum("APPLY"), writes: sum("POST", "PUT", "PATCH", "DELETE"), reads: sum("GET", "LIST"),
		cpu: m.sum("process_cpu_seconds_total", all),
	}, nil
}

// since another cost, of each of some units.
func (c cost) since(was cost, units int) string {
	n := float64(units)
	return fmt.Sprintf("%.1f server-side applies, %.1f other writes, %.1f reads, %.0f ms of its CPU",
		(c.applies-was.applies)/n, (c.writes-was.writes)/n, (c.reads-was.reads)/n, 1000*(c.cpu-was.cpu)/n)
}
