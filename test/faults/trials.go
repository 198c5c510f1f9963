package main

import (
	"fmt"
	"time"
)

// A trial is one injection into one operation.
type trial struct {
	injection

	op    operation
	tries int
}

func (t trial) String() string { return fmt.Sprintf("%s, %s: %s", t.op, t.point, t.fault) }

// An outcome is what became of a trial.
type outcome struct {
	trial

	hit        bool
	took       time.Duration
	violations []string
	// reasons that conditions gave meanwhile.
	reasons      map[string]bool
	unresponsive bool
}

// always returns the writes that all runs have made, as the first one made them.
func always(runs []map[operation][]point) map[operation][]point {
	out := map[operation][]point{}
	for op, points := range runs[0] {
		for _, p := range points {
			everywhere := true
			for _, r := range runs[1:] {
				found := false
				for _, o := range r[op] {
					found = found || o == p
				}
				everywhere = everywhere && found
			}
			if everywhere {
				out[op] = append(out[op], p)
			}
		}
	}
	return out
}

// trials of every point, with the kills or the other faults.
func trials(points map[operation][]point, of func(server) []fault) map[operation][]trial {
	out := map[operation][]trial{}
	for op, ps := range points {
		for _, p := range ps {
			for _, f := range of(p.server) {
				out[op] = append(out[op], trial{op: op, injection: injection{point: p, fault: f}})
			}
		}
	}
	return out
}

// sample keeps n trials of all, spread evenly.
func sample(all map[operation][]trial, n int) map[operation][]trial {
	total := 0
	for _, q := range all {
		total += len(q)
	}
	if n <= 0 || n >= total {
		return all
	}
	out, at := map[operation][]trial{}, 0
	for _, op := range operations {
		for _, t := range all[op] {
			if at*n/total != (at+1)*n/total {
				out[op] = append(out[op], t)
			}
			at++
		}
	}
	return out
}
