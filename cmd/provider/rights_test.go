package main

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestRights holds that the provider works where it may, and starts anew when it may work somewhere else.
func TestRights(t *testing.T) {
	var given atomic.Bool
	kube := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			r := o.(*authorizationv1.SelfSubjectAccessReview)
			a := r.Spec.ResourceAttributes
			r.Status.Allowed = a.Verb == "list" && a.Resource == "secrets" && (a.Namespace == "shop" || given.Load())
			return nil
		},
	}).Build()
	with, without, err := rights(t.Context(), kube, []string{"gone", "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]string{{"shop"}, {"gone"}}, [][]string{with, without}); d != "" {
		t.Errorf("with and without rights: -want, +got:\n%s", d)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := awaitRights(ctx, kube, time.Millisecond, without); err != nil {
		t.Errorf("the provider ends without a reason: %v", err)
	}
	given.Store(true)
	if err := awaitRights(t.Context(), kube, time.Millisecond, without); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("the provider does not start anew when it has got rights: %v", err)
	}
}
