package observability

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// A Series of samples, in the order of their times.
type Series struct {
	Labels  map[string]string `json:"labels"`
	Samples []Sample          `json:"samples"`
}

// A Sample has its time in milliseconds since 1970, and its value as Prometheus writes it.
type Sample struct {
	At    int64  `json:"at"`
	Value string `json:"value"`
}

// A Query is evaluated at each step from Start to End, all in milliseconds.
type Query struct {
	Expr  string `json:"expr"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Step  int64  `json:"step"`
	// Operand asks for what is compared with a number, or is absent, rather than for the outcome.
	Operand bool `json:"operand"`
}

// An Answer to a query: the names of the metrics in it, and its series or what Prometheus says against it.
type Answer struct {
	Metrics []string `json:"metrics"`
	Error   string   `json:"error"`
	Series  []Series `json:"series"`
}

// Evaluate queries over series with Prometheus' own engine.
func Evaluate(ctx context.Context, series []Series, queries []Query) ([]Answer, error) {
	in, err := json.Marshal(map[string]any{"series": series, "queries": queries})
	if err != nil {
		return nil, fmt.Errorf("cannot write request: %w", err)
	}
	out, err := promql(ctx, in, "query")
	if err != nil {
		return nil, err
	}
	answers := []Answer{}
	if err := json.Unmarshal(out, &answers); err != nil {
		return nil, fmt.Errorf("cannot read answers: %w", err)
	}
	return answers, nil
}

// promql runs the tool.
func promql(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	tool, err := toolchain.Binary(ctx, toolchain.PromQL)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	stderr := &bytes.Buffer{}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot run promql %s: %w: %s", args[0], err, stderr)
	}
	return out, nil
}

// Scrapes are metrics of several processes at several times, as Prometheus keeps them.
type Scrapes struct {
	series map[string]*Series
	// Last is the time of the last scrape.
	Last time.Time
}

// Add what a process told at a time.
func (s *Scrapes) Add(at time.Time, job, instance string, families map[string]*dto.MetricFamily) {
	s.Last = at
	for name, f := range families {
		for _, m := range f.GetMetric() {
			add := func(suffix string, v float64, more ...string) {
				s.add(at, name+suffix, job, instance, m.GetLabel(), v, more...)
			}
			switch {
			case m.GetHistogram() != nil:
				h := m.GetHistogram()
				for _, b := range h.GetBucket() {
					add("_bucket", float64(b.GetCumulativeCount()), "le", strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))
				}
				add("_count", float64(h.GetSampleCount()))
				add("_sum", h.GetSampleSum())
			case m.GetSummary() != nil:
				add("_count", float64(m.GetSummary().GetSampleCount()))
				add("_sum", m.GetSummary().GetSampleSum())
			default:
				add("", m.GetCounter().GetValue()+m.GetGauge().GetValue()+m.GetUntyped().GetValue())
			}
		}
	}
}

func (s *Scrapes) add(at time.Time, name, job, instance string, labels []*dto.LabelPair, v float64, more ...string) {
	all := map[string]string{"__name__": name, "job": job, "instance": instance}
	for _, l := range labels {
		all[l.GetName()] = l.GetValue()
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	key := fmt.Sprint(all) // Maps are printed in the order of their keys.
	if s.series == nil {
		s.series = map[string]*Series{}
	}
	if s.series[key] == nil {
		s.series[key] = &Series{Labels: all}
	}
	s.series[key].Samples = append(s.series[key].Samples, Sample{At: at.UnixMilli(), Value: strconv.FormatFloat(v, 'g', -1, 64)})
}

// Series that were told of.
func (s *Scrapes) Series() []Series {
	out := []Series{}
	for _, one := range s.series {
		out = append(out, *one)
	}
	return out
}

// Names of the metrics that were told of, sorted.
func (s *Scrapes) Names() []string {
	out := []string{}
	for _, one := range s.series {
		out = append(out, one.Labels["__name__"])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
