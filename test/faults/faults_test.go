package main

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestFaults injects a few of the faults that the command injects, spread over all operations and servers.
func TestFaults(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	out := &strings.Builder{}
	c := cli{Sample: 12, Crews: 4, Patience: 4 * time.Minute}
	err := c.run(t.Context(), out)
	t.Log("\n" + out.String())
	if err != nil {
		t.Error(err)
	}
}

// TestSample holds that a sample has the size that was asked for, and some of each operation.
func TestSample(t *testing.T) {
	points := map[operation][]point{}
	for _, op := range operations {
		for n := range 5 {
			points[op] = append(points[op], point{server: serverKV, write: string(op), n: n + 1})
		}
	}
	all := trials(points, func(s server) []fault { return faults[s] })
	for _, n := range []int{4, 7, 20, 150} {
		total := 0
		for op, q := range sample(all, n) {
			total += len(q)
			if len(q) < n/len(operations) {
				t.Errorf("of %d trials %d are for %s", n, len(q), op)
			}
		}
		if total != n {
			t.Errorf("%d trials instead of %d", total, n)
		}
	}
}
