package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// calm is how long nothing was written when a Tenant is at rest: several polls of the provider.
const calm = 10 * time.Second

// longCalm is for Tenants to which as much happens as in a creation: what Crossplane allows a composite comes back with one event in two
// seconds.
const longCalm = 45 * time.Second

// atRest waits until a Tenant is Ready and was not written for a while. Crossplane bounds how much may happen to a composite in a short
// time, creation takes most of that, and a person's change comes later than a test's.
func atRest(t *testing.T, ns, name string) *unstructured.Unstructured {
	t.Helper()
	return restsFor(t, ns, name, calm)
}

// restsFor waits until a Tenant is Ready and was not written for a time.
func restsFor(t *testing.T, ns, name string, calm time.Duration) *unstructured.Unstructured {
	t.Helper()
	return allRestFor(t, []string{ns}, name, calm)[0]
}

// allRestFor waits until each Tenant of a name, one in each namespace, is Ready and was not written for a time. They rest at the same time.
func allRestFor(t *testing.T, namespaces []string, name string, calm time.Duration) []*unstructured.Unstructured {
	t.Helper()
	tenants, since := make([]*unstructured.Unstructured, len(namespaces)), make([]time.Time, len(namespaces))
	eventually(t, "Tenants "+name+" to be at rest", func(ctx context.Context) error {
		var errs []error
		for i, ns := range namespaces {
			u := newTenant(ns, name, nil)
			if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
				return err
			}
			if tenants[i] == nil || u.GetResourceVersion() != tenants[i].GetResourceVersion() {
				tenants[i], since[i] = u, time.Now()
			}
			if phase(u) != string(terdutv1alpha1.PhaseReady) || condition(u, "Ready")["status"] != "True" {
				errs = append(errs, fmt.Errorf("%s is not Ready: phase %s, %s", ns, phase(u), conditionsOf(u)))
			} else if time.Since(since[i]) < calm {
				errs = append(errs, fmt.Errorf("%s is not at rest", ns))
			}
		}
		return errors.Join(errs...)
	})
	return tenants
}
