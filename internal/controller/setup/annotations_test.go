package setup

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// ours is an annotation of the runtime's.
const ours = "crossplane.io/external-create-succeeded"

// TestSetExternalName holds that a name is written at once only where no other write of the same pass carries it.
func TestSetExternalName(t *testing.T) {
	with := func(finalizer, name string) *v1alpha1.BaoSecret {
		return baoSecret(func(s *v1alpha1.BaoSecret) {
			s.Finalizers = []string{finalizer}
			meta.SetExternalName(s, name)
		})
	}
	going := with(managed.FinalizerName, "old")
	going.DeletionTimestamp = &deleted
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.BaoSecret
		writes int
		name   string
	}{
		"New":     {"The finalizer is still to come, and brings the name along.", with("other", ""), 0, "new"},
		"Known":   {"Nothing else would be written.", with(managed.FinalizerName, "old"), 1, "new"},
		"Same":    {"There is nothing to say.", with(managed.FinalizerName, "new"), 0, "new"},
		"Deleted": {"What goes keeps the name that it has.", going, 0, "old"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			writes := 0
			kube := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(tc.mg.DeepCopy()).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					writes++
					return c.Patch(ctx, o, p, opts...)
				},
			}).Build()
			mg := &v1alpha1.BaoSecret{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tc.mg), mg); err != nil {
				t.Fatal(err)
			}
			if err := SetExternalName(t.Context(), kube, mg, "new"); err != nil {
				t.Fatal(err)
			}
			if got := meta.GetExternalName(mg); got != tc.name || writes != tc.writes {
				t.Errorf("\n%s\nSetExternalName(...): got name %q after %d writes, want %q after %d", tc.reason, got, writes, tc.name, tc.writes)
			}
		})
	}
}

// TestAnnotationPatch holds that annotations are written whatever others did to the object meanwhile, and nothing else.
func TestAnnotationPatch(t *testing.T) {
	ctx := context.Background()
	stored := baoSecret(func(s *v1alpha1.BaoSecret) {
		s.Annotations = map[string]string{"theirs": "kept"}
		s.Spec.ForProvider.Path = "a"
	})
	var body map[string]any
	kube := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(stored).WithStatusSubresource(stored).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				b, err := p.Data(o)
				if err != nil {
					return err
				}
				if err := json.Unmarshal(b, &body); err != nil {
					return err
				}
				return c.Patch(ctx, o, p, opts...)
			},
		}).Build()

	o := &v1alpha1.BaoSecret{}
	if err := kube.Get(ctx, client.ObjectKeyFromObject(stored), o); err != nil {
		t.Fatal(err)
	}
	// Somebody else changes the object that the caller works on.
	other := o.DeepCopy()
	other.Generation = 8
	other.Labels = map[string]string{"l": "v"}
	other.Spec.ForProvider.Path = "b"
	if err := kube.Update(ctx, other); err != nil {
		t.Fatal(err)
	}

	o.Annotations[ours] = "new"
	o.Status.AtProvider.Version = 9
	want := o.DeepCopy()
	if err := (&annotationPatcher{client: NewClient(kube)}).UpdateCriticalAnnotations(ctx, o); err != nil {
		t.Fatal(err)
	}

	wantBody := map[string]any{"metadata": map[string]any{"annotations": map[string]any{ours: "new"}}}
	if diff := cmp.Diff(wantBody, body); diff != "" {
		t.Errorf("patch: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, o, cmpopts.IgnoreFields(v1alpha1.BaoSecret{}, "ResourceVersion")); diff != "" {
		t.Errorf("the caller's object must stay as it is: -want, +got:\n%s", diff)
	}
	got := &v1alpha1.BaoSecret{}
	if err := kube.Get(ctx, client.ObjectKeyFromObject(stored), got); err != nil {
		t.Fatal(err)
	}
	if got.Spec.ForProvider.Path != "b" || got.Labels["l"] != "v" || got.Annotations[ours] != "new" || got.Annotations["theirs"] != "kept" {
		t.Errorf("another writer's change was lost, or the annotation was not written: %v %v", got.Labels, got.Annotations)
	}
	if o.ResourceVersion != got.ResourceVersion {
		t.Error("the caller must know the version that the patch made, or its next status update is a conflict")
	}
}

// TestAnnotationPatchRetries holds that annotations are tried again after errors, but not when time is up.
func TestAnnotationPatchRetries(t *testing.T) {
	cases := map[string]struct {
		reason string
		errs   []error
		want   error
		tries  int
	}{
		"Passing": {
			reason: "An error that passes is no error.",
			errs:   []error{errBoom, errBoom},
			want:   nil,
			tries:  3,
		},
		"Staying": {
			reason: "An error that stays is returned in the end.",
			errs:   []error{errBoom, errBoom, errBoom, errBoom, errBoom, errBoom, errBoom},
			want:   errBoom,
			tries:  retry.DefaultRetry.Steps,
		},
		"Canceled": {
			reason: "When the reconcile is over nothing is tried again.",
			errs:   []error{context.Canceled, errBoom},
			want:   context.Canceled,
			tries:  1,
		},
		"TimeUp": {
			reason: "When the reconcile's time is up nothing is tried again.",
			errs:   []error{context.DeadlineExceeded, errBoom},
			want:   context.DeadlineExceeded,
			tries:  1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stored, tries := baoSecret(), 0
			kube := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(stored).
				WithInterceptorFuncs(interceptor.Funcs{
					Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
						if tries++; tries <= len(tc.errs) {
							return tc.errs[tries-1]
						}
						return c.Patch(ctx, o, p, opts...)
					},
				}).Build()
			err := (&annotationPatcher{client: kube}).UpdateCriticalAnnotations(t.Context(), stored.DeepCopy())
			if !errors.Is(err, tc.want) || tries != tc.tries {
				t.Errorf("\n%s\nwant error %v after %d tries, got %v after %d", tc.reason, tc.want, tc.tries, err, tries)
			}
		})
	}
}
