package docs

import (
	"path"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// uninstall takes the product, and everything that an administrator made for it, off a plane on which it is not used. What a Configuration
// depends on goes when its revisions are gone: while one is there, Crossplane installs a dependency that is missing.
const uninstall = `
kubectl delete clusterproviderconfigs.postgresql.terdut.ryuvia.com,clusterproviderconfigs.openbao.terdut.ryuvia.com --all --timeout=2m
gone() { xargs --no-run-if-empty kubectl wait --for=delete --timeout=3m; }
kubectl delete configurations.pkg --all --timeout=2m
kubectl get configurationrevisions.pkg -o name | gone
kubectl delete functions.pkg,providers.pkg --all --timeout=2m
kubectl get functionrevisions.pkg,providerrevisions.pkg -o name | gone
kubectl get crd -o name | { grep terdut.ryuvia.com || true; } | gone
kubectl delete -f package/install/provider.yaml -f package/install/crossplane.yaml
kubectl -n crossplane-system delete secret postgresql-admin openbao-provider
kubectl delete clustersecretstore openbao
kubectl -n external-secrets delete secret openbao-token
psql -d postgres -c 'DROP DATABASE IF EXISTS terdut WITH (FORCE)' -c 'DROP OWNED BY terdut_admin' -c 'DROP ROLE terdut_admin'
`

// bare makes the plane what the cluster of a reader is who begins: Crossplane, External Secrets, PostgreSQL and OpenBao are there, and
// nothing that is the product's. It returns the registry with the packages.
func bare(t *testing.T, p *product.Product, r *reader) (registry string) {
	t.Helper()
	rewrite := &pkgv1beta1.ImageConfig{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Name: "local-registry"}, rewrite); err != nil {
		t.Fatal(err)
	}
	if said, err := r.run(t.Context(), uninstall, ""); err != nil {
		t.Fatalf("cannot make the plane bare: %v\n%s", err, said)
	}
	if err := p.Client.Delete(t.Context(), rewrite); err != nil {
		t.Fatal(err)
	}
	root := p.Plane.OpenBao.Root()
	if err := root.Sys().UnmountWithContext(t.Context(), openbao.Mount); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{product.Provider, "external-secrets"} {
		if err := root.Sys().DeletePolicyWithContext(t.Context(), policy); err != nil {
			t.Fatal(err)
		}
	}
	return path.Clean(rewrite.Spec.RewriteImage.Prefix)
}
