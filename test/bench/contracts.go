package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

const (
	namespaceContracts = "bench-contracts"
	namespaceShared    = "bench-shared"
	// contractKey is the key of the Secrets that contracts ask for.
	contractKey = "password"
)

// contracts measures how soon a change of a Secret reaches the contracts that are about it: from the answer to the write until the
// composite says so. Each Secret of its own is changed once, and one that many contracts share.
func (b *bench) contracts(ctx context.Context) error {
	if err := b.contractsOn(ctx, namespaceContracts, b.Contracts, b.Contracts); err != nil {
		return err
	}
	return b.contractsOn(ctx, namespaceShared, b.Contracts/4, 1)
}

func (b *bench) contractsOn(ctx context.Context, ns string, contracts, secrets int) error {
	what := fmt.Sprintf("%d contracts on %d Secrets", contracts, secrets)
	progressf("Applying %s.", what)
	if err := b.namespace(ctx, ns); err != nil {
		return err
	}
	w := b.verdicts(ctx, ns)
	defer w.stop()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i := range secrets {
		g.Go(func() error { return b.p.Client.Create(gctx, contractSecret(ns, i, "x")) })
	}
	for i := range contracts {
		g.Go(func() error { return b.p.Client.Create(gctx, newContract(ns, i, i%secrets)) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("cannot apply contracts: %w", err)
	}
	if err := w.wait(ctx, contracts, "False"); err != nil {
		return err
	}
	progressf("Waiting until nothing changes.")
	if err := b.calm(ctx, w); err != nil {
		return err
	}
	before, err := b.checkPasses(ctx)
	if err != nil {
		return err
	}
	w.reset()
	writes := w.count()
	for i := range secrets {
		s := contractSecret(ns, i, "long enough")
		if err := b.p.Client.Update(ctx, s); err != nil {
			return fmt.Errorf("cannot change Secret: %w", err)
		}
		w.changed(i, time.Now())
	}
	if err := w.wait(ctx, contracts, "True"); err != nil {
		return err
	}
	after, err := b.checkPasses(ctx)
	if err != nil {
		return err
	}
	took := w.latencies(secrets)
	slices.Sort(took)
	b.table.rowf(what+": from a Secret's change to the contract's verdict, p50 / p95 / max", "%d / %d / %d ms",
		took[len(took)/2].Milliseconds(), took[len(took)*95/100].Milliseconds(), took[len(took)-1].Milliseconds())
	b.table.rowf("  evaluations per contract meanwhile, polls included", "%.1f", float64(after-before)/float64(contracts))
	b.table.rowf("  writes of the contracts per change", "%.1f", float64(w.count()-writes)/float64(contracts))
	return nil
}

func contractSecret(ns string, i int, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("secret-%d", i)}, Data: map[string][]byte{contractKey: []byte(value)}}
}

func newContract(ns string, i, secret int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"secretRef":    map[string]any{"name": fmt.Sprintf("secret-%d", secret)},
		"requiredKeys": []any{map[string]any{"name": contractKey, "minLength": int64(4)}},
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

// verdicts follows what the contracts of a namespace say, and when.
type verdicts struct {
	stop context.CancelFunc

	mu     sync.Mutex
	writes int
	news   chan struct{}
	is     map[string]string
	since  map[string]time.Time
	at     map[int]time.Time
}

func (b *bench) verdicts(ctx context.Context, ns string) *verdicts {
	ctx, stop := context.WithCancel(ctx)
	v := &verdicts{stop: stop, news: make(chan struct{}, 1), is: map[string]string{}, since: map[string]time.Time{}, at: map[int]time.Time{}}
	go func() {
		// The API server ends watches of a kind when its definition changes, which Crossplane does after it was first used.
		for ctx.Err() == nil {
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(terdutv1alpha1.SecretContractGroupVersionKind)
			w, err := b.watch.Watch(ctx, l, client.InNamespace(ns))
			if err != nil {
				continue
			}
			for e := range w.ResultChan() {
				if u, ok := e.Object.(*unstructured.Unstructured); ok {
					v.note(u, time.Now())
				}
			}
			w.Stop()
		}
	}()
	return v
}

func (v *verdicts) note(u *unstructured.Unstructured, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.writes++
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok || m["type"] != string(secretsv1alpha1.TypeSatisfied) {
			continue
		}
		if s := fmt.Sprint(m["status"]); v.is[u.GetName()] != s {
			v.is[u.GetName()], v.since[u.GetName()] = s, now
		}
	}
	select {
	case v.news <- struct{}{}:
	default:
	}
}

// wait until so many contracts have a verdict.
func (v *verdicts) wait(ctx context.Context, n int, status string) error {
	for {
		v.mu.Lock()
		have := 0
		for _, s := range v.is {
			if s == status {
				have++
			}
		}
		v.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d contracts are %s: %w", have, n, status, ctx.Err())
		case <-v.news:
		}
	}
}

// calm waits until no contract has been written for a while.
func (b *bench) calm(ctx context.Context, v *verdicts) error {
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("contracts do not come to rest: %w", ctx.Err())
		case <-v.news:
		case <-time.After(quietFor):
			return nil
		}
	}
}

func (v *verdicts) reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.since = map[string]time.Time{}
}

func (v *verdicts) changed(secret int, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at[secret] = at
}

func (v *verdicts) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.writes
}

// latencies from the change of each contract's Secret to its verdict.
func (v *verdicts) latencies(secrets int) []time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []time.Duration
	for name, t := range v.since {
		i := 0
		if _, err := fmt.Sscanf(name, "contract-%d", &i); err == nil {
			out = append(out, max(0, t.Sub(v.at[i%secrets])))
		}
	}
	return out
}
