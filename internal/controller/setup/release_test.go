package setup

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// TestRelease holds when an object goes although its external system cannot be reached: only while it is deleted together with its
// namespace, and what it needs has gone before.
func TestRelease(t *testing.T) {
	missing := connect.WithReason(&connect.MissingSecretError{Secret: types.NamespacedName{Namespace: "shop", Name: "login"}}, connect.ReasonConfigNotReady)
	gone := func(s *v1alpha1.BaoSecret) { s.DeletionTimestamp = &deleted }
	cases := map[string]struct {
		reason      string
		terminating bool
		err         error
		mods        []func(*v1alpha1.BaoSecret)
		want        bool
	}{
		"Released":       {"Nobody can bring the Secret back.", true, missing, []func(*v1alpha1.BaoSecret){gone}, true},
		"NamespaceStays": {"The Secret may be made again.", false, missing, []func(*v1alpha1.BaoSecret){gone}, false},
		"NotDeleted":     {"The object is to stay.", true, missing, nil, false},
		"OtherError":     {"What failed may work the next time.", true, errBoom, []func(*v1alpha1.BaoSecret){gone}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Finalizers: []string{"kubernetes"}}}
			if tc.terminating {
				ns.DeletionTimestamp = &deleted
			}
			rec := &recorder{}
			c := &connector[*v1alpha1.BaoSecret]{
				TypedExternalConnector: managed.TypedExternalConnectorFn[*v1alpha1.BaoSecret](
					func(context.Context, *v1alpha1.BaoSecret) (managed.TypedExternalClient[*v1alpha1.BaoSecret], error) {
						return nil, tc.err
					}),
				release: &releaser{
					live: fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(ns).Build(), kind: "BaoSecret", recorder: rec, log: logging.NewNopLogger(),
				},
			}
			mods := append(slices.Clone(tc.mods), func(s *v1alpha1.BaoSecret) {
				s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: connect.KindProviderConfig, Name: "own"}
			})
			mg := baoSecret(mods...)
			e, err := c.Connect(t.Context(), mg)
			if !tc.want {
				if !errors.Is(err, tc.err) || len(rec.events) > 0 {
					t.Errorf("%s want error %v and no event, got %v and %v", tc.reason, tc.err, err, rec.events)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s got error %v", tc.reason, err)
			}
			if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
				t.Errorf("%s it is still there: %v, %v", tc.reason, o, err)
			}
			if len(rec.events) != 1 || rec.events[0].Reason != reasonReleased || rec.events[0].Type != event.TypeWarning {
				t.Errorf("%s want a warning, got %v", tc.reason, rec.events)
			}
		})
	}
}
