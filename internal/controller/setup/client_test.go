package setup

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// TestNewClientKeepsStatus holds that a write of an object does not replace the status that the caller has by the server's.
func TestNewClientKeepsStatus(t *testing.T) {
	ctx := context.Background()
	cases := map[string]struct {
		reason string
		write  func(client.Client, *v1alpha1.BaoSecret) error
	}{
		"Update": {
			reason: "An update is answered with the server's status.",
			write:  func(c client.Client, o *v1alpha1.BaoSecret) error { return c.Update(ctx, o) },
		},
		"Patch": {
			reason: "A patch is answered with the server's status.",
			write: func(c client.Client, o *v1alpha1.BaoSecret) error {
				return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"l":"v"}}}`)))
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stored := baoSecret(func(s *v1alpha1.BaoSecret) { s.Status.AtProvider.Version = 1 })
			inner := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(stored).WithStatusSubresource(stored).Build()

			o := &v1alpha1.BaoSecret{}
			if err := inner.Get(ctx, client.ObjectKeyFromObject(stored), o); err != nil {
				t.Fatal(err)
			}
			before := o.ResourceVersion
			o.Labels = map[string]string{"l": "v"}
			o.Status.AtProvider.Version = 2
			o.Status.ObservedGeneration = 7
			want := *o.Status.DeepCopy()
			if err := tc.write(NewClient(inner), o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, o.Status); diff != "" {
				t.Errorf("\n%s\nstatus: -want, +got:\n%s", tc.reason, diff)
			}
			if o.ResourceVersion == before || o.Labels["l"] != "v" {
				t.Errorf("\n%s\nthe rest of the server's answer must get to the caller", tc.reason)
			}
		})
	}
}

// TestNewClientPassesOn holds that errors, and objects without a status, go through.
func TestNewClientPassesOn(t *testing.T) {
	mock := &test.MockClient{MockUpdate: test.NewMockUpdateFn(nil), MockPatch: test.NewMockPatchFn(errBoom)}
	if err := NewClient(mock).Update(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Errorf("Update(...) of an object without status: %v", err)
	}
	if err := NewClient(mock).Patch(t.Context(), baoSecret(), client.MergeFrom(baoSecret())); !errors.Is(err, errBoom) {
		t.Errorf("Patch(...): want errBoom, got %v", err)
	}
}

// TestNewClientStatusUpdate holds that an update of the status is sent when it is news, and only then.
func TestNewClientStatusUpdate(t *testing.T) {
	ready := func(s *v1alpha1.BaoSecret) {
		s.ResourceVersion = "5"
		c := NotReady("Because", "of this")
		c.LastTransitionTime = deleted
		s.SetConditions(c)
		s.Status.AtProvider.Version = 3
	}
	// This is how a client that does not read from a cache fills in an object: what is absent stays as it was.
	get := func(cached *v1alpha1.BaoSecret) test.MockGetFn {
		return func(_ context.Context, _ client.ObjectKey, o client.Object) error {
			b, err := json.Marshal(cached)
			if err != nil {
				return err
			}
			return json.Unmarshal(b, o)
		}
	}
	cases := map[string]struct {
		reason string
		get    test.MockGetFn
		mod    func(*v1alpha1.BaoSecret)
		want   int
	}{
		"Unchanged": {
			reason: "What the API server has need not be written.",
			get:    get(baoSecret(ready)),
			want:   0,
		},
		"SameConditionLater": {
			reason: "A condition that is reported again keeps its time, so nothing changed.",
			get:    get(baoSecret(ready)),
			mod:    func(s *v1alpha1.BaoSecret) { s.SetConditions(NotReady("Because", "of this")) },
			want:   0,
		},
		"Changed": {
			reason: "Another status is written.",
			get:    get(baoSecret(ready)),
			mod:    func(s *v1alpha1.BaoSecret) { s.Status.AtProvider.Version = 4 },
			want:   1,
		},
		"New": {
			reason: "A status where the API server has none is written, also by a client that decodes into what it is given.",
			get:    get(baoSecret(func(s *v1alpha1.BaoSecret) { s.ResourceVersion = "5" })),
			want:   1,
		},
		"StaleCaller": {
			reason: "Another version of the object may have another status by now.",
			get:    get(baoSecret(ready, func(s *v1alpha1.BaoSecret) { s.ResourceVersion = "6" })),
			want:   1,
		},
		"OtherObject": {
			reason: "An object of the same name that is another one says nothing about this one.",
			get:    get(baoSecret(ready, func(s *v1alpha1.BaoSecret) { s.UID = "other" })),
			want:   1,
		},
		"CannotGet": {
			reason: "Without knowing what the API server has the status is written.",
			get:    test.NewMockGetFn(errBoom),
			want:   1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sent := 0
			mock := &test.MockClient{
				MockGet: tc.get,
				MockStatusPatch: func(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
					sent++
					return errBoom
				},
			}
			o := baoSecret(ready)
			if tc.mod != nil {
				tc.mod(o)
			}
			err := NewClient(mock).Status().Update(t.Context(), o)
			if sent != tc.want || errors.Is(err, errBoom) != (tc.want > 0) {
				t.Errorf("\n%s\nwant %d writes, got %d and error %v", tc.reason, tc.want, sent, err)
			}
		})
	}
}

// TestNewClientStatusWrite holds that the status gets through although somebody else changed the object meanwhile, that nothing else is
// written, and that an object which was made anew under the same name is left alone.
func TestNewClientStatusWrite(t *testing.T) {
	ctx := t.Context()
	stored := baoSecret(func(s *v1alpha1.BaoSecret) { s.Status.AtProvider.Path = "old" })
	kube := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(stored).WithStatusSubresource(stored).Build()
	c := NewClient(kube)
	get := func() *v1alpha1.BaoSecret {
		t.Helper()
		o := &v1alpha1.BaoSecret{}
		if err := kube.Get(ctx, client.ObjectKeyFromObject(stored), o); err != nil {
			t.Fatal(err)
		}
		return o
	}

	o := get()
	theirs := get()
	theirs.Spec.ForProvider.Path = "theirs"
	if err := kube.Update(ctx, theirs); err != nil {
		t.Fatal(err)
	}
	o.Spec.ForProvider.Path = "never written"
	o.Status.AtProvider = v1alpha1.BaoSecretObservation{Version: 2}
	want := *o.Status.DeepCopy()
	if err := c.Status().Update(ctx, o); err != nil {
		t.Fatal(err)
	}
	got := get()
	if diff := cmp.Diff(want, got.Status); diff != "" {
		t.Errorf("status: -want, +got:\n%s", diff)
	}
	if got.Spec.ForProvider.Path != "theirs" {
		t.Error("a write of the status changed the spec")
	}

	anew := got.DeepCopy()
	anew.UID = "another"
	anew.Status.AtProvider.Version = 3
	if err := c.Status().Update(ctx, anew); err == nil || get().Status.AtProvider.Version != 2 {
		t.Errorf("another object's status was written: %v", err)
	}
}

// TestNewClientStale holds that the status of an object that is gone, or is another one now, is a conflict: the reconciler looks again and
// nothing is an error. A status that the API server refuses is one.
func TestNewClientStale(t *testing.T) {
	kind := schema.GroupKind{Kind: "BaoSecret"}
	cases := map[string]struct {
		reason   string
		err      error
		conflict bool
	}{
		"Gone":    {"There is nobody to report to.", kerrors.NewNotFound(schema.GroupResource{}, "orders"), true},
		"Another": {"The test of the uid failed.", kerrors.NewGenericServerResponse(422, "", schema.GroupResource{}, "", "test failed", 0, false), true},
		"Refused": {"The status is invalid.", kerrors.NewInvalid(kind, "orders", field.ErrorList{field.Required(field.NewPath("status"), "")}), false},
		"Other":   {"Anything else is passed on.", errBoom, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mock := &test.MockClient{MockGet: test.NewMockGetFn(errBoom), MockStatusPatch: test.NewMockSubResourcePatchFn(tc.err)}
			err := NewClient(mock).Status().Update(t.Context(), baoSecret())
			if kerrors.IsConflict(err) != tc.conflict || !tc.conflict && !errors.Is(err, tc.err) {
				t.Errorf("%s want a conflict: %t, got %v", tc.reason, tc.conflict, err)
			}
		})
	}
}
