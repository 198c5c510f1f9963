package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// wrong is true when anything was not as it has to be.
func (r *runner) wrong() bool {
	return len(r.others) > 0 || slices.ContainsFunc(r.outcomes, func(o outcome) bool { return !o.hit || len(o.violations) > 0 })
}

// print one table: a row for each operation, server and fault.
func (r *runner) print(out io.Writer, points map[operation][]point, took time.Duration) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	total := 0
	for _, op := range operations {
		total += len(points[op])
		_, _ = fmt.Fprintf(tw, "writes of %s without faults\t%d\n", op, len(points[op]))
	}
	_, _ = fmt.Fprintf(tw, "writes in all\t%d\n\n", total)

	_, _ = fmt.Fprintln(tw, "operation\tserver\tfault\tinjected\tnot reached\tviolations\tmedian\tlongest\tpaused")
	injected, missed, violated, paused := 0, 0, 0, 0
	for _, op := range operations {
		for _, s := range []server{serverPG, serverKV, serverAPI} {
			for _, f := range slices.Concat(kills, faults[s]) {
				var hit, not, bad, unresponsive int
				var times []time.Duration
				for _, o := range r.outcomes {
					if o.op != op || o.server != s || o.fault != f {
						continue
					}
					if o.hit {
						hit++
						times = append(times, o.took)
					} else {
						not++
					}
					if len(o.violations) > 0 {
						bad++
					}
					if o.unresponsive {
						unresponsive++
					}
				}
				injected, missed, violated, paused = injected+hit, missed+not, violated+bad, paused+unresponsive
				if len(times) == 0 && not == 0 {
					continue
				}
				slices.Sort(times)
				median, longest := "-", "-"
				if len(times) > 0 {
					median, longest = seconds(times[len(times)/2]), seconds(times[len(times)-1])
				}
				_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%d\n", op, s, f, hit, not, bad, median, longest, unresponsive)
			}
		}
	}
	_, _ = fmt.Fprintf(tw, "all\t\t\t%d\t%d\t%d\t\t%s\t%d\n", injected, missed, violated, seconds(took), paused)
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("cannot print the table: %w", err)
	}

	_, _ = fmt.Fprintln(out, "\nReasons that Ready of a managed resource gave meanwhile, beside Creating and Deleting:")
	for _, s := range []server{serverPG, serverKV, serverAPI} {
		for _, f := range slices.Concat(kills, faults[s]) {
			var said []string
			for _, reason := range slices.Sorted(maps.Keys(r.reasonsBy(s, f))) {
				if kind, what, _ := strings.Cut(reason, " "); kind != "Tenant" && strings.HasPrefix(what, "Ready=") && !strings.HasSuffix(what, "ing") {
					said = append(said, kind+" "+strings.TrimPrefix(what, "Ready="))
				}
			}
			if len(said) > 0 {
				_, _ = fmt.Fprintf(out, "  %s, %s: %s\n", s, f, strings.Join(said, ", "))
			}
		}
	}
	for _, o := range r.outcomes {
		if !o.hit {
			_, _ = fmt.Fprintf(out, "NOT REACHED: %s\n", o.trial)
		}
		for _, v := range o.violations {
			_, _ = fmt.Fprintf(out, "VIOLATION: %s: %s\n", o.trial, v)
		}
	}
	for _, v := range r.others {
		_, _ = fmt.Fprintf(out, "VIOLATION: %s\n", v)
	}
	return nil
}
