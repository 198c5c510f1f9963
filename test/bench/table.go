package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A table of what was measured.
type table struct {
	rows     [][2]string
	captions []string
}

// rowf adds a row, which is also shown as progress.
func (t *table) rowf(what, format string, args ...any) {
	r := [2]string{what, fmt.Sprintf(format, args...)}
	t.rows = append(t.rows, r)
	progressf("  %s: %s", r[0], r[1])
}

// captionf adds a line below the table.
func (t *table) captionf(format string, args ...any) {
	t.captions = append(t.captions, fmt.Sprintf(format, args...))
}

func (t *table) print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, r := range t.rows {
		_, _ = fmt.Fprintf(tw, "%s\t%s\n", r[0], r[1])
	}
	_, _ = fmt.Fprintln(tw)
	for _, c := range t.captions {
		_, _ = fmt.Fprintln(tw, c)
	}
	if err := tw.Flush(); err != nil { // It remembers the errors of all writes.
		return fmt.Errorf("cannot print the table: %w", err)
	}
	return nil
}

// median of some durations, of which there is at least one.
func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// spread of some durations, of which there is at least one: their median, their 95th percentile and the longest.
func spread(d []time.Duration) string {
	s := slices.Sorted(slices.Values(d))
	return fmt.Sprintf("%d / %d / %d ms", s[len(s)/2].Milliseconds(), s[len(s)*95/100].Milliseconds(), s[len(s)-1].Milliseconds())
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// per is a count per unit, readable also when there were no units.
func per(n, units float64) string {
	if units == 0 {
		return "none seen"
	}
	return fmt.Sprintf("%.2f", n/units)
}
