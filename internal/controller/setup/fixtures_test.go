package setup

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

var errBoom = errors.New("boom")

// deleted is when objects that are being deleted were.
var deleted = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// baoSecret is a managed resource of some kind: this package cares for none.
func baoSecret(mods ...func(*v1alpha1.BaoSecret)) *v1alpha1.BaoSecret {
	s := &v1alpha1.BaoSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "uid", Generation: 7}}
	for _, m := range mods {
		m(s)
	}
	return s
}

// recorder keeps the events that it is given.
type recorder struct{ events []event.Event }

func (r *recorder) Event(_ runtime.Object, e event.Event)      { r.events = append(r.events, e) }
func (r *recorder) WithAnnotations(_ ...string) event.Recorder { return r }
