package grants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
)

// TestGrants goes through the life of a grant: without one the Secret is not read at all, and nothing of it stays when one goes.
func TestGrants(t *testing.T) {
	ns := namespace(t)
	secret(t, ns, map[string]string{"username": "shop"})
	const rules = "requiredKeys: [{name: username}, {name: password}]"
	uid := contract(t, ns, rules)
	verdict(t, ns, "False AccessNotApproved")

	// A grant of another contract, and one with too few types of rules.
	grant(t, ns, "orders", "another", "required", "nonEmpty")
	grant(t, ns, "orders", uid, "required")
	// A check that somebody writes by hand, named as the contract: its identity is its own.
	byHand := &secretsv1alpha1.SecretCheck{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders"}}
	byHand.Spec.ForProvider.SecretRef.Name = "orders-db"
	byHand.Spec.ForProvider.RequiredKeys = []secretsv1alpha1.KeyRule{{Name: "username", Pattern: "^s"}}
	if err := p.Client.Create(t.Context(), byHand); err != nil {
		t.Fatal(err)
	}
	g := grant(t, ns, "orders", uid, "required", "nonEmpty")
	eventually(t, "findings to be shown", func(context.Context) error {
		found := verdict(t, ns, "False MissingRequiredKey")
		if len(found.MissingKeys) != 1 || found.ObservedSecret == nil {
			return fmt.Errorf("got %+v, want the missing key and the Secret's identity", found)
		}
		return nil
	})
	handIs := func(want string) {
		t.Helper()
		eventually(t, "check by hand to be "+want, func(ctx context.Context) error {
			if err := p.Client.Get(ctx, client.ObjectKeyFromObject(byHand), byHand); err != nil {
				return err
			}
			if c := byHand.GetCondition(secretsv1alpha1.TypeSatisfied); string(c.Reason) != want {
				return fmt.Errorf("it is %s", c.Reason)
			}
			return nil
		})
	}
	handIs("AccessNotApproved")

	// The contract's own check, with a question more: of a type that was granted, and in a field that is not applied.
	composed := &secretsv1alpha1.SecretCheckList{}
	if err := p.Client.List(t.Context(), composed, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(composed.Items, func(c secretsv1alpha1.SecretCheck) bool { return c.Name != byHand.Name })
	if i < 0 {
		t.Fatal("the contract's check is not found")
	}
	borrowed := composed.Items[i].DeepCopy()
	borrowed.Spec.ForProvider.RequiredKeys = append(borrowed.Spec.ForProvider.RequiredKeys, secretsv1alpha1.KeyRule{Name: "more"})
	if err := p.Client.Patch(t.Context(), borrowed, client.MergeFrom(&composed.Items[i])); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the check to be refused", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(borrowed), borrowed); err != nil {
			return err
		}
		if c := borrowed.GetCondition(secretsv1alpha1.TypeSatisfied); string(c.Reason) != "AccessNotApproved" {
			return fmt.Errorf("it is %s", c.Reason)
		}
		return nil
	})
	verdict(t, ns, "Unknown NotChecked")
	if err := p.Client.Delete(t.Context(), borrowed); err != nil {
		t.Fatal(err)
	}
	verdict(t, ns, "False MissingRequiredKey")

	// Revoked, and nothing of it stays.
	if err := p.Client.Delete(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	eventually(t, "findings of before to be gone", func(context.Context) error {
		left := verdict(t, ns, "False AccessNotApproved")
		if len(left.MissingKeys) > 0 || left.MissingKeyCount > 0 || len(left.Violations) > 0 || left.ObservedSecret != nil {
			return fmt.Errorf("they are still shown: %+v", left)
		}
		return nil
	})

	// A contract that is made anew does not inherit.
	grant(t, ns, "orders", uid, "required", "nonEmpty")
	verdict(t, ns, "False MissingRequiredKey")
	old := &terdutv1alpha1.SecretContract{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders"}}
	if err := p.Client.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	eventually(t, "contract to be gone", func(ctx context.Context) error {
		err := p.Client.Get(ctx, client.ObjectKeyFromObject(old), old)
		if err == nil {
			return errors.New("it is still there")
		}
		return client.IgnoreNotFound(err)
	})
	before := reads(t, ns)
	contract(t, ns, rules)
	verdict(t, ns, "False AccessNotApproved")
	if n := reads(t, ns); n != before {
		t.Errorf("the Secret was read %d times for the contract that was made anew", n-before)
	}
}

// TestAudit holds by the API server's own log, and by the provider's memory, that a Secret without a grant is never read.
func TestAudit(t *testing.T) {
	ns, granted := namespace(t), namespace(t)
	// In pieces, so that this test's own text is nowhere taken for it.
	value := strings.Join([]string{"sentinel", ns, "of", "the", "audit"}, "-")
	secret(t, ns, map[string]string{"password": value})
	secret(t, granted, map[string]string{"password": "x"})
	contract(t, ns, "requiredKeys: [{name: password}]")
	uid := contract(t, granted, "requiredKeys: [{name: password}]")
	grant(t, granted, "orders", uid, "required", "nonEmpty")
	verdict(t, granted, "True RulesSatisfied")
	verdict(t, ns, "False AccessNotApproved")
	if n := reads(t, ns); n > 0 {
		t.Errorf("the provider read a Secret %d times without a grant", n)
	}
	if reads(t, granted) == 0 {
		t.Error("no read of the granted Secret is in the audit log: it does not show what it should")
	}
	for _, e := range audited(t) {
		// Its own namespace holds the credentials of on-call servers.
		if e.Verb == "list" && e.ObjectRef.Namespace != local.SystemNamespace && e.ResponseObject.Kind != "PartialObjectMetadataList" {
			t.Errorf("Secrets of namespace %q were listed as %q", e.ObjectRef.Namespace, e.ResponseObject.Kind)
		}
	}

	// What was watched is not in that log. The provider's memory has the name of each Secret, and the value of none that it was not to read.
	if !remembers(t, ns) {
		t.Error("the provider's memory has no trace of the namespace: it was not looked at rightly")
	}
	if remembers(t, value) {
		t.Error("the provider holds the value of a Secret that it was not to read")
	}
}

// remembers says whether a text is in the memory of the provider.
func remembers(t *testing.T, text string) bool {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", provider(t).PID)
	maps, err := os.ReadFile(filepath.Join(dir, "maps"))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(filepath.Join(dir, "mem"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mem.Close() }()
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var rights string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); err != nil || !strings.HasPrefix(rights, "rw") {
			continue
		}
		b := make([]byte, to-from)
		n, err := mem.ReadAt(b, from)
		if err != nil && n == 0 {
			continue // A region that the kernel shows and does not let anybody read.
		}
		if bytes.Contains(b[:n], []byte(text)) {
			return true
		}
	}
	return false
}

// TestRights holds what the provider's own identity may not do, whatever its code tries.
func TestRights(t *testing.T) {
	for _, no := range []authorizationv1.ResourceAttributes{
		{Verb: "update", Group: "apps", Resource: "deployments"},
		{Verb: "patch", Group: "apps", Resource: "deployments"},
		{Verb: "delete", Resource: "secrets", Namespace: "default"},
		{Verb: "create", Resource: "pods"},
		{Verb: "create", Group: "secrets.terdut.ryuvia.com", Resource: "secretaccessgrants"},
		{Verb: "update", Group: "secrets.terdut.ryuvia.com", Resource: "secretaccessgrants"},
		{Verb: "patch", Group: "secrets.terdut.ryuvia.com", Resource: "secretaccessgrants"},
		{Verb: "update", Group: "external-secrets.io", Resource: "externalsecrets"},
		{Verb: "create", Group: "terdut.ryuvia.com", Resource: "secretcontracts"},
	} {
		r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: providerUser, ResourceAttributes: &no}}
		if err := p.Client.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if r.Status.Allowed {
			t.Errorf("the provider may %s %s: %s", no.Verb, no.Resource, r.Status.Reason)
		}
	}
}

// TestDegradation takes away what the provider needs, one after the other, and gives it back: each is named, and passes by itself.
func TestDegradation(t *testing.T) {
	ns := namespace(t)
	secret(t, ns, map[string]string{"password": "x"})
	uid := contract(t, ns, "requiredKeys: [{name: password}], externalSecretRef: {name: source}, policy: {requireExternalSecretReady: true}")
	grant(t, ns, "orders", uid, "required", "nonEmpty")
	verdict(t, ns, "False ExternalSecretNotFound")

	// One right of the provider.
	role := &rbacv1.ClusterRole{}
	change := func(f func()) {
		t.Helper()
		eventually(t, "role to be changed", func(ctx context.Context) error {
			if err := p.Client.Get(ctx, types.NamespacedName{Name: "provider-terdut"}, role); err != nil {
				return err
			}
			f()
			return p.Client.Update(ctx, role)
		})
	}
	rules := []rbacv1.PolicyRule(nil)
	change(func() {
		rules = role.DeepCopy().Rules
		for i := range role.Rules {
			if len(role.Rules[i].APIGroups) == 1 && role.Rules[i].APIGroups[0] == "external-secrets.io" {
				role.Rules[i].Verbs = []string{"watch"}
			}
		}
	})
	verdict(t, ns, "Unknown ExternalSecretAccessDenied")
	change(func() { role.Rules = rules })
	verdict(t, ns, "False ExternalSecretNotFound")

	// The API of External Secrets.
	const name = "externalsecrets.external-secrets.io"
	crd := &extv1.CustomResourceDefinition{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Name: name}, crd); err != nil {
		t.Fatal(err)
	}
	back := &extv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: crd.Labels, Annotations: crd.Annotations}, Spec: crd.Spec}
	if err := p.Client.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	verdict(t, ns, "Unknown ExternalSecretAPINotAvailable")
	eventually(t, "CustomResourceDefinition to be back", func(ctx context.Context) error {
		return p.Client.Create(ctx, back)
	})
	verdict(t, ns, "False ExternalSecretNotFound")
}

// TestRapidChanges holds that after a hundred changes of a Secret the verdict is about the last.
func TestRapidChanges(t *testing.T) {
	ns := namespace(t)
	s := secret(t, ns, map[string]string{"password": "x"})
	uid := contract(t, ns, "requiredKeys: [{name: password, minLength: 3}]")
	grant(t, ns, "orders", uid, "required", "nonEmpty", "minLength")
	verdict(t, ns, "False TooShort")
	for i := range 100 {
		s.StringData = map[string]string{"password": "long enough"[:1+(i%2)*8]}
		if err := p.Client.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	verdict(t, ns, "True RulesSatisfied")
	c := struct {
		Status struct {
			xpv2.ConditionedStatus `json:",inline"`
		} `json:"status"`
	}{}
	if err := read(t.Context(), ns, &c); err != nil {
		t.Fatal(err)
	}
	t.Logf("Responsive is %q after a hundred changes", c.Status.GetCondition("Responsive").Status)
}
