package setup

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// TestGone holds that an object lets go as soon as its external resource has gone, however often it had to wait before, and that waiting
// is not made a busy loop.
func TestGone(t *testing.T) {
	again := reconcile.Result{Requeue: true} // What the runtime answers after a Delete.
	type want struct {
		result reconcile.Result
		err    error
	}
	cases := map[string]struct {
		reason  string
		left    bool
		del     error
		observe error
		want    want
	}{
		"Gone":      {reason: "The finalizer goes at once.", want: want{result: reconcile.Result{RequeueAfter: afterGone}}},
		"Waiting":   {reason: "A Delete that did nothing backs off as the runtime says.", left: true, want: want{result: again}},
		"Failed":    {reason: "A failure backs off.", del: errBoom, want: want{err: errBoom}},
		"CannotSee": {reason: "What cannot be seen has not gone.", observe: errBoom, want: want{result: again}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg, went := baoSecret(), &gone{}
			e := &external[*v1alpha1.BaoSecret]{gone: went, TypedExternalClient: &managed.TypedExternalClientFns[*v1alpha1.BaoSecret]{
				ObserveFn: func(_ context.Context, seen *v1alpha1.BaoSecret) (managed.ExternalObservation, error) {
					if seen == mg {
						t.Error("the look after a Delete must not change what is shown")
					}
					return managed.ExternalObservation{ResourceExists: tc.left}, tc.observe
				},
				DeleteFn: func(context.Context, *v1alpha1.BaoSecret) (managed.ExternalDelete, error) {
					return managed.ExternalDelete{}, tc.del
				},
			}}
			r := went.soon(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				if _, err := e.Delete(ctx, mg); err != nil {
					return reconcile.Result{}, err
				}
				return again, nil
			}))
			got, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)})
			if diff := cmp.Diff(tc.want.result, got); diff != "" || !errors.Is(err, tc.want.err) {
				t.Errorf("\n%s\nerror %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if went.take(client.ObjectKeyFromObject(mg)) {
				t.Errorf("\n%s\na mark must not outlive its pass", tc.reason)
			}
		})
	}
}
