package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// deletionsEnv is the variable that says how many namespaces of a TerdutServer are deleted.
const deletionsEnv = "TERDUT_E2E_DELETIONS"

// moments of a TerdutServer's creation at which its namespace is deleted, the last of them when it is Ready.
var moments = []schema.GroupVersionKind{
	oncallv1alpha1.TeamGroupVersionKind, terdutv1alpha1.TerdutServerGroupVersionKind, oncallv1alpha1.BootstrapGroupVersionKind,
	oncallv1alpha1.IntegrationGroupVersionKind, {Group: "apps", Version: "v1", Kind: "Deployment"},
}

// TestH39TerdutServerNamespaceDeletion deletes a namespace with a TerdutServer and its Tenant, at some moment of their creation or when they
// are Ready. Everything in it is deleted at once, in whatever order, so the server may go before what is on it. It always ends, and what
// another namespace has on that server can be deleted then.
func TestH39TerdutServerNamespaceDeletion(t *testing.T) {
	runs := 3
	if v := os.Getenv(deletionsEnv); v != "" {
		var err error
		if runs, err = strconv.Atoi(v); err != nil {
			t.Fatalf("%s: %v", deletionsEnv, err)
		}
	}
	for i := range runs {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			ns, shop := namespace(t), namespace(t)
			for _, f := range []string{"tenant.yaml", "terdutserver.yaml", "team.yaml"} {
				applyServerExample(t, f, ns, shop)
			}
			moment := moments[i%len(moments)]
			if moment == terdutv1alpha1.TerdutServerGroupVersionKind {
				onCallReady(t, moment, ns, "terdut")
				onCallReady(t, oncallv1alpha1.IntegrationGroupVersionKind, shop, "alertmanager")
			} else {
				exists(t, moment, ns)
			}
			more := time.Duration(rand.IntN(2000)) * time.Millisecond
			<-time.After(more)
			start := time.Now()
			remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
			eventually(t, "namespace "+ns+" to be gone", func(ctx context.Context) error {
				if err := gone(ctx, &corev1.Namespace{}, types.NamespacedName{Name: ns}); err != nil {
					return fmt.Errorf("%w: %s", err, left(ctx, ns))
				}
				return nil
			})
			t.Logf("deleted %s after there was a %s, it took %s", more, moment.Kind, time.Since(start).Round(time.Second))

			for _, o := range objectsOf(ns, shop) {
				if o.GetNamespace() == shop {
					remove(t, o)
				}
			}
			noneLeft(t, shop, serverKinds[:4]...)
		})
	}
}

// exists waits until there is an object of a kind.
func exists(t *testing.T, gvk schema.GroupVersionKind, ns string) {
	t.Helper()
	eventually(t, "a "+gvk.Kind, func(ctx context.Context) error {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(l.Items) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
}

// left is what is still in a namespace that is being deleted.
func left(ctx context.Context, ns string) string {
	out := ""
	for _, gvk := range append([]schema.GroupVersionKind{terdutv1alpha1.TerdutServerGroupVersionKind, terdutv1alpha1.TenantGroupVersionKind}, serverKinds...) {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return err.Error()
		}
		for i := range l.Items {
			out += fmt.Sprintf("; %s %s: %s", gvk.Kind, l.Items[i].GetName(), conditionsOf(&l.Items[i]))
		}
	}
	return out
}
