package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// An example is an object that is applied, and what is shown of it until it is Ready.
type example struct {
	gvk             schema.GroupVersionKind
	namespace, name string
	// conditions whose changes are shown, in order.
	conditions []string
}

// The examples.
var (
	tenant = example{
		gvk: terdutv1alpha1.TenantGroupVersionKind, namespace: "shop", name: "orders",
		conditions: []string{
			terdutv1alpha1.TypeCredentialReady, terdutv1alpha1.TypeDatabaseReady, terdutv1alpha1.TypeSecretProjected, terdutv1alpha1.TypeLoginVerified,
		},
	}
	ownAccess = example{
		gvk: terdutv1alpha1.TenantGroupVersionKind, namespace: "shop", name: "payments",
		conditions: []string{terdutv1alpha1.TypeAccessReady, terdutv1alpha1.TypeSecretProjected, terdutv1alpha1.TypeLoginVerified},
	}
	secretContract = example{
		gvk: terdutv1alpha1.SecretContractGroupVersionKind, namespace: "shop", name: "orders",
		conditions: []string{string(secretsv1alpha1.TypeSecretExists), string(secretsv1alpha1.TypeKeysValid), string(secretsv1alpha1.TypeSatisfied)},
	}
	provisionedContract = example{
		gvk: terdutv1alpha1.SecretContractGroupVersionKind, namespace: "shop", name: "web",
		conditions: []string{terdutv1alpha1.TypeProvisioned, string(secretsv1alpha1.TypeSatisfied)},
	}
	terdutServer = example{
		gvk: terdutv1alpha1.TerdutServerGroupVersionKind, namespace: "oncall", name: "terdut",
		conditions: []string{
			terdutv1alpha1.TypeDatabaseReady, terdutv1alpha1.TypeServerReady, terdutv1alpha1.TypeBootstrapped, terdutv1alpha1.TypeTeamsReady,
		},
	}
	foreignTeam        = example{gvk: oncallv1alpha1.TeamGroupVersionKind, namespace: "shop", name: "shop"}
	foreignIntegration = example{gvk: oncallv1alpha1.IntegrationGroupVersionKind, namespace: "shop", name: "alertmanager"}
)

// An object reads an applied example with everything that Crossplane adds to it.
type object struct{ unstructured.Unstructured }

// status is a field of the status, or nothing.
func (o *object) status(fields ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, append([]string{"status"}, fields...)...)
	return s
}

// conditions by type.
func (o *object) conditions() map[string]map[string]any {
	out := map[string]map[string]any{}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok {
			out[fmt.Sprint(m["type"])] = m
		}
	}
	return out
}

// follow an example until it is Ready with its current spec, and print each step as it is taken.
func follow(ctx context.Context, p *product.Product, e example, timeout time.Duration) (*object, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start, shown := time.Now(), map[string]string{}
	o := &object{}
	o.SetGroupVersionKind(e.gvk)

	err := p.WaitFor(ctx, "the "+e.gvk.Kind+" to become Ready", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: e.namespace, Name: e.name}, o); err != nil {
			return fmt.Errorf("cannot get %s: %w", e.gvk.Kind, err)
		}
		show := func(what, state string) {
			if state != "" && shown[what] != state {
				shown[what] = state
				fmt.Printf("%5.1fs  %-17s %s\n", time.Since(start).Seconds(), what, state)
			}
		}
		show("phase", o.status("phase"))
		conditions := o.conditions()
		for _, c := range e.conditions {
			if m := conditions[c]; m != nil {
				message, _ := m["message"].(string)
				show(c, sentence(fmt.Sprint(m["status"]), fmt.Sprint(m["reason"]), message))
			}
		}
		generation, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		if conditions["Ready"]["status"] != "True" || generation != o.GetGeneration() {
			return errors.New("it is not Ready, look at its conditions")
		}
		return nil
	})
	return o, err
}
