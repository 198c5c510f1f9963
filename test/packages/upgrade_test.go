package packages

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// workload consumes the Secret of the example's Tenant.
const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: shop, name: orders}
spec:
  selector: {matchLabels: {app: orders}}
  template:
    metadata: {labels: {app: orders}}
    spec:
      containers:
      - name: app
        image: registry.example.org/orders:1
        envFrom: [{secretRef: {name: orders-db}}]
`

// TestLife is the life of the packages: they are upgraded, and then taken away.
func TestLife(t *testing.T) {
	t.Run("Upgrade", upgrade)
	t.Run("Uninstall", func(t *testing.T) { uninstall(t, product.FlavourComposites) })
	t.Run("UninstallClaims", func(t *testing.T) { uninstall(t, product.FlavourClaims) })
}

// upgrade lets the packages of today take over from those with which the Tenant first worked, under one object of every kind that there
// was; go back; and take over again. Nothing may be made anew, changed or restarted by that, and what came with today's packages outlives the
// way back.
func upgrade(t *testing.T) {
	for _, f := range []string{"tenant/namespace.yaml", "tenant/tenant.yaml", "baosecret/baosecret.yaml", "pgdatabase/pgdatabase.yaml"} {
		manifest, err := os.ReadFile(filepath.Join(then.Dir, "examples", filepath.FromSlash(f)))
		if err != nil {
			t.Fatal(err)
		}
		apply(t, "%s", manifest)
	}
	applyTenant(t, "shop", "carts", "Delete")
	live := []*unstructured.Unstructured{
		tenant("shop", "orders"), tenant("shop", "carts"),
		object(openbaov1alpha1.BaoSecretGroupVersionKind, "shop", "invoices"), object(postgresqlv1alpha1.PGDatabaseGroupVersionKind, "shop", "invoices"),
	}
	isReady(t, live...)
	apply(t, workload)
	eventually(t, "the workload to have a Pod", func(ctx context.Context) error {
		pods := &corev1.PodList{}
		if err := p.Client.List(ctx, pods, client.InNamespace("shop")); err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return errNot
		}
		return nil
	})
	secret := secretData(t, "shop", "orders-db")
	store(t, secret)

	before := shop(t)
	install(t, now)
	settled(t, live...)
	same(t, "the upgrade", before, shop(t))
	stored(t, secret)

	// What is new works, on what is old.
	apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: Tenant\nmetadata: {namespace: shop, name: orders}\nspec: {extensions: [{name: pgcrypto}, {name: hstore}]}")
	apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: SecretContract\nmetadata: {namespace: shop, name: orders}\nspec: {secretRef: {name: orders-db}, requiredKeys: [{name: uri}]}")
	contract := object(terdutv1alpha1.SecretContractGroupVersionKind, "shop", "orders")
	isReady(t, append(live, contract)...)
	uid := contract.GetUID()
	same(t, "another extension", before, shop(t))

	// The older packages do not find what the newer ones note about a rotation, and rotate what has a trigger once more.
	rotated := []string{"row of role shop_invoices", "version of record apps/shop/invoices", "versions of record apps/shop/invoices"}
	install(t, then)
	settled(t, live...)
	same(t, "the way back", before, shop(t), rotated...)
	stored(t, secret)

	install(t, now)
	settled(t, append(live, contract)...)
	same(t, "the second upgrade", before, shop(t), rotated...)
	stored(t, secret)
	if contract.GetUID() != uid {
		t.Error("the SecretContract was made anew")
	}
}

// shop is what there is for the objects of the test.
func shop(t *testing.T) facts {
	t.Helper()
	f := objects(t, "shop")
	for database, path := range map[string]string{
		"shop_orders": "tenants/shop/orders", "shop_carts": "tenants/shop/carts", "shop_invoices": "apps/shop/invoices",
	} {
		maps.Copy(f, outside(t, database, path))
	}
	return f
}

// same fails when something is not what it was, but for some places. Only its place is told.
func same(t *testing.T, what string, before, after facts, but ...string) {
	t.Helper()
	if len(before) == 0 {
		t.Fatal("nothing was there to be compared")
	}
	for _, place := range before.changes(after) {
		if !slices.Contains(but, place) {
			t.Errorf("%s: not as before: %s", what, place)
		}
	}
}

func install(t *testing.T, s product.Source) {
	t.Helper()
	if err := p.Install(t.Context(), s); err != nil {
		t.Fatalf("cannot install %s: %v", s.Version, err)
	}
}

// settled waits until the programs that run now have looked at everything more than once, and objects are Ready by that. Crossplane shows a
// function what is Ready every few minutes, or when something about it changes.
func settled(t *testing.T, objects ...*unstructured.Unstructured) {
	t.Helper()
	const looks = 8 // Of two to three objects of a kind.
	for _, controller := range []string{"managed/pgdatabase.postgresql.terdut.ryuvia.com", "managed/baosecret.openbao.terdut.ryuvia.com"} {
		counted(t, product.Provider, "controller_runtime_reconcile_total", "controller", controller, looks)
	}
	for _, u := range objects {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.org/looked-at":%q}}}`, rand.Text())
		if err := p.Client.Patch(t.Context(), u.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
	}
	counted(t, product.FunctionTenant, "grpc_server_handled_total", "grpc_method", "RunFunction", 2)
	isReady(t, objects...)
}

// counted waits until a counter of a package's program has reached a number.
func counted(t *testing.T, pkg, series, label, value string, n float64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s of %s to be %v for %s", series, pkg, n, value), func(ctx context.Context) error {
		for _, i := range p.Runtime.Instances() {
			if i.Package != pkg {
				continue
			}
			sum, err := counter(ctx, "http://"+i.MetricsAddress+"/metrics", series, label, value)
			if err != nil {
				return err
			}
			if sum < n {
				return fmt.Errorf("it is %v", sum)
			}
			return nil
		}
		return errNot
	})
}

// counter is the sum of a counter over all series that have a label's value.
func counter(ctx context.Context, url, name, label, value string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer rsp.Body.Close() // Only read.
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(rsp.Body, 16<<20))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, m := range families[name].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label && l.GetValue() == value {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum, nil
}
