package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/packages"
	"github.com/ryuvia/provider-terdut/cluster/local/runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// The packages in testdata: a provider that says who it is, a function that greets, and a Configuration that depends on both.
var (
	provider      = images.Package{Name: "provider-greeter", Root: testdata("provider"), Include: []string{"crossplane.yaml", "crds"}, Main: testdata("provider")}
	function      = images.Package{Name: "function-greeter", Root: testdata("function"), Include: []string{"crossplane.yaml"}, Main: testdata("function")}
	configuration = images.Package{Name: "configuration-greeter", Root: testdata("configuration"), Include: []string{"."}}
)

func testdata(name string) string { return filepath.Join("cluster/local/runtime/testdata", name) }

// A world is everything that the test runs against.
type world struct {
	plane    *local.Plane
	registry *packages.Registry
	builder  *images.Builder
	runtime  *runtime.Runtime
	client   client.Client
}

// TestPackages installs a Configuration through Crossplane's package manager and follows what it brings through its whole life.
func TestPackages(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	w := newWorld(ctx, t)

	w.apply(ctx, t, `{apiVersion: pkg.crossplane.io/v1, kind: Configuration, metadata: {name: greeter}, spec: {package: "ghcr.io/ryuvia/configuration-greeter:v0.1.0"}}`)
	w.eventually(ctx, t, "all packages are healthy", func() error {
		for _, p := range []pkgv1.Package{
			named(&pkgv1.Configuration{}, "greeter"), named(&pkgv1.Provider{}, "ryuvia-provider-greeter"), named(&pkgv1.Function{}, "ryuvia-function-greeter"),
		} {
			if err := w.client.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
				return err
			}
			for _, ct := range []xpv2.ConditionType{pkgv1.TypeInstalled, pkgv1.TypeHealthy} {
				if c := p.GetCondition(ct); c.Status != "True" {
					return fmt.Errorf("%s: %s is %s: %s", p.GetName(), ct, c.Status, c.Message)
				}
			}
		}
		return nil
	})

	t.Run("ProviderIsItsServiceAccount", func(t *testing.T) {
		i := w.instance(t, "provider-greeter")
		want := "user=system:serviceaccount:crossplane-system:provider-greeter namespace=crossplane-system args=[--debug]\n"
		w.eventually(ctx, t, "the provider said who it is", func() error {
			got, err := os.ReadFile(i.LogFile)
			if err == nil && string(got) != want {
				err = fmt.Errorf("want log %q, got %q", want, got)
			}
			return err
		})
	})
	t.Run("KindIsActivated", func(t *testing.T) {
		w.eventually(ctx, t, "the kind of the safe-start provider is served", func() error {
			l := &unstructured.UnstructuredList{}
			l.SetAPIVersion("door.greeter.example.org/v1alpha1")
			l.SetKind("MatList")
			return w.client.List(ctx, l)
		})
	})
	t.Run("FunctionIsCalled", func(t *testing.T) { w.greet(ctx, t, "called") })
	t.Run("FunctionComesBackAfterCrash", func(t *testing.T) {
		if err := w.runtime.Kill("function-greeter"); err != nil {
			t.Fatalf("Kill(...): %v", err)
		}
		w.greet(ctx, t, "crashed")
	})
	t.Run("ProviderRestarts", func(t *testing.T) {
		before := w.instance(t, "provider-greeter").PID
		if err := w.runtime.Restart(ctx, "provider-greeter"); err != nil {
			t.Fatalf("Restart(...): %v", err)
		}
		if after := w.instance(t, "provider-greeter").PID; after == before {
			t.Errorf("Restart(...): process %d is still the same", after)
		}
	})
	t.Run("CrossplaneRestarts", func(t *testing.T) {
		if err := w.plane.RestartCrossplane(ctx); err != nil {
			t.Fatalf("RestartCrossplane(...): %v", err)
		}
		w.greet(ctx, t, "restarted")
	})
	t.Run("FunctionIsUpgraded", func(t *testing.T) {
		before := w.instance(t, "function-greeter")
		img, err := w.builder.Build(ctx, function)
		if err != nil {
			t.Fatalf("Build(...): %v", err)
		}
		newer, err := mutate.CreatedAt(img, v1.Time{Time: time.Unix(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		ref, err := w.registry.Push(ctx, "function-greeter", "v0.2.0", newer)
		if err != nil {
			t.Fatalf("Push(...): %v", err)
		}
		f := &unstructured.Unstructured{}
		f.SetAPIVersion("pkg.crossplane.io/v1")
		f.SetKind("Function")
		f.SetName("ryuvia-function-greeter")
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"package":%q}}`, ref))
		if err := w.client.Patch(ctx, f, patch); err != nil {
			t.Fatalf("cannot upgrade function: %v", err)
		}
		w.eventually(ctx, t, "only the new revision runs", func() error {
			var got []runtime.Instance
			for _, i := range w.runtime.Instances() {
				if i.Package == "function-greeter" {
					got = append(got, i)
				}
			}
			if len(got) != 1 || got[0].Revision == before.Revision {
				return fmt.Errorf("running: %v", got)
			}
			return nil
		})
		w.greet(ctx, t, "upgraded")
	})
	t.Run("DeletedProviderStops", func(t *testing.T) {
		if err := w.client.Delete(ctx, named(&pkgv1.Configuration{}, "greeter")); err != nil {
			t.Fatal(err)
		}
		if err := w.client.Delete(ctx, named(&pkgv1.Provider{}, "ryuvia-provider-greeter")); err != nil {
			t.Fatal(err)
		}
		w.eventually(ctx, t, "the provider does not run", func() error {
			for _, i := range w.runtime.Instances() {
				if i.Package == "provider-greeter" {
					return fmt.Errorf("running: %v", i)
				}
			}
			return nil
		})
	})
	t.Run("StopLeavesNothing", func(t *testing.T) {
		i := w.instance(t, "function-greeter")
		w.runtime.Stop()
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", i.PID)); !os.IsNotExist(err) {
			t.Errorf("Stop(): process %d is still there", i.PID)
		}
	})
}

// newWorld starts a plane, a registry with the packages of testdata, and a package runtime.
func newWorld(ctx context.Context, t *testing.T) *world {
	t.Helper()
	plane, err := local.Start(ctx, local.Options{})
	if err != nil {
		t.Fatalf("cannot start control plane: %v", err)
	}
	t.Cleanup(plane.Stop)
	registry, err := packages.Start(filepath.Join(plane.Dir, "registry"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(registry.Stop)

	b := &images.Builder{Source: filepath.Join("..", "..", ".."), Cache: t.TempDir(), Platform: v1.Platform{OS: "linux", Architecture: goruntime.GOARCH}}
	if _, err := registry.PushAll(ctx, b, "v0.1.0", []images.Package{provider, function, configuration}); err != nil {
		t.Fatal(err)
	}
	scheme := kruntime.NewScheme()
	if err := pkgv1.SchemeBuilder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cl, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{plane: plane, registry: registry, builder: b, client: cl}
	rewrite, err := yaml.Marshal(registry.Rewrite())
	if err != nil {
		t.Fatal(err)
	}
	w.apply(ctx, t, string(rewrite))
	w.apply(ctx, t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: provider-greeter, namespace: crossplane-system}}`)

	w.runtime, err = runtime.Start(ctx, runtime.Options{
		Config: plane.Config(), Namespace: local.SystemNamespace, Dir: filepath.Join(plane.Dir, "packages"), Logs: plane.Logs,
		ProviderKubeconfig: func(ctx context.Context, pkg string) (string, error) {
			return plane.ServiceAccountKubeconfig(ctx, local.SystemNamespace, pkg)
		},
		Packages: map[string]runtime.Package{"provider-greeter": {Args: []string{"--debug"}}},
	})
	if err != nil {
		t.Fatalf("Start(...): %v", err)
	}
	t.Cleanup(w.runtime.Stop)
	return w
}

// greet makes a composite resource and waits for what the function says.
func (w *world) greet(ctx context.Context, t *testing.T, who string) {
	t.Helper()
	w.apply(ctx, t, fmt.Sprintf(`{apiVersion: greeter.example.org/v1alpha1, kind: Greeting, metadata: {name: %s, namespace: default}, spec: {name: %s}}`, who, who))
	w.eventually(ctx, t, "the function answers", func() error {
		xr := &unstructured.Unstructured{}
		xr.SetAPIVersion("greeter.example.org/v1alpha1")
		xr.SetKind("Greeting")
		if err := w.client.Get(ctx, client.ObjectKey{Namespace: "default", Name: who}, xr); err != nil {
			return err
		}
		if got, _, _ := unstructured.NestedString(xr.Object, "status", "greeting"); got != "hello "+who {
			return fmt.Errorf("greeting is %q, status %v", got, xr.Object["status"])
		}
		return nil
	})
}

// instance of a package that must be running.
func (w *world) instance(t *testing.T, pkg string) runtime.Instance {
	t.Helper()
	for _, i := range w.runtime.Instances() {
		if i.Package == pkg {
			return i
		}
	}
	t.Fatalf("package %q is not running", pkg)
	return runtime.Instance{}
}

func (w *world) apply(ctx context.Context, t *testing.T, documents string) {
	t.Helper()
	if err := w.plane.Apply(ctx, []byte(documents)); err != nil {
		t.Fatalf("Apply(...): %v", err)
	}
}

// eventually waits for a condition, for a minute at most.
func (w *world) eventually(ctx context.Context, t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited for this: %s, see %s: %v", what, w.plane.Logs, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func named[T client.Object](o T, name string) T {
	o.SetName(name)
	return o
}
