package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// metrics of a process.
type metrics map[string]*dto.MetricFamily

// sum the counters and gauges of a name whose labels satisfy a condition.
func (m metrics) sum(name string, where func(labels map[string]string) bool) float64 {
	total := 0.0
	for _, s := range m[name].GetMetric() {
		labels := map[string]string{}
		for _, l := range s.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if where(labels) {
			total += s.GetCounter().GetValue() + s.GetGauge().GetValue()
		}
	}
	return total
}

// histogram returns how many observations a histogram without labels has, and their sum.
func (m metrics) histogram(name string) (n, sum float64) {
	for _, s := range m[name].GetMetric() {
		n += float64(s.GetHistogram().GetSampleCount())
		sum += s.GetHistogram().GetSampleSum()
	}
	return n, sum
}

// quantile returns the bound below which a share of the observations of a histogram without labels are, of those that another reading did not
// have yet.
func (m metrics) quantile(before metrics, name string, share float64) float64 {
	n, _ := m.histogram(name)
	n0, _ := before.histogram(name)
	was := map[float64]uint64{}
	for _, s := range before[name].GetMetric() {
		for _, b := range s.GetHistogram().GetBucket() {
			was[b.GetUpperBound()] += b.GetCumulativeCount()
		}
	}
	bound := math.Inf(1)
	for _, s := range m[name].GetMetric() {
		for _, b := range s.GetHistogram().GetBucket() {
			if float64(b.GetCumulativeCount()-was[b.GetUpperBound()]) >= share*(n-n0) {
				bound = min(bound, b.GetUpperBound())
			}
		}
	}
	return bound
}

func all(map[string]string) bool { return true }

// label returns a condition: the label has one of the values.
func label(name string, values ...string) func(map[string]string) bool {
	return func(l map[string]string) bool { return slices.Contains(values, l[name]) }
}

// providerMetrics reads the provider's own metrics.
func (b *bench) providerMetrics(ctx context.Context) (metrics, error) {
	for _, i := range b.p.Runtime.Instances() {
		if i.Package == product.Provider {
			return scrape(ctx, http.DefaultClient, "http://"+i.MetricsAddress+"/metrics")
		}
	}
	return nil, errors.New("the provider is not running")
}

// serverMetrics reads the metrics of the API server.
func (b *bench) serverMetrics(ctx context.Context) (metrics, error) {
	cfg := b.p.Plane.Config()
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot create client of the API server: %w", err)
	}
	return scrape(ctx, c, cfg.Host+"/metrics")
}

func scrape(ctx context.Context, c *http.Client, address string) (metrics, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot ask for metrics: %w", err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("cannot get metrics: %w", err)
	}
	defer resp.Body.Close() // Only read.
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("cannot get metrics of %s: %s", address, resp.Status)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	m, err := p.TextToMetricFamilies(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("cannot read metrics of %s: %w", address, err)
	}
	return m, nil
}
