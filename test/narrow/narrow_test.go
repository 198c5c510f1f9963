package narrow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/onplane"
)

// TestNarrowProfile follows the page on a plane whose RBAC manager has bound its own role to the provider, as in a cluster.
func TestNarrowProfile(t *testing.T) {
	for _, ns := range []string{"shop", "billing", "elsewhere"} {
		if err := p.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
			t.Fatal(err)
		}
	}
	revision, _, err := onplane.StandIn(t.Context(), p, account)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the RBAC manager to bind its role", func(ctx context.Context) error {
		role := "crossplane:provider:" + revision.Name + ":system"
		if !slices.Contains(bound(ctx, t), "ClusterRoleBinding "+role+" to ClusterRole "+role) {
			return errNot
		}
		return nil
	})
	if !may(t, "list", "elsewhere") {
		t.Fatal("the provider may not list Secrets everywhere to begin with: nothing is proved")
	}

	followPage(t)

	t.Run("Bound", func(t *testing.T) {
		// It is the RBAC manager's turn first: it was refused, and not merely slow.
		eventually(t, "the RBAC manager to be refused", func(ctx context.Context) error {
			l := &corev1.EventList{}
			if err := p.Client.List(ctx, l); err != nil {
				return err
			}
			for _, e := range l.Items {
				if e.InvolvedObject.UID == revision.UID && e.Type == corev1.EventTypeWarning && strings.Contains(e.Message, "provider-terdut-narrow") {
					return nil
				}
			}
			return errNot
		})
		same(t, boundInManifests(t), bound(t.Context(), t))
		rolesAsInManifests(t)
	})
	t.Run("Subjects", subjects)
	t.Run("Reach", reach)
	t.Run("Work", work)
	t.Run("AppliedAgain", func(t *testing.T) {
		if err := p.ApplyFile(t.Context(), "package/install/provider.yaml"); err == nil || !strings.Contains(err.Error(), "provider-terdut-narrow") {
			t.Errorf("the binding of the default profile is not refused: %v", err)
		}
		same(t, boundInManifests(t), bound(t.Context(), t))
	})
	t.Run("NamespaceDeleted", namespaceDeleted)
}

// subjects is by which names nobody binds the provider in the whole cluster.
func subjects(t *testing.T) {
	for name, s := range map[string]rbacv1.Subject{
		"Account": {Kind: rbacv1.ServiceAccountKind, Namespace: local.SystemNamespace, Name: account},
		"User":    {APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user},
		"Group":   {APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + local.SystemNamespace},
	} {
		b := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "provider-terdut:probe"}}
		b.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}
		b.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "elsewhere", Name: account}, s}
		if err := p.Client.Create(t.Context(), b, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "provider-terdut-narrow") {
			t.Errorf("%s: a binding of the provider is not refused: %v", name, err)
		}
	}
	// What the RBAC manager would bind to a provider that runs as somebody else.
	b := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "provider-terdut:probe"}}
	b.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "crossplane:provider:ryuvia-provider-terdut-123456789abc:system"}
	b.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: local.SystemNamespace, Name: "ryuvia-provider-terdut-123456789abc"}}
	if err := p.Client.Create(t.Context(), b, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "provider-terdut-narrow") {
		t.Errorf("the RBAC manager's role for another ServiceAccount is not refused: %v", err)
	}
}

// namespaceDeleted holds that a namespace with a Tenant ends, with what the Tenant has outside, and that the others go on without it.
func namespaceDeleted(t *testing.T) {
	ready := func(ns string) {
		t.Helper()
		apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: Tenant\nmetadata: {namespace: %s, name: going}\nspec: {deletionPolicy: Delete}", ns)
		u := object(terdutv1alpha1.TenantGroupVersionKind, ns, "going")
		eventually(t, "the Tenant of "+ns+" to be Ready", func(ctx context.Context) error {
			if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
				return err
			}
			if c := condition(u, "Ready"); c["status"] != "True" {
				return fmt.Errorf("it is not: %v", c)
			}
			return nil
		})
	}
	ready("billing")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "billing"}}
	if err := p.Client.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing but the binding to hold the namespace", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(ns), ns); err != nil {
			return err
		}
		for _, c := range ns.Status.Conditions {
			if c.Type == corev1.NamespaceContentRemaining && c.Message == "Some resources are remaining: rolebindings.rbac.authorization.k8s.io has 1 resource instances" {
				return nil
			}
		}
		return fmt.Errorf("%w: %v", errNot, ns.Status.Conditions)
	})
	notForbidden(t)
	let := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := p.Client.Patch(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "billing", Name: "provider-terdut:namespace"}}, let); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace to be gone", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(ns), ns); !kerrors.IsNotFound(err) {
			return errors.Join(err, errNot)
		}
		return nil
	})
	// It is in the list still. What is in the others is looked at by a provider that starts now.
	if err := p.Runtime.Restart(t.Context(), product.Provider); err != nil {
		t.Fatal(err)
	}
	ready("shop")
	// It comes again, with the rights, and nobody starts the provider.
	if err := p.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "billing"}}); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(root, "package", "install", "provider-namespace.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, "%s", strings.Replace(string(manifest), "metadata:\n", "metadata:\n  namespace: billing\n", 1))
	ready("billing")
}

// reach is what the provider can read of Secrets: the API server is asked, and the provider's own token is tried.
func reach(t *testing.T) {
	cfg, err := p.Plane.ServiceAccountConfig(t.Context(), local.SystemNamespace, account)
	if err != nil {
		t.Fatal(err)
	}
	own, err := client.New(cfg, client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	for ns, want := range map[string]bool{"shop": true, "billing": true, local.SystemNamespace: true, "elsewhere": false, "kube-system": false, "default": false, "": false} {
		if ns != "" {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "reach"}}
			if err := p.Client.Create(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			err := own.Get(t.Context(), client.ObjectKeyFromObject(s), &corev1.Secret{})
			if got := err == nil; got != want || err != nil && !kerrors.IsForbidden(err) {
				t.Errorf("reading a Secret of namespace %q: %v, want it to work: %t", ns, err, want)
			}
			err = own.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "made"}})
			if got := err == nil; got != want || err != nil && !kerrors.IsForbidden(err) {
				t.Errorf("making a Secret in namespace %q: %v, want it to work: %t", ns, err, want)
			}
		}
		err := own.List(t.Context(), &corev1.SecretList{}, client.InNamespace(ns))
		if got := err == nil; got != want || err != nil && !kerrors.IsForbidden(err) {
			t.Errorf("listing the Secrets of namespace %q: %v, want it to work: %t", ns, err, want)
		}
		for _, verb := range []string{"get", "list", "watch", "create", "patch"} {
			if got := may(t, verb, ns); got != want {
				t.Errorf("the provider may %s Secrets of namespace %q: %t, want %t", verb, ns, got, want)
			}
		}
	}
	rules := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "elsewhere"}}
	if err := own.Create(t.Context(), rules); err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Status.ResourceRules {
		for _, resource := range r.Resources {
			if resource == "*" || resource == "secrets" || resource == "configmaps" {
				t.Errorf("the provider has a rule about %s where it has no business: %v of %v", resource, r.Verbs, r.APIGroups)
			}
		}
	}
}

// may ask the API server what the provider may do with Secrets. No namespace stands for all.
func may(t *testing.T, verb, ns string) bool {
	t.Helper()
	r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               user,
		Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + local.SystemNamespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "secrets", Namespace: ns},
	}}
	if err := p.Client.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r.Status.Allowed
}

// work is done in the namespaces that are watched by a provider that started with the narrow rights, and nowhere else.
func work(t *testing.T) {
	if err := p.Runtime.Restart(t.Context(), product.Provider); err != nil {
		t.Fatal(err)
	}
	for _, ns := range []string{"shop", "elsewhere"} {
		apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: Tenant\nmetadata: {namespace: %s, name: orders}\nspec: {deletionPolicy: Delete}", ns)
		apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: SecretContract\nmetadata: {namespace: %s, name: orders}\nspec: {secretRef: {name: orders-db}, requiredKeys: [{name: uri}]}", ns)
	}
	tenant, contract := object(terdutv1alpha1.TenantGroupVersionKind, "shop", "orders"), object(terdutv1alpha1.SecretContractGroupVersionKind, "shop", "orders")
	for _, u := range []*unstructured.Unstructured{tenant, contract} {
		eventually(t, u.GetKind()+" to be Ready", func(ctx context.Context) error {
			if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
				return err
			}
			if c := condition(u, "Ready"); c["status"] != "True" {
				return fmt.Errorf("it is not: %v", c)
			}
			return nil
		})
	}
	// The one of the other namespace had as much time, and is composed as well. Nobody looked at what it is composed of.
	databases := &unstructured.UnstructuredList{}
	databases.SetAPIVersion("postgresql.terdut.ryuvia.com/v1alpha1")
	databases.SetKind("PGDatabase")
	eventually(t, "the Tenant of the other namespace to be composed", func(ctx context.Context) error {
		if err := p.Client.List(ctx, databases, client.InNamespace("elsewhere")); err != nil {
			return err
		}
		if len(databases.Items) != 1 {
			return errNot
		}
		return nil
	})
	if u := &databases.Items[0]; len(u.GetFinalizers()) > 0 || len(condition(u, "Synced")) > 0 {
		t.Error("the provider looked at an object of a namespace that it is not to watch")
	}
	notForbidden(t)
	// It goes as it came, and the watched one takes its database with it.
	other := object(terdutv1alpha1.TenantGroupVersionKind, "elsewhere", "orders")
	for _, u := range []*unstructured.Unstructured{contract, tenant, other} {
		if err := p.Client.Delete(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a "+u.GetKind()+" to be gone", func(ctx context.Context) error {
			if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); !kerrors.IsNotFound(err) {
				return errors.Join(err, errNot)
			}
			return nil
		})
	}
	notForbidden(t)
}

// notForbidden fails when the API server refused the provider something: a right is missing then that it needs.
func notForbidden(t *testing.T) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(p.Plane.Logs, product.Provider+".log"))
	if err != nil || len(log) == 0 {
		t.Fatalf("the provider's log cannot be read: %v", err)
	}
	for l := range strings.Lines(string(log)) {
		if strings.Contains(l, "is forbidden") {
			t.Errorf("the provider lacks a right: %s", l)
		}
	}
}
