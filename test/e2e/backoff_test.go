package e2e

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// An error that stays settles to one attempt a minute. Nothing here takes as long, so it is among the first that run in parallel.
func TestH43PermanentError(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	bao := observedBao(t, ns)
	path := "permanent/" + ns
	record := newRecord(ns, "orders", path)
	record.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "observed"}
	record.Spec.ForProvider.Mount = ptr.To("nowhere")
	create(t, record)
	becomes(t, record, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)

	// Attempts grow apart until a minute is between them. That more than 50 s pass without one shows that they have.
	const quiet = 50 * time.Second
	seen, since := len(bao.about(path)), time.Now()
	eventually(t, "attempts to be a minute apart", func(context.Context) error {
		if n := len(bao.about(path)); n != seen {
			seen, since = n, time.Now()
		}
		if time.Since(since) < quiet {
			return errors.New("there was one a moment ago")
		}
		return nil
	})
	if c := bao.about(path, append(writing, http.MethodGet)...); len(c) < 5 || len(c) > 20 {
		t.Errorf("%d calls were made, want one for each attempt", len(c))
	}
	edit(t, record, func(s *openbaov1alpha1.BaoSecret) { s.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionRetain })
}
