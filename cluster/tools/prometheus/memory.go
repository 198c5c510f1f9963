package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// memory holds series for the engine.
type memory []storage.Series

// newMemory holds series, each of other labels than all others.
func newMemory(in []series) (memory, error) {
	out := memory{}
	for _, s := range in {
		points := []chunks.Sample{}
		for _, p := range s.Samples {
			v, err := strconv.ParseFloat(p.Value, 64)
			if err != nil {
				return nil, fmt.Errorf("sample of %s is no number: %w", s.labelsOf(), err)
			}
			points = append(points, float{p.At, v})
		}
		out = append(out, storage.NewListSeries(s.labelsOf(), points))
	}
	slices.SortFunc(out, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	for i := 1; i < len(out); i++ {
		if labels.Equal(out[i-1].Labels(), out[i].Labels()) {
			return nil, fmt.Errorf("series %s is there twice", out[i].Labels())
		}
	}
	return out, nil
}

// Querier implements storage.Queryable. The engine itself looks at the times that it wants only.
func (m memory) Querier(_, _ int64) (storage.Querier, error) { return m, nil }

// Select implements storage.Querier.
func (m memory) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	out := []storage.Series{}
	for _, s := range m {
		if !slices.ContainsFunc(matchers, func(want *labels.Matcher) bool { return !want.Matches(s.Labels().Get(want.Name)) }) {
			out = append(out, s)
		}
	}
	return &set{rest: out}
}

// LabelValues implements storage.LabelQuerier; the engine does not ask.
func (m memory) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements storage.LabelQuerier; the engine does not ask.
func (m memory) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close implements storage.LabelQuerier.
func (m memory) Close() error { return nil }

// A float is a sample of a number.
type float struct {
	at int64
	v  float64
}

func (f float) T() int64                      { return f.at }
func (f float) ST() int64                     { return 0 }
func (f float) F() float64                    { return f.v }
func (f float) H() *histogram.Histogram       { return nil }
func (f float) FH() *histogram.FloatHistogram { return nil }
func (f float) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (f float) Copy() chunks.Sample           { return f }

// A set of series is gone through once.
type set struct {
	at   storage.Series
	rest []storage.Series
}

// Next implements storage.SeriesSet.
func (s *set) Next() bool {
	if len(s.rest) == 0 {
		return false
	}
	s.at, s.rest = s.rest[0], s.rest[1:]
	return true
}

func (s *set) At() storage.Series                { return s.at }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }
