package setup

import (
	"cmp"
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	gocmp "github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// TestCreated runs the runtime's own reconciler until an object is at rest, and holds what it writes: that a create begins, with the
// finalizer, before anything is created; how it ended; and what came of it.
func TestCreated(t *testing.T) {
	const begin, end, report = "begin", "annotations", "status"
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}
	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		create   []error
		lost     error // What the first tries to write annotations end with.
		passes   int   // 5 unless it is said.
		want     []string
	}{
		"Created": {
			reason: "A create is three writes.",
			create: []error{nil}, want: []string{begin, "create", end, report},
		},
		"Failed": {
			reason: "A create that failed is told at once, and so is its end.",
			create: []error{errBoom, nil}, want: []string{begin, "create", end, report, begin, "create", end, report},
		},
		"NotWrittenDown": {
			reason: "That the end of a create could not be written down is told. What the next pass finds is, too.",
			create: []error{nil}, lost: errBoom, want: []string{begin, "create", report, report},
		},
		"Outrun": {
			reason: "A pass that ends without a report takes none from the next.",
			create: []error{nil}, lost: kerrors.NewConflict(schema.GroupResource{}, "orders", errBoom), passes: 2, want: []string{begin, "create", report},
		},
		"NotAllowed": {
			reason:   "Where nothing may be created the runtime adds the finalizer by itself.",
			policies: observe, want: []string{begin, report},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var wrote []string
			exists, tries := false, 5
			mg := baoSecret(func(s *v1alpha1.BaoSecret) { s.Spec.ManagementPolicies = tc.policies })
			if tc.policies == nil {
				mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
			}
			kube := kfake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(mg).WithStatusSubresource(mg).WithInterceptorFuncs(interceptor.Funcs{
				Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
					wrote = append(wrote, begin)
					return c.Update(ctx, o, opts...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					if tries--; tc.lost != nil && tries >= 0 {
						return tc.lost
					}
					wrote = append(wrote, end)
					return c.Patch(ctx, o, p, opts...)
				},
				SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
					wrote = append(wrote, report)
					return c.SubResource(sub).Patch(ctx, o, p, opts...)
				},
			}).Build()
			stored := func() *v1alpha1.BaoSecret {
				s := &v1alpha1.BaoSecret{}
				if err := kube.Get(t.Context(), client.ObjectKeyFromObject(mg), s); err != nil {
					t.Fatal(err)
				}
				return s
			}
			inner := &managed.TypedExternalClientFns[*v1alpha1.BaoSecret]{
				ObserveFn: func(_ context.Context, s *v1alpha1.BaoSecret) (managed.ExternalObservation, error) {
					ready := xpv2.Creating()
					if exists {
						ready = xpv2.Available()
					}
					Mark(s, ready)
					return managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: true}, nil
				},
				CreateFn: func(context.Context, *v1alpha1.BaoSecret) (managed.ExternalCreation, error) {
					if s := stored(); !meta.FinalizerExists(s, managed.FinalizerName) || meta.GetExternalCreatePending(s).IsZero() {
						t.Errorf("\n%s\nsomething is created for an object with finalizers %v that does not say so", tc.reason, s.Finalizers)
					}
					wrote = append(wrote, "create")
					err := tc.create[0]
					tc.create = tc.create[1:]
					exists = err == nil
					return managed.ExternalCreation{}, err
				},
				DisconnectFn: func(context.Context) error { return nil },
			}
			made := &created{policies: true}
			c := NewClient(kube)
			r := made.pass(managed.NewReconciler(made.manager(&fake.Manager{Client: c, Scheme: scheme(t)}),
				resource.ManagedKind(v1alpha1.BaoSecretGroupVersionKind),
				managed.WithTypedExternalConnector[*v1alpha1.BaoSecret](&connector[*v1alpha1.BaoSecret]{created: made,
					TypedExternalConnector: managed.TypedExternalConnectorFn[*v1alpha1.BaoSecret](
						func(context.Context, *v1alpha1.BaoSecret) (managed.TypedExternalClient[*v1alpha1.BaoSecret], error) {
							return inner, nil
						})}),
				managed.WithInitializers(), managed.WithDeterministicExternalName(true), managed.WithCreationGracePeriod(0), managed.WithManagementPolicies(),
				managed.WithCriticalAnnotationUpdater(&annotationPatcher{client: c}),
			))
			for range cmp.Or(tc.passes, 5) {
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)}); err != nil {
					t.Fatal(err)
				}
			}
			if diff := gocmp.Diff(tc.want, wrote); diff != "" {
				t.Errorf("\n%s\nwrites: -want, +got:\n%s", tc.reason, diff)
			}
			if got := stored().GetCondition(xpv2.TypeReady); exists && got.Status != "True" {
				t.Errorf("\n%s\nReady is %q in the end", tc.reason, got.Status)
			}
		})
	}
}
