package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// settleRounds is how many polls may pass before the product is measured although something still changes.
const settleRounds = 12

// ours are the kinds of what the product made, or has made by others.
var ours = []schema.GroupVersionKind{
	terdutv1alpha1.TenantGroupVersionKind,
	postgresqlv1alpha1.PGDatabaseGroupVersionKind,
	postgresqlv1alpha1.SchemeGroupVersion.WithKind("ClusterProviderConfig"),
	postgresqlv1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"),
	openbaov1alpha1.BaoSecretGroupVersionKind,
	openbaov1alpha1.SchemeGroupVersion.WithKind("ClusterProviderConfig"),
	openbaov1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"),
	{Group: "external-secrets.io", Version: "v1", Kind: "ExternalSecret"},
	terdutv1alpha1.TerdutServerGroupVersionKind,
	oncallv1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"),
	oncallv1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"),
	oncallv1alpha1.BootstrapGroupVersionKind,
	oncallv1alpha1.TeamGroupVersionKind,
	oncallv1alpha1.EscalationPolicyGroupVersionKind,
	oncallv1alpha1.DeadmanSwitchGroupVersionKind,
	oncallv1alpha1.IntegrationGroupVersionKind,
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "Secret"},
}

// versions returns the resourceVersion of each object of ours, by kind, namespace and name.
func (b *bench) versions(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, gvk := range ours {
		l, err := b.list(ctx, gvk)
		if err != nil {
			return nil, err
		}
		for _, o := range l.Items {
			if !foreign(o) {
				out[gvk.GroupKind().String()+" "+o.Namespace+"/"+o.Name] = o.ResourceVersion
			}
		}
	}
	return out, nil
}

// foreign is true for objects of the namespaces that are Kubernetes' and Crossplane's own.
func foreign(o metav1.PartialObjectMetadata) bool {
	switch o.Namespace {
	case "", namespaceFirst, namespaceEvents, namespaceSingles, namespaceServers, namespaceTenants, namespacePlain:
		return false
	}
	return true
}

// moved counts the objects that are not in both, or with different versions, and says of which kinds they are.
func moved(before, after map[string]string) int {
	kinds := map[string]int{}
	note := func(key string) {
		kind, _, _ := strings.Cut(key, " ")
		kinds[kind]++
	}
	for k, v := range after {
		if before[k] != v {
			note(k)
		}
	}
	for k := range before {
		if _, ok := after[k]; !ok {
			note(k)
		}
	}
	n := 0
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		progressf("  changed, came or went: %d of %s", kinds[k], k)
		n += kinds[k]
	}
	return n
}

// settle waits until nothing changes over some polls of each managed resource of some kinds.
func (b *bench) settle(ctx context.Context, polls int, kinds []schema.GroupVersionKind) error {
	before, err := b.versions(ctx)
	if err != nil {
		return err
	}
	for range settleRounds {
		if err := b.polls(ctx, polls, kinds); err != nil {
			return err
		}
		after, err := b.versions(ctx)
		if err != nil {
			return err
		}
		if moved(before, after) == 0 {
			return nil
		}
		before = after
	}
	progressf("  Something still changes; counting anyway.")
	return nil
}
