package secretcheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

var (
	checks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "secret_contract_checks_total", Help: "Evaluations of SecretChecks by their outcome: satisfied, violated, unknown or error.",
	}, []string{"outcome"})
	duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "secret_contract_check_duration_seconds", Help: "Time that one evaluation takes, with what it reads.",
		Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
	})
)

// Outcomes of evaluations.
const (
	outcomeSatisfied = "satisfied"
	outcomeViolated  = "violated"
	outcomeUnknown   = "unknown"
	outcomeError     = "error"
)

// measure counts one evaluation.
func measure(v verdict, err error, took time.Duration) {
	outcome := outcomeUnknown
	switch {
	case err != nil:
		outcome = outcomeError
	case v.satisfied.Status == contract.StatusTrue:
		outcome = outcomeSatisfied
	case v.satisfied.Status == contract.StatusFalse:
		outcome = outcomeViolated
	}
	checks.WithLabelValues(outcome).Inc()
	duration.Observe(took.Seconds())
}

// A collector tells of each check that there is when it is asked, so that one that is gone leaves no series behind.
type collector struct {
	kube    client.Reader
	elected <-chan struct{}
}

var (
	labels         = []string{"namespace", "contract"}
	descReady      = prometheus.NewDesc("secret_contract_ready", "1 when the contract is satisfied as its SecretCheck now asks, else 0.", labels, nil)
	descMissing    = prometheus.NewDesc("secret_contract_missing_keys", "Required keys that the Secret lacks.", labels, nil)
	descViolations = prometheus.NewDesc("secret_contract_violations", "All findings that make the contract fail, also those that the status does not list.", labels, nil)
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(d chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{descReady, descMissing, descViolations} {
		d <- desc
	}
}

// Collect implements prometheus.Collector. A provider that stands by tells nothing: what it has in its cache is the leader's word.
func (c *collector) Collect(m chan<- prometheus.Metric) {
	select {
	case <-c.elected:
	default:
		return
	}
	l := &v1alpha1.SecretCheckList{}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := c.kube.List(ctx, l); err != nil {
		// The cache is not filled yet. An invalid metric would spoil the whole answer, also what it says of the provider itself.
		return
	}
	// An owner reference can be written by anybody, and two series of the same name would spoil the whole answer as well. The first check
	// of a name stays the one that is told of.
	slices.SortFunc(l.Items, func(a, b v1alpha1.SecretCheck) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	told := map[[2]string]bool{}
	for i := range l.Items {
		s := &l.Items[i]
		ready := 0.0
		if r := s.GetCondition(v1alpha1.TypeSatisfied); r.Status == corev1.ConditionTrue && r.ObservedGeneration == s.Generation {
			ready = 1
		}
		name := contractOf(s)
		if told[[2]string{s.Namespace, name}] {
			continue
		}
		told[[2]string{s.Namespace, name}] = true
		m <- prometheus.MustNewConstMetric(descReady, prometheus.GaugeValue, ready, s.Namespace, name)
		m <- prometheus.MustNewConstMetric(descMissing, prometheus.GaugeValue, float64(s.Status.AtProvider.MissingKeyCount), s.Namespace, name)
		m <- prometheus.MustNewConstMetric(descViolations, prometheus.GaugeValue, float64(s.Status.AtProvider.ViolationCount), s.Namespace, name)
	}
}

// contractOf is the name that people know a check by: that of the contract that it is composed for, which can have one check only.
func contractOf(s *v1alpha1.SecretCheck) string {
	if name := owner.KnownAs(s); name != "" {
		return name
	}
	return "SecretCheck/" + s.Name
}

// registerMetrics once for the process.
func registerMetrics(mgr ctrl.Manager, o setup.Options) error {
	for _, c := range collectors(o, mgr.GetClient(), mgr.Elected()) {
		if err := metrics.Registry.Register(c); err != nil {
			return fmt.Errorf("cannot register metrics of SecretChecks: %w", err)
		}
	}
	return nil
}

// collectors of what is published: of each check only when that is asked for, because their number is that of the contracts.
// A counter that appears with its first count has not risen as far as Prometheus knows, so all outcomes are there from the start.
func collectors(o setup.Options, kube client.Reader, elected <-chan struct{}) []prometheus.Collector {
	for _, outcome := range []string{outcomeSatisfied, outcomeViolated, outcomeUnknown, outcomeError} {
		checks.WithLabelValues(outcome)
	}
	cs := []prometheus.Collector{checks, duration}
	if o.ContractMetrics {
		cs = append(cs, &collector{kube: kube, elected: elected})
	}
	return cs
}
