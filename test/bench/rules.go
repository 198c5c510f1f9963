package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
)

const (
	namespaceRules = "bench-rules"
	// rulesOf a contract where evaluation is measured.
	rulesOf = 20
	// rulesFor is how long contracts with many rules are waited for: what there is to say is said then.
	rulesFor = 20 * time.Minute
	// checkDuration is the provider's own metric of evaluations.
	checkDuration = "secret_contract_check_duration_seconds"
)

// rules measures what it takes to evaluate many rules of many contracts.
func (b *bench) rules(ctx context.Context) error {
	if err := b.evaluationAlone(); err != nil {
		return err
	}
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
	enough, cancel := context.WithTimeout(ctx, rulesFor)
	defer cancel()
	if err := w.wait(enough, b.Rules); err != nil && ctx.Err() != nil {
		return err
	}
	what := fmt.Sprintf("%d contracts with %d rules each", b.Rules, rulesOf)
	b.table.rowf(what+": how many have a verdict, and how long after they were applied", "%d, %s", w.have(), seconds(time.Since(start)))
	if err := b.evaluations(ctx, before, "  evaluations meanwhile, their mean time, and below what 95 of 100 are, all with what they read"); err != nil {
		return err
	}

	progressf("Waiting for %s of polls.", atRestFor)
	if before, err = b.providerMetrics(ctx); err != nil {
		return err
	}
	cpu, err := b.costOf(ctx)
	if err != nil {
		return err
	}
	writes, _ := w.count()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(atRestFor):
	}
	if err := b.evaluations(ctx, before, fmt.Sprintf("  the same in the next %s, which are polls", atRestFor)); err != nil {
		return err
	}
	after, err := b.costOf(ctx)
	if err != nil {
		return err
	}
	writesNow, _ := w.count()
	b.table.rowf("  writes of contracts meanwhile; CPU of the API server", "%d; %.2f cores", writesNow-writes, (after.cpu-cpu.cpu)/atRestFor.Seconds())
	return nil
}

// atRestFor is how long contracts are watched while nothing happens: each is polled once a minute.
const atRestFor = time.Minute

// evaluations prints what the provider has evaluated since, and the memory that it has.
func (b *bench) evaluations(ctx context.Context, before metrics, what string) error {
	after, err := b.providerMetrics(ctx)
	if err != nil {
		return err
	}
	n, took := after.histogram(checkDuration)
	n0, took0 := before.histogram(checkDuration)
	b.table.rowf(what, "%.0f, %.1f ms, %.0f ms", n-n0, 1000*(took-took0)/max(1, n-n0), 1000*after.quantile(before, checkDuration, 0.95))
	is, err := b.resident(ctx)
	if err != nil {
		return err
	}
	b.table.rowf("  resident memory of the provider then", "%.0f MiB", is)
	return nil
}

// evaluationAlone measures an evaluation by itself, without a control plane: what there is of it that is not waiting for an answer.
func (b *bench) evaluationAlone() error {
	of := struct {
		Spec secretsv1alpha1.ContractParameters `json:"spec"`
	}{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(newContract(namespaceRules, 0, 0, rulesOf).Object, &of); err != nil {
		return fmt.Errorf("cannot read contract: %w", err)
	}
	data, now := contractSecret(namespaceRules, 0, values[failed]).Data, time.Now()
	var took []time.Duration
	for range b.Rules {
		start := time.Now()
		spec := declared.Spec(of.Spec, nil)
		if r := spec.Check(); !r.SpecValid {
			return errors.New("the contract makes no sense")
		}
		if r := contract.Evaluate(spec.Rules, data, now); r.Valid {
			return errors.New("a Secret without the keys passes")
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.table.rowf(fmt.Sprintf("one evaluation of %d rules by itself, %d times, p50 / p95 / max", rulesOf, b.Rules), "%d / %d / %d µs",
		took[len(took)/2].Microseconds(), took[len(took)*95/100].Microseconds(), took[len(took)-1].Microseconds())
	return nil
}
