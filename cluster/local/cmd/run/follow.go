package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// The example that is applied.
const (
	exampleNamespace = "shop"
	exampleName      = "orders"
)

// tenant reads a Tenant with everything that Crossplane adds to it.
type tenant struct{ unstructured.Unstructured }

func (t *tenant) phase() string {
	s, _, _ := unstructured.NestedString(t.Object, "status", "phase")
	return s
}

func (t *tenant) secretName() string {
	s, _, _ := unstructured.NestedString(t.Object, "status", "secretRef", "name")
	return s
}

// conditions by type.
func (t *tenant) conditions() map[string]map[string]any {
	out := map[string]map[string]any{}
	list, _, _ := unstructured.NestedSlice(t.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok {
			out[fmt.Sprint(m["type"])] = m
		}
	}
	return out
}

// follow the Tenant until it is Ready, and print each step as it is taken.
func follow(ctx context.Context, p *product.Product, timeout time.Duration) (*tenant, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start, shown := time.Now(), map[string]string{}
	t := &tenant{}
	t.SetGroupVersionKind(terdutv1alpha1.TenantGroupVersionKind)

	err := p.WaitFor(ctx, "the Tenant to become Ready", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: exampleNamespace, Name: exampleName}, t); err != nil {
			return fmt.Errorf("cannot get Tenant: %w", err)
		}
		show := func(what, state string) {
			if state != "" && shown[what] != state {
				shown[what] = state
				fmt.Printf("%5.1fs  %-17s %s\n", time.Since(start).Seconds(), what, state)
			}
		}
		show("phase", t.phase())
		conditions := t.conditions()
		for _, c := range []string{terdutv1alpha1.TypeCredentialReady, terdutv1alpha1.TypeDatabaseReady, terdutv1alpha1.TypeSecretProjected, terdutv1alpha1.TypeLoginVerified} {
			if m := conditions[c]; m != nil {
				message, _ := m["message"].(string)
				show(c, sentence(fmt.Sprint(m["status"]), fmt.Sprint(m["reason"]), message))
			}
		}
		if conditions["Ready"]["status"] != "True" || t.phase() != string(terdutv1alpha1.PhaseReady) {
			return errors.New("it is not Ready, look at its conditions")
		}
		return nil
	})
	return t, err
}
