package claims

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestTenant follows a Tenant whose composite is taken away: everything outside stays, and stays the claim's. It goes with the claim.
func TestTenant(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	database := strings.ReplaceAll(ns, "-", "_") + "_orders"
	honest(t, tenantKind, ns, func(u *unstructured.Unstructured) error {
		want, _, _ := unstructured.NestedInt64(u.Object, "spec", "connectionLimit")
		if status, _ := condition(u, "Ready"); status != "True" || u.GetDeletionTimestamp() != nil {
			return nil
		}
		// It only ever grows, so the server may be ahead of what it is compared with.
		if got, err := connectionLimit(context.Background(), database); err != nil || int64(got) < want {
			return fmt.Errorf("it is Ready with a connection limit of %d, and its owner has %d: %v", want, got, err)
		}
		return nil
	})
	apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: Tenant\nmetadata: {namespace: %s, name: orders}\nspec: {deletionPolicy: Delete, connectionLimit: 7, database: %s}", ns, database)
	claim := ready(t, tenantKind, ns, "orders")
	first := outsideOf(t, ns, "orders", database)
	owner := outside{
		OID: first.OID, OwnerUID: string(claim.GetUID()), Owner: ns + "/orders", State: "created", Version: "1", RecordOwner: string(claim.GetUID()), Exists: true,
	}
	if diff := cmp.Diff(owner, first); diff != "" || first.OID == 0 {
		t.Errorf("outside: -want, +got:\n%s", diff)
	}

	// Changes as soon as these are more than Crossplane listens to. They come about all the same.
	for _, limit := range []int{9, 11} {
		patch(t, claim, `{"spec": {"connectionLimit": %d}}`, limit)
		claim = ready(t, tenantKind, ns, "orders")
	}

	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		xr := composite(t, claim)
		if err := p.Client.Delete(t.Context(), xr, propagation(how)); err != nil {
			t.Fatal(err)
		}
		readyAnew(t, xr)
		if diff := cmp.Diff(owner, outsideOf(t, ns, "orders", database)); diff != "" {
			t.Errorf("outside, with a composite that was made anew (%s): -want, +got:\n%s", how, diff)
		}
	}

	if err := p.Client.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	gone(t, claim)
	eventually(t, "everything outside to be gone", func(context.Context) error {
		if diff := cmp.Diff(outside{}, outsideOf(t, ns, "orders", database)); diff != "" {
			return fmt.Errorf("-want, +got:\n%s", diff)
		}
		return nil
	})
}

// TestSecretContract holds that the verdict that a gate takes is about the claim as it is, at each moment of many changes.
func TestSecretContract(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	// What the claim asks decides the verdict: a length that the value has, or has not.
	honest(t, contractKind, ns, func(u *unstructured.Unstructured) error {
		rules, _, _ := unstructured.NestedSlice(u.Object, "spec", "requiredKeys")
		length, _ := rules[0].(map[string]any)["minLength"].(int64)
		want := map[bool]string{true: "True", false: "False"}[length <= 8]
		if got, reason := condition(u, "Satisfied"); got != want && got != "Unknown" && got != "" {
			return fmt.Errorf("Satisfied is %s %s for a length of %d", got, reason, length)
		}
		return nil
	})
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-db"}, StringData: map[string]string{"password": "8-bytes."}}
	if err := p.Client.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		length, want := 8, "True"
		if i%2 == 1 {
			length, want = 20, "False"
		}
		apply(t, `
apiVersion: terdut.ryuvia.com/v1alpha1
kind: SecretContract
metadata: {namespace: %s, name: orders}
spec: {secretRef: {name: orders-db}, requiredKeys: [{name: password, minLength: %d}], checkRequest: "%d"}`, ns, length, i)
		u := says(t, object(contractKind, ns, "orders"), "Satisfied", want)
		if got := field(u, "status", "checkRequest"); got != fmt.Sprint(i) {
			t.Errorf("request %q was answered, want %d", got, i)
		}
	}
}

// TestTerdutServer lets the examples become Ready as claims: a server on a Tenant, with a Team of another namespace.
func TestTerdutServer(t *testing.T) {
	t.Parallel()
	crossplane := honest(t, serverKind, "oncall", func(*unstructured.Unstructured) error { return nil })
	for _, f := range []string{"tenant/namespace.yaml", "terdutserver/namespace.yaml", "terdutserver/tenant.yaml", "terdutserver/terdutserver.yaml"} {
		if err := p.ApplyFile(t.Context(), "examples/"+f); err != nil {
			t.Fatal(err)
		}
	}
	u := ready(t, serverKind, "oncall", "terdut")
	if got := field(u, "status", "endpoint"); got != "http://terdut.oncall.svc:8080" {
		t.Errorf("endpoint %q", got)
	}
	for _, c := range []string{"DatabaseReady", "ServerReady", "Bootstrapped", "TeamsReady", "DatabaseCredentialCurrent"} {
		if status, reason := condition(u, c); status != "True" {
			t.Errorf("%s is %s %s", c, status, reason)
		}
	}
	crossplane.listened(t)

	// Its database is a Tenant's, and its account on the server the Bootstrap's: both outlive what is composed.
	xr := composite(t, u)
	if err := p.Client.Delete(t.Context(), xr); err != nil {
		t.Fatal(err)
	}
	readyAnew(t, xr)
	ready(t, serverKind, "oncall", "terdut")
}
