package main

import (
	"context"
	"errors"
	"strings"
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
	// asked counts the questions about the namespace that is gone: one is not answered, and from the fourth on there are rights.
	asked := 0
	kube := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			r := o.(*authorizationv1.SelfSubjectAccessReview)
			a := r.Spec.ResourceAttributes
			if a.Namespace == "gone" {
				asked++
			}
			if a.Namespace == "gone" && asked == 2 {
				return errors.New("the API server does not answer")
			}
			r.Status.Allowed = a.Verb == "list" && a.Resource == "secrets" && (a.Namespace == "shop" || asked > 3)
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
	if err := awaitRights(t.Context(), kube, time.Millisecond, without); err == nil || !strings.Contains(err.Error(), "rights in gone") || asked != 4 {
		t.Errorf("after %d questions the provider starts anew for: %v", asked, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := awaitRights(ctx, kube, time.Hour, without); err != nil {
		t.Errorf("the provider that is stopped says: %v", err)
	}
	asked = 1
	if _, _, err := rights(t.Context(), kube, []string{"gone"}); err == nil || !strings.Contains(err.Error(), `namespace "gone"`) {
		t.Errorf("without an answer at the start: %v", err)
	}
}
