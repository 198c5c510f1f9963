package main

import (
	"context"
	"fmt"
	"slices"
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
	namespaceRules     = "bench-rules"
	// contractKey is the key of the Secrets that contracts ask for.
	contractKey = "password"
	// rulesOf a contract where evaluation itself is measured.
	rulesOf = 20
	// pace of changes where each is to be seen by itself.
	pace = 250 * time.Millisecond
)

// contracts measures how soon a change of a Secret reaches the contracts that are about it: from the answer to the write until the
// composite says so. Secrets of their own are changed one after the other and all at once, and then one that many contracts share.
func (b *bench) contracts(ctx context.Context) error {
	if err := b.contractsOn(ctx, namespaceContracts, b.Contracts, b.Contracts); err != nil {
		return err
	}
	if err := b.contractsOn(ctx, namespaceShared, b.Contracts/4, 1); err != nil {
		return err
	}
	return b.rules(ctx)
}

func (b *bench) contractsOn(ctx context.Context, ns string, contracts, secrets int) error {
	progressf("Applying %d contracts on %d Secrets.", contracts, secrets)
	w, err := b.applyContracts(ctx, ns, contracts, secrets, func(i int) *unstructured.Unstructured { return newContract(ns, i, i%secrets, 1) })
	if err != nil {
		return err
	}
	defer w.stop()
	what := fmt.Sprintf("%d contracts on %d Secrets", contracts, secrets)
	if secrets == 1 {
		return b.change(ctx, w, what, contracts, secrets, "long enough", "True", 0)
	}
	if err := b.change(ctx, w, what+fmt.Sprintf(", a change each %d ms", pace.Milliseconds()), contracts, secrets, "long enough", "True", pace); err != nil {
		return err
	}
	return b.change(ctx, w, what+", all changed at once", contracts, secrets, "x", "False", 0)
}

// rules measures what it takes to evaluate many rules of many contracts.
func (b *bench) rules(ctx context.Context) error {
	progressf("Applying %d contracts with %d rules each.", b.Rules, rulesOf)
	before, err := b.providerMetrics(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	w, err := b.applyContracts(ctx, namespaceRules, b.Rules, 1, func(i int) *unstructured.Unstructured { return newContract(namespaceRules, i, 0, rulesOf) })
	if err != nil {
		return err
	}
	defer w.stop()
	b.table.rowf(fmt.Sprintf("%d contracts with %d rules each, from apply until all are at rest", b.Rules, rulesOf), "%s", seconds(time.Since(start)))
	after, err := b.providerMetrics(ctx)
	if err != nil {
		return err
	}
	n, took := after.histogram(checkDuration)
	n0, took0 := before.histogram(checkDuration)
	b.table.rowf("  evaluations, and the mean time of one with what it reads", "%.0f, %.1f ms", n-n0, 1000*(took-took0)/max(1, n-n0))
	is, err := b.resident(ctx)
	if err != nil {
		return err
	}
	b.table.rowf("  resident memory of the provider", "%.0f MiB", is)
	return nil
}

// checkDuration is the provider's own metric of evaluations.
const checkDuration = "secret_contract_check_duration_seconds"

// applyContracts and wait until each has a verdict, which is that its Secret fails it, and nothing changes any more.
func (b *bench) applyContracts(ctx context.Context, ns string, contracts, secrets int, contract func(i int) *unstructured.Unstructured) (*verdicts, error) {
	if err := b.namespace(ctx, ns); err != nil {
		return nil, err
	}
	w := b.verdicts(ctx, ns)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i := range secrets {
		g.Go(func() error { return b.p.Client.Create(gctx, contractSecret(ns, i, "x")) })
	}
	for i := range contracts {
		g.Go(func() error { return b.p.Client.Create(gctx, contract(i)) })
	}
	err := g.Wait()
	if err == nil {
		err = w.wait(ctx, contracts, "False")
	}
	if err == nil {
		progressf("Waiting until nothing changes.")
		err = b.calm(ctx, w)
	}
	if err != nil {
		w.stop()
		return nil, fmt.Errorf("cannot apply contracts: %w", err)
	}
	return w, nil
}

// change all Secrets and wait until the contracts say so.
func (b *bench) change(ctx context.Context, w *verdicts, what string, contracts, secrets int, value, status string, pace time.Duration) error {
	progressf("Changing %d Secrets.", secrets)
	before, err := b.checkPasses(ctx)
	if err != nil {
		return err
	}
	w.reset()
	writes := w.count()
	next := time.Now()
	for i := range secrets {
		time.Sleep(time.Until(next))
		next = next.Add(pace)
		if err := b.p.Client.Update(ctx, contractSecret(w.namespace, i, value)); err != nil {
			return fmt.Errorf("cannot change Secret: %w", err)
		}
		w.changed(i, time.Now())
	}
	if err := w.wait(ctx, contracts, status); err != nil {
		return err
	}
	took := w.latencies(secrets)
	if err := b.calm(ctx, w); err != nil {
		return err
	}
	after, err := b.checkPasses(ctx)
	if err != nil {
		return err
	}
	slices.Sort(took)
	b.table.rowf(what+": from a Secret's change to the contract's verdict, p50 / p95 / max", "%d / %d / %d ms",
		took[len(took)/2].Milliseconds(), took[len(took)*95/100].Milliseconds(), took[len(took)-1].Milliseconds())
	b.table.rowf("  evaluations per contract meanwhile, polls included", "%.1f", float64(after-before)/float64(contracts))
	b.table.rowf("  writes of each contract per change", "%.1f", float64(w.count()-writes)/float64(contracts))
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
