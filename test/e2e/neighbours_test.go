package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

var httpRoute = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}

// neighbour installs a CustomResourceDefinition of somebody else, as their module has it.
func neighbour(t *testing.T, module string, file ...string) {
	t.Helper()
	dir, err := toolchain.ModuleDir(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(append([]string{dir}, file...)...))
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(b, &crd.Object); err != nil {
		t.Fatal(err)
	}
	create(t, crd)
	t.Cleanup(func() {
		if err := p.Client.Delete(context.Background(), crd); client.IgnoreNotFound(err) != nil {
			t.Errorf("cannot delete CustomResourceDefinition %q: %v", crd.GetName(), err)
			return
		}
		eventually(t, crd.GetName()+" to be gone", func(ctx context.Context) error {
			return gone(ctx, &extv1.CustomResourceDefinition{}, types.NamespacedName{Name: crd.GetName()})
		})
	})
	eventually(t, crd.GetName()+" to be served", func(ctx context.Context) error {
		is := &extv1.CustomResourceDefinition{}
		if err := p.Client.Get(ctx, types.NamespacedName{Name: crd.GetName()}, is); err != nil {
			return err
		}
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(schema.GroupVersionKind{Group: is.Spec.Group, Version: is.Spec.Versions[0].Name, Kind: is.Spec.Names.ListKind})
		return p.Client.List(ctx, l, client.Limit(1))
	})
}

// reports the status of an object, as its controller does.
func reports(t *testing.T, gvk schema.GroupVersionKind, ns, name string, status map[string]any) {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	eventually(t, gvk.Kind+" to take a status", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: name}, u); err != nil {
			return err
		}
		u.Object["status"] = status
		return p.Client.Status().Update(ctx, u)
	})
}

// TestDatabaseClusters puts on-call servers on clusters of the two operators, whose definitions are the real ones. The operators themselves
// are not there: what they would report, and the Secret that they would make, is written here.
func TestDatabaseClusters(t *testing.T) {
	t.Parallel()
	neighbour(t, toolchain.ZalandoModule, "manifests", "postgresql.crd.yaml")
	neighbour(t, toolchain.CloudNativePGModule, "config", "crd", "bases", "postgresql.cnpg.io_clusters.yaml")
	for name, tc := range map[string]struct {
		gvk    schema.GroupVersionKind
		spec   map[string]any
		ready  map[string]any
		secret string
		dsn    string // Of the namespace.
	}{
		"Zalando": {
			gvk: schema.GroupVersionKind{Group: "acid.zalan.do", Version: "v1", Kind: "postgresql"},
			spec: map[string]any{
				"teamId": "acid", "numberOfInstances": int64(2), "volume": map[string]any{"size": "1Gi"}, "postgresql": map[string]any{"version": "17"},
				"databases": map[string]any{"oncall": "on_call"}, "users": map[string]any{"on_call": []any{}},
			},
			ready:  map[string]any{"PostgresClusterStatus": "Running"},
			secret: "on-call.acid-pg.credentials.postgresql.acid.zalan.do",
			dsn:    "postgres://on_call@acid-pg.%s.svc:5432/oncall?sslmode=require",
		},
		"CloudNativePG": {
			gvk:  schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"},
			spec: map[string]any{"instances": int64(2), "storage": map[string]any{"size": "1Gi"}},
			ready: map[string]any{"conditions": []any{map[string]any{
				"type": "Ready", "status": "True", "reason": "ClusterIsReady", "message": "", "lastTransitionTime": "2026-11-30T10:00:00Z",
			}}},
			secret: "acid-pg-app",
			dsn:    "postgres://app@acid-pg-rw.%s.svc:5432/app?sslmode=require",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			c := &unstructured.Unstructured{Object: map[string]any{"spec": tc.spec}}
			c.SetGroupVersionKind(tc.gvk)
			c.SetNamespace(ns)
			c.SetName("acid-pg")
			create(t, c)
			create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: tc.secret}, StringData: map[string]string{"password": "theirs"}})
			u := serverWith(ns, map[string]any{
				"database": map[string]any{"postgresClusterRef": map[string]any{"kind": tc.gvk.Kind, "name": "acid-pg"}},
			})
			create(t, u)
			serverSays(t, ns, "DatabaseReady", "False", "Waiting")

			reports(t, tc.gvk, ns, "acid-pg", tc.ready)
			serverSays(t, ns, "DatabaseReady", "True", "Available")
			hasDeployment(t, ns)
			got := map[string]string{}
			for _, e := range deploymentOf(t, ns).Spec.Template.Spec.Containers[0].Env {
				switch {
				case e.Name == "TERDUT_DATABASE_DSN":
					got[e.Name] = e.Value
				case e.Name == "PGPASSWORD" && e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil:
					got[e.Name] = e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
				}
			}
			want := map[string]string{"TERDUT_DATABASE_DSN": fmt.Sprintf(tc.dsn, ns), "PGPASSWORD": tc.secret + "/password"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// TestHTTPRoute leads a host name to an on-call server, through the Gateway API's own definition of a route. There is no Gateway: what it would
// report is written here.
func TestHTTPRoute(t *testing.T) {
	t.Parallel()
	neighbour(t, toolchain.GatewayAPIModule, "config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml")
	ns := namespace(t)
	create(t, serverWith(ns, map[string]any{
		"database":   map[string]any{"dsn": "postgres://nobody@127.0.0.1/none"},
		"env":        []any{map[string]any{"name": "TERDUT_DATABASE_DSN", "value": ""}},
		"networking": map[string]any{"hostname": "oncall.example.org", "gatewayListener": "gateways/public/https"},
	}))
	route := &unstructured.Unstructured{}
	eventually(t, "the route", func(ctx context.Context) error {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(httpRoute)
		if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(l.Items) != 1 {
			return fmt.Errorf("there are %d", len(l.Items))
		}
		route = &l.Items[0]
		return nil
	})
	serverSays(t, ns, "ServerReady", "False", "Waiting")
	says := func(resolved, reason string) map[string]any {
		parents, _, _ := unstructured.NestedSlice(route.Object, "spec", "parentRefs")
		said := func(kind, status, reason string) any {
			return map[string]any{
				"type": kind, "status": status, "reason": reason, "message": "", "observedGeneration": route.GetGeneration(), "lastTransitionTime": "2026-11-30T10:00:00Z",
			}
		}
		return map[string]any{"parents": []any{map[string]any{
			"parentRef": parents[0], "controllerName": "example.org/gateway",
			"conditions": []any{said("Accepted", "True", "Accepted"), said("ResolvedRefs", resolved, reason)},
		}}}
	}
	reports(t, httpRoute, ns, route.GetName(), says("False", "BackendNotFound"))
	serverSays(t, ns, "ServerReady", "False", "RouteRejected")
	reports(t, httpRoute, ns, route.GetName(), says("True", "ResolvedRefs"))
	onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")

	// What the API server fills in is no difference that is written again and again.
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(route), route); err != nil || route.GetGeneration() != 1 {
		t.Errorf("the route is of generation %d (%v)", route.GetGeneration(), err)
	}
	hosts, _, _ := unstructured.NestedStringSlice(route.Object, "spec", "hostnames")
	if diff := cmp.Diff([]string{"oncall.example.org"}, hosts); diff != "" {
		t.Errorf("hostnames: -want, +got:\n%s", diff)
	}
}

// hasDeployment waits until there is one.
func hasDeployment(t *testing.T, ns string) {
	t.Helper()
	eventually(t, "the Deployment", func(ctx context.Context) error {
		l := &appsv1.DeploymentList{}
		if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(l.Items) != 1 {
			return fmt.Errorf("there are %d", len(l.Items))
		}
		return nil
	})
}
