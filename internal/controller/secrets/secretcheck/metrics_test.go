package secretcheck

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// series of single contracts that are published, as NAME NAMESPACE/CONTRACT, with their values.
func series(t *testing.T, o setup.Options, kube client.Reader, leader bool) map[string]float64 {
	t.Helper()
	elected := make(chan struct{})
	if leader {
		close(elected)
	}
	r := prometheus.NewPedanticRegistry()
	for _, c := range collectors(o, kube, elected) {
		r.MustRegister(c)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatalf("metrics cannot be told: %v", err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if m.GetGauge() != nil {
				out[f.GetName()+" "+labels["namespace"]+"/"+labels["contract"]] = m.GetGauge().GetValue()
			}
		}
	}
	return out
}

// named is a check of a contract, which was made at a time.
func named(contract string, age time.Duration) func(*v1alpha1.SecretCheck) {
	return func(c *v1alpha1.SecretCheck) {
		c.Name += "-" + contract + fmt.Sprint(int(age))
		c.CreationTimestamp = metav1.NewTime(noon.Add(-age))
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "x/v1", Kind: "SecretContract", Name: contract, UID: "u", Controller: ptr.To(true)}}
	}
}

// found is a check whose last evaluation found something, at a generation.
func found(missing, violations int32, generation int64) func(*v1alpha1.SecretCheck) {
	return func(c *v1alpha1.SecretCheck) {
		s := corev1.ConditionTrue
		if missing+violations > 0 {
			s = corev1.ConditionFalse
		}
		c.SetConditions(xpv2.Condition{Type: v1alpha1.TypeSatisfied, Status: s, ObservedGeneration: generation})
		c.Status.AtProvider.MissingKeyCount, c.Status.AtProvider.ViolationCount = missing, violations
	}
}

// TestContractMetrics holds what is told of each contract, by whom, and that nothing of it stays.
func TestContractMetrics(t *testing.T) {
	on := setup.Options{ContractMetrics: true}
	cases := map[string]struct {
		reason  string
		o       setup.Options
		standby bool
		checks  []client.Object
		want    map[string]float64
	}{
		"NotAskedFor": {
			reason: "There are as many series as contracts, so they are published only when somebody asks for them.",
			checks: []client.Object{check(named("orders", 0), found(0, 0, 3))},
		},
		"Satisfied": {
			reason: "1 is a contract that is satisfied as it is now.",
			o:      on,
			checks: []client.Object{check(named("orders", 0), found(0, 0, 3))},
			want:   map[string]float64{"secret_contract_ready shop/orders": 1, "secret_contract_missing_keys shop/orders": 0, "secret_contract_violations shop/orders": 0},
		},
		"Violated": {
			reason: "What is found is counted.",
			o:      on,
			checks: []client.Object{check(named("orders", 0), found(2, 5, 3))},
			want:   map[string]float64{"secret_contract_ready shop/orders": 0, "secret_contract_missing_keys shop/orders": 2, "secret_contract_violations shop/orders": 5},
		},
		"OfBefore": {
			reason: "What was found for an older generation is no confirmation.",
			o:      on,
			checks: []client.Object{check(named("orders", 0), found(0, 0, 2))},
			want:   map[string]float64{"secret_contract_ready shop/orders": 0, "secret_contract_missing_keys shop/orders": 0, "secret_contract_violations shop/orders": 0},
		},
		"NeverLookedAt": {
			reason: "0 is everything else, also that nothing is known.",
			o:      on,
			checks: []client.Object{check(named("orders", 0))},
			want:   map[string]float64{"secret_contract_ready shop/orders": 0, "secret_contract_missing_keys shop/orders": 0, "secret_contract_violations shop/orders": 0},
		},
		"WithoutContract": {
			reason: "A check that somebody wrote by hand is told from that of a contract.",
			o:      on,
			checks: []client.Object{check(found(0, 0, 3))},
			want: map[string]float64{
				"secret_contract_ready shop/SecretCheck/orders": 1, "secret_contract_missing_keys shop/SecretCheck/orders": 0, "secret_contract_violations shop/SecretCheck/orders": 0,
			},
		},
		"SameName": {
			reason: "A second check that says to be of the same contract neither spoils the answer nor takes the first one's place.",
			o:      on,
			checks: []client.Object{check(named("orders", time.Second), found(0, 0, 3)), check(named("orders", time.Hour), found(1, 1, 3))},
			want:   map[string]float64{"secret_contract_ready shop/orders": 0, "secret_contract_missing_keys shop/orders": 1, "secret_contract_violations shop/orders": 1},
		},
		"Standby": {
			reason:  "What a provider knows that does not work is what another one wrote: each contract is told of once.",
			o:       on,
			standby: true,
			checks:  []client.Object{check(named("orders", 0), found(0, 0, 3))},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.want == nil {
				tc.want = map[string]float64{}
			}
			if diff := cmp.Diff(tc.want, series(t, tc.o, newBench(t, tc.checks...).kube, !tc.standby)); diff != "" {
				t.Errorf("\n%s\nseries: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestContractMetricsChurn holds that many contracts of a short life leave nothing behind.
func TestContractMetricsChurn(t *testing.T) {
	b := newBench(t)
	for i := range 100 {
		c := check(named(fmt.Sprintf("short-%d", i), 0), found(1, 1, 3))
		if err := b.kube.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if got := len(series(t, setup.Options{ContractMetrics: true}, b.kube, true)); got != 3 {
			t.Fatalf("%d series of one contract, want 3", got)
		}
		if err := b.kube.Delete(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if got := series(t, setup.Options{ContractMetrics: true}, b.kube, true); len(got) > 0 {
		t.Errorf("series of contracts that are gone: %v", got)
	}
}

// unread is a cache that is not filled.
type unread struct{ client.Reader }

func (unread) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("not filled")
}

// TestContractMetricsUnread holds that the provider's own metrics do not depend on what it knows of contracts.
func TestContractMetricsUnread(t *testing.T) {
	if got := series(t, setup.Options{ContractMetrics: true}, unread{}, true); len(got) > 0 {
		t.Errorf("series of contracts that nobody knows: %v", got)
	}
}

// TestOutcomes holds that the first evaluation that fails is a rise of its counter: one that appears with its first count is none to Prometheus.
func TestOutcomes(t *testing.T) {
	checks.Reset()
	r := prometheus.NewPedanticRegistry()
	for _, c := range collectors(setup.Options{}, unread{}, nil) {
		r.MustRegister(c)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				got[l.GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	if diff := cmp.Diff(map[string]float64{"satisfied": 0, "violated": 0, "unknown": 0, "error": 0}, got); diff != "" {
		t.Errorf("outcomes before the first evaluation: -want, +got:\n%s", diff)
	}
}

// TestContractOf holds that people find a contract by its own name, also where a composite with another name stands behind it.
func TestContractOf(t *testing.T) {
	composed := func(owner string, labels map[string]string) *v1alpha1.SecretCheck {
		return &v1alpha1.SecretCheck{ObjectMeta: metav1.ObjectMeta{
			Name: "check", Labels: labels, OwnerReferences: []metav1.OwnerReference{{Kind: "SecretContract", Name: owner, Controller: ptr.To(true)}},
		}}
	}
	for name, tc := range map[string]struct {
		reason string
		check  *v1alpha1.SecretCheck
		want   string
	}{
		"Composite": {"The contract is the controller.", composed("orders", nil), "orders"},
		"Claim":     {"The controller is what stands behind the claim.", composed("orders-x7k2p", map[string]string{"crossplane.io/claim-name": "orders"}), "orders"},
		"Alone":     {"A label alone makes nobody's check.", &v1alpha1.SecretCheck{ObjectMeta: metav1.ObjectMeta{Name: "check", Labels: map[string]string{"crossplane.io/claim-name": "orders"}}}, "SecretCheck/check"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := contractOf(tc.check); got != tc.want {
				t.Errorf("%s contractOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
