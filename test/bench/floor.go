package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local/packages"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	namespaceFloor = "bench-floor"
	// floorPackage is a function that does nothing but show what is observed, in the folder of the same name.
	floorPackage = "function-floor"
	floorFolder  = "test/bench/floor"
	// floorRounds is how often all objects are changed.
	floorRounds = 5
)

var floorKind = schema.GroupVersionKind{Group: "bench.example.org", Version: "v1", Kind: "Floor"}

// floor measures what Crossplane and the API server alone need on this machine to tell many composites of a change that reaches all of them
// at once: composites of one ConfigMap each, a function that takes over a value of it, and no provider.
func (b *bench) floor(ctx context.Context) error {
	n := max(1, b.Contracts/sharedBy)
	progressf("Applying %d composites that only show a value.", n)
	stop, err := b.installFloor(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := b.namespace(ctx, namespaceFloor); err != nil {
		return err
	}
	objects := make([]client.Object, n)
	for i := range objects {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		u.SetGroupVersionKind(floorKind)
		u.SetNamespace(namespaceFloor)
		u.SetName(fmt.Sprintf("floor-%d", i))
		objects[i] = u
	}
	if _, _, err := b.apply(ctx, floorKind, namespaceFloor, objects); err != nil {
		return err
	}
	composed := &corev1.ConfigMapList{}
	if err := b.p.Client.List(ctx, composed, client.InNamespace(namespaceFloor)); err != nil {
		return fmt.Errorf("cannot list ConfigMaps: %w", err)
	}
	var took []time.Duration
	for round := range floorRounds {
		d, err := b.floorRound(ctx, fmt.Sprint(round), composed.Items)
		if err != nil {
			return err
		}
		took = append(took, d...)
	}
	b.table.rowf(fmt.Sprintf("floor: %d composites that only show a value, all changed at once, %d times: from the change to the composite, p50 / p95 / max", n, floorRounds),
		"%s", spread(took))
	return nil
}

// floorRound changes all ConfigMaps at once, and returns how long it took from the answer to each change until its composite shows it.
func (b *bench) floorRound(ctx context.Context, value string, composed []corev1.ConfigMap) ([]time.Duration, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(floorKind)
	w, err := b.watch.Watch(ctx, l, client.InNamespace(namespaceFloor))
	if err != nil {
		return nil, fmt.Errorf("cannot watch composites: %w", err)
	}
	defer w.Stop()

	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"data":{"value":%q}}`, value))
	answered := make([]time.Time, len(composed))
	g, gctx := errgroup.WithContext(ctx)
	owners := map[string]int{}
	for i := range composed {
		// Not every ConfigMap of a namespace is composed.
		if ref := metav1.GetControllerOf(&composed[i]); ref != nil && ref.Kind == floorKind.Kind {
			owners[ref.Name] = i
			o := composed[i].DeepCopy()
			g.Go(func() error {
				err := b.p.Client.Patch(gctx, o, patch)
				answered[i] = time.Now()
				return err
			})
		}
	}
	shown := map[int]time.Time{}
	for len(shown) < len(owners) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d composites show a change: %w", len(shown), len(owners), ctx.Err())
		case e, ok := <-w.ResultChan():
			if !ok {
				return nil, fmt.Errorf("the API server ended a watch")
			}
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				return nil, fmt.Errorf("the watch answered %T", e.Object)
			}
			i, ok := owners[u.GetName()]
			if is, _, _ := unstructured.NestedString(u.Object, "status", "value"); ok && is == value && shown[i].IsZero() {
				shown[i] = time.Now()
			}
		}
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("cannot change ConfigMap: %w", err)
	}
	var took []time.Duration
	for i, at := range shown {
		took = append(took, max(0, at.Sub(answered[i])))
	}
	return took, nil
}

// installFloor installs the function, and the kind that is composed with it. The registry that it comes from lasts until it is stopped.
func (b *bench) installFloor(ctx context.Context) (stop func(), err error) {
	root, err := toolchain.Root(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := toolchain.CacheDir()
	if err != nil {
		return nil, err
	}
	r, err := packages.Start(filepath.Join(cache, "registry"))
	if err != nil {
		return nil, err
	}
	builder := &images.Builder{Source: root, Cache: filepath.Join(cache, "images"), Platform: v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}}
	_, err = r.PushAll(ctx, builder, product.Version, []images.Package{{Name: floorPackage, Root: floorFolder, Include: []string{"crossplane.yaml"}, Main: floorFolder}})
	if err != nil {
		r.Stop()
		return nil, err
	}
	f := &pkgv1.Function{ObjectMeta: metav1.ObjectMeta{Name: floorPackage}}
	f.Spec.Package = r.Address() + "/" + floorPackage + ":" + product.Version
	err = b.p.Client.Create(ctx, f)
	if err == nil {
		err = b.p.WaitFor(ctx, "the function to be healthy", func(ctx context.Context) error {
			if err := b.p.Client.Get(ctx, client.ObjectKeyFromObject(f), f); err != nil {
				return err
			}
			if c := f.GetCondition(pkgv1.TypeHealthy); c.Status != corev1.ConditionTrue {
				return fmt.Errorf("%s %s", c.Reason, c.Message)
			}
			return nil
		})
	}
	if err == nil {
		err = b.p.ApplyFile(ctx, floorFolder+"/floor.yaml")
	}
	if err == nil {
		err = b.p.WaitFor(ctx, "the kind to be served", func(ctx context.Context) error {
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(floorKind)
			return b.p.Client.List(ctx, l)
		})
	}
	if err != nil {
		r.Stop()
		return nil, fmt.Errorf("cannot install what the floor is measured with: %w", err)
	}
	return r.Stop, nil
}
