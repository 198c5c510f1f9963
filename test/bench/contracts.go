package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

const (
	namespaceContracts = "bench-contracts"
	namespaceShared    = "bench-shared"
	// contractKey is the key of the Secrets that contracts ask for.
	contractKey = "password"
	// sharedBy says how many contracts share one Secret: all of them by this.
	sharedBy = 4
	// changesOfOne is how often the Secret that contracts share is changed.
	changesOfOne = 4
	// pace of changes where each is to be seen by itself.
	pace = 250 * time.Millisecond

	// Verdicts, as Satisfied has them.
	passed = string(corev1.ConditionTrue)
	failed = string(corev1.ConditionFalse)
)

// values that lead to a verdict.
var values = map[string]string{passed: "long enough", failed: "x"}

// contracts measures how soon a change of a Secret reaches the contracts that are about it: from the answer to the write until the
// composite says so. Secrets of their own are changed one after the other and all at once, and then one that many contracts share. Beside
// that stands what any composites would need.
func (b *bench) contracts(ctx context.Context) error {
	if err := b.contractsOn(ctx, namespaceContracts, b.Contracts, b.Contracts); err != nil {
		return err
	}
	if err := b.contractsOn(ctx, namespaceShared, max(1, b.Contracts/sharedBy), 1); err != nil {
		return err
	}
	return b.floor(ctx)
}

func (b *bench) contractsOn(ctx context.Context, ns string, contracts, secrets int) error {
	progressf("Applying %d contracts on %d Secrets.", contracts, secrets)
	start := time.Now()
	w, err := b.applyContracts(ctx, ns, contracts, secrets, func(i int) *unstructured.Unstructured { return newContract(ns, i, i%secrets, 1) })
	if err != nil {
		return err
	}
	defer w.stop()
	if err := w.wait(ctx, contracts); err != nil {
		return err
	}
	what := fmt.Sprintf("%d contracts on %d Secrets", contracts, secrets)
	b.table.rowf(what+": from apply until all have a verdict", "%s", seconds(time.Since(start)))
	progressf("Waiting until nothing changes.")
	if err := b.calm(ctx, w); err != nil {
		return err
	}
	if secrets == 1 {
		return b.change(ctx, w, what, contracts, secrets, changesOfOne, 0)
	}
	if err := b.change(ctx, w, what+fmt.Sprintf(", a change each %d ms", pace.Milliseconds()), contracts, secrets, 1, pace); err != nil {
		return err
	}
	return b.change(ctx, w, what+", all changed at once", contracts, secrets, 1, 0)
}

// applyContracts whose Secrets fail them.
func (b *bench) applyContracts(ctx context.Context, ns string, contracts, secrets int, contract func(i int) *unstructured.Unstructured) (*verdicts, error) {
	if err := b.namespace(ctx, ns); err != nil {
		return nil, err
	}
	w := b.verdicts(ctx, ns)
	w.expect(failed)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i := range secrets {
		g.Go(func() error { return b.p.Client.Create(gctx, contractSecret(ns, i, values[failed])) })
	}
	for i := range contracts {
		g.Go(func() error { return b.p.Client.Create(gctx, contract(i)) })
	}
	if err := g.Wait(); err != nil {
		w.stop()
		return nil, fmt.Errorf("cannot apply contracts: %w", err)
	}
	return w, nil
}

// change all Secrets some times, each time when the contracts have said so of the one before.
func (b *bench) change(ctx context.Context, w *verdicts, what string, contracts, secrets, times int, pace time.Duration) error {
	evaluations, err := b.checkPasses(ctx)
	if err != nil {
		return err
	}
	before, err := b.costOf(ctx, "secretcontracts", "secretchecks", "secrets", "events")
	if err != nil {
		return err
	}
	writes, back := w.count()
	var took []time.Duration
	for range times {
		verdict := passed
		if w.want == passed {
			verdict = failed
		}
		progressf("Changing %d Secrets.", secrets)
		w.expect(verdict)
		next := time.Now()
		for i := range secrets {
			time.Sleep(time.Until(next))
			next = next.Add(pace)
			if err := b.p.Client.Update(ctx, contractSecret(w.namespace, i, values[verdict])); err != nil {
				return fmt.Errorf("cannot change Secret: %w", err)
			}
			w.changed(i, time.Now())
		}
		if err := w.wait(ctx, contracts); err != nil {
			return err
		}
		took = append(took, w.latencies(secrets)...)
		if err := b.calm(ctx, w); err != nil {
			return err
		}
	}
	after, err := b.costOf(ctx, "secretcontracts", "secretchecks", "secrets", "events")
	if err != nil {
		return err
	}
	now, err := b.checkPasses(ctx)
	if err != nil {
		return err
	}
	writesNow, backNow := w.count()
	n := float64(contracts * times)
	b.table.rowf(what+": from a Secret's change to the contract's verdict, p50 / p95 / max", "%s", spread(took))
	b.table.rowf("  evaluations per contract meanwhile, polls included", "%.1f", float64(now-evaluations)/n)
	b.table.rowf("  writes of each contract per change; how many of them went back on a verdict", "%.1f; %d", float64(writesNow-writes)/n, backNow-back)
	b.table.rowf("  asked of the API server per contract and change, until all is at rest", "%s", after.since(before, contracts*times))
	return nil
}

func contractSecret(ns string, i int, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("secret-%d", i)}, Data: map[string][]byte{contractKey: []byte(value)}}
}

// newContract asks for a key, and for some more that its Secret lacks.
func newContract(ns string, i, secret, rules int) *unstructured.Unstructured {
	keys := []any{map[string]any{"name": contractKey, "minLength": int64(4)}}
	for k := 1; k < rules; k++ {
		keys = append(keys, map[string]any{"name": fmt.Sprintf("%s-%d", contractKey, k), "minLength": int64(4)})
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"secretRef": map[string]any{"name": fmt.Sprintf("secret-%d", secret)}, "requiredKeys": keys,
	}}}
	u.SetGroupVersionKind(terdutv1alpha1.SecretContractGroupVersionKind)
	u.SetNamespace(ns)
	u.SetName(fmt.Sprintf("contract-%d", i))
	return u
}

// checkPasses counts evaluations so far.
func (b *bench) checkPasses(ctx context.Context) (int, error) {
	m, err := b.providerMetrics(ctx)
	if err != nil {
		return 0, err
	}
	return int(m.sum("secret_contract_checks_total", all)), nil
}
