package e2e

import (
	"context"
	"errors"
	"slices"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/test/onplane"
)

// TestRights holds that what is bound on the control plane is what docs/security.md says, no more and no less: of the provider, also with
// what Crossplane's RBAC manager adds in a cluster, of Crossplane, and of the roles for people. It changes roles, so nothing runs beside it.
func TestRights(t *testing.T) {
	provider := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: local.SystemNamespace, Name: "provider-terdut"}
	sameRights(t, "the provider", documentedRights(t, "The provider"), bound(t, provider))

	t.Run("RBACManager", func(t *testing.T) {
		standIn(t, provider)
		sameRights(t, "the provider of a cluster", append(documentedRights(t, "The provider"), documentedRights(t, "What Crossplane's RBAC manager adds for the provider")...), bound(t, provider))
	})

	sameRights(t, "Crossplane", documentedRights(t, "Crossplane"), aggregated(t))
	crossplane := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: local.SystemNamespace, Name: "crossplane"}
	if more := bound(t, crossplane, "crossplane"); len(more) > 0 {
		t.Errorf("Crossplane has rights besides its own role: %v", more)
	}

	ns := namespace(t)
	for role, section := range map[string]string{"terdut-tenant-editor": "Application teams", "terdut-contract-author": "Authors of contracts"} {
		who := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role + "-of-" + ns}
		applyRole(t, role, ns, who)
		has := bound(t, who)
		for i := range has {
			if has[i].where == ns {
				has[i].where = theirs
			}
		}
		sameRights(t, role, documentedRights(t, section), has)
		mayNot(t, who.Name, ns)
	}
}

// mayNot asks the API server itself about what would be worst.
func mayNot(t *testing.T, user, ns string) {
	t.Helper()
	for _, no := range []authorizationv1.ResourceAttributes{
		{Verb: "get", Resource: "secrets", Namespace: ns},
		{Verb: "create", Resource: "pods", Namespace: ns},
		{Verb: "create", Group: "terdut.ryuvia.com", Resource: "tenants", Namespace: "default"},
		{Verb: "get", Group: "terdut.ryuvia.com", Resource: "secretcontracts", Namespace: "default"},
		{Verb: "update", Group: "terdut.ryuvia.com", Resource: "tenants", Subresource: "status", Namespace: ns},
		{Verb: "patch", Group: "terdut.ryuvia.com", Resource: "secretcontracts", Subresource: "status", Namespace: ns},
		{Verb: "create", Group: "postgresql.terdut.ryuvia.com", Resource: "pgdatabases", Namespace: ns},
		{Verb: "patch", Group: "openbao.terdut.ryuvia.com", Resource: "baosecrets", Namespace: ns},
		{Verb: "create", Group: "oncall.terdut.ryuvia.com", Resource: "teams", Namespace: ns},
		{Verb: "create", Group: "secrets.terdut.ryuvia.com", Resource: "secretchecks", Namespace: ns},
		{Verb: "patch", Group: "secrets.terdut.ryuvia.com", Resource: "secretchecks", Subresource: "status", Namespace: ns},
		{Verb: "create", Group: "secrets.terdut.ryuvia.com", Resource: "secretaccessgrants", Namespace: ns},
		{Verb: "create", Group: "postgresql.terdut.ryuvia.com", Resource: "providerconfigs", Namespace: ns},
		{Verb: "get", Group: "postgresql.terdut.ryuvia.com", Resource: "clusterproviderconfigs"},
		{Verb: "create", Group: "external-secrets.io", Resource: "externalsecrets", Namespace: ns},
	} {
		r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: []string{"system:authenticated"}, ResourceAttributes: &no}}
		if err := p.Client.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if r.Status.Allowed {
			t.Errorf("%s may %s %s/%s in %q: %s", user, no.Verb, no.Resource, no.Subresource, no.Namespace, r.Status.Reason)
		}
	}
}

// standIn makes a Deployment of the provider, waits for the binding that the RBAC manager makes for it, and for its end when the test ends.
func standIn(t *testing.T, provider rbacv1.Subject) {
	t.Helper()
	rev, d, err := onplane.StandIn(t.Context(), p, provider.Name)
	if err != nil {
		t.Fatal(err)
	}
	binding := func(want bool) {
		t.Helper()
		eventually(t, "binding of the RBAC manager", func(ctx context.Context) error {
			bindings := &rbacv1.ClusterRoleBindingList{}
			if err := p.Client.List(ctx, bindings); err != nil {
				return err
			}
			is := slices.ContainsFunc(bindings.Items, func(b rbacv1.ClusterRoleBinding) bool {
				return metav1.IsControlledBy(&b, rev) && slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return s.Name == provider.Name })
			})
			if is != want {
				return errors.New("it is not as it should be")
			}
			return nil
		})
	}
	t.Cleanup(func() {
		if err := p.Client.Delete(context.Background(), d); err != nil {
			t.Error(err)
		}
		binding(false)
	})
	binding(true)
}
