package secretcheck

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
)

// object is the metadata of something that is watched.
func object(name, uid string, generation int64) client.Object {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid), Generation: generation}}
}

// TestChanged holds which changes of a workload matter.
func TestChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		reason     string
		before, by client.Object
		want       bool
	}{
		"Status": {"Pods come and go.", object("api", "a", 1), object("api", "a", 1), false},
		"Spec":   {"The template may be another.", object("api", "a", 1), object("api", "a", 2), true},
		"Remade": {"It was deleted and made again while nobody watched.", object("api", "a", 1), object("api", "b", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changed().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.by}); got != tc.want {
				t.Errorf("\n%s\ngot %t", tc.reason, got)
			}
		})
	}
	if !changed().Create(event.CreateEvent{Object: object("api", "a", 1)}) || !changed().Delete(event.DeleteEvent{Object: object("api", "a", 1)}) {
		t.Error("what comes or goes must be let through")
	}
}

// TestExternalSecretsWake holds which checks an ExternalSecret wakes: those that name it always, and with a new spec all that name any, because
// it may write the same Secret.
func TestExternalSecretsWake(t *testing.T) {
	named := func(name, externalSecret string) *v1alpha1.SecretCheck {
		return check(func(c *v1alpha1.SecretCheck) {
			c.Name = name
			if externalSecret != "" {
				c.Spec.ForProvider.ExternalSecretRef = &v1alpha1.ExternalSecretReference{Name: externalSecret, APIVersion: esV1}
			}
		})
	}
	elsewhere := named("elsewhere", "source")
	elsewhere.Namespace = "billing"
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(named("ours", "source"), named("theirs", "other"), named("none", ""), elsewhere).
		WithIndex(&v1alpha1.SecretCheck{}, index.SecretCheckByExternalSecret, func(o client.Object) []string {
			if r := o.(*v1alpha1.SecretCheck).Spec.ForProvider.ExternalSecretRef; r != nil {
				return []string{r.Name}
			}
			return nil
		}).Build()

	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	h := externalSecretChecks(kube)
	for name, tc := range map[string]struct {
		reason string
		happen func(q queue)
		want   []string
	}{
		"Comes": {"It may write what another one writes.", func(q queue) { h.Create(t.Context(), event.CreateEvent{Object: object("new", "a", 1)}, q) }, []string{"ours", "theirs"}},
		"Goes":  {"Another one may be the only one now.", func(q queue) { h.Delete(t.Context(), event.DeleteEvent{Object: object("new", "a", 1)}, q) }, []string{"ours", "theirs"}},
		"Spec": {"Its target may be another.", func(q queue) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: object("new", "a", 1), ObjectNew: object("new", "a", 2)}, q)
		}, []string{"ours", "theirs"}},
		"Status": {"It has delivered, or not.", func(q queue) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: object("source", "a", 1), ObjectNew: object("source", "a", 1)}, q)
		}, []string{"ours"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			tc.happen(q)
			var got []string
			for q.Len() > 0 {
				r, _ := q.Get()
				if r.Namespace != namespace {
					t.Errorf("\n%s\n%s is woken", tc.reason, r)
				}
				got = append(got, r.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nchecks that are woken: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
