package connect

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

// TestPool holds that a client that is replaced or forgotten is closed, once, and that a failed attempt to make one loses nothing.
func TestPool(t *testing.T) {
	closed := make(chan string, 8)
	p := newPool(func(c string) { closed <- c })
	get := func(uid types.UID, version, made string, fail error) (string, error) {
		return p.get(uid, version, func() (string, error) { return made, fail })
	}
	steps := []struct {
		reason  string
		uid     types.UID
		version string
		fail    error
		want    string
	}{
		{"The first is made.", "a", "1", nil, "a1"},
		{"Another config has its own.", "b", "1", nil, "b1"},
		{"The same version is shared.", "a", "1", errBoom, "a1"},
		{"One that cannot be made is an error.", "a", "2", errBoom, ""},
		{"The one from before is still there.", "a", "1", errBoom, "a1"},
		{"Another version replaces it.", "a", "2", nil, "a2"},
	}
	for _, s := range steps {
		got, err := get(s.uid, s.version, string(s.uid)+s.version, s.fail)
		if (err == nil) != (s.want != "") || err == nil && got != s.want {
			t.Errorf("%s want %q, got %q and error %v", s.reason, s.want, got, err)
		}
	}
	p.forget("a")
	p.forget("a")
	p.forget("never seen")

	got := map[string]int{}
	for range 2 {
		select {
		case c := <-closed:
			got[c]++
		case <-time.After(10 * time.Second):
			t.Fatalf("not all clients were closed: %v", got)
		}
	}
	if diff := cmp.Diff(map[string]int{"a1": 1, "a2": 1}, got); diff != "" {
		t.Errorf("closed: -want, +got:\n%s", diff)
	}
	if len(closed) > 0 {
		t.Errorf("%s was closed, which is in use or was closed before", <-closed)
	}
	if _, ok := p.entries["b"]; !ok || len(p.entries) != 1 {
		t.Errorf("the client of another config must stay, and nothing else: %v", p.entries)
	}
}

// TestWaiting holds that an object which cannot act yet reports why, asks for no write, and is gone at once when it is deleted.
func TestWaiting(t *testing.T) {
	ctx := t.Context()
	w := Waiting[*v1alpha1.PGDatabase]("ServerNotReady", "the server sleeps")
	deleted := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

	db := database(KindProviderConfig, "default")
	db.Generation = 3
	db.SetConditions(xpv2.Available())
	o, err := w.Observe(ctx, db)
	if diff := cmp.Diff(managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, o); err != nil || diff != "" {
		t.Errorf("Observe(...): error %v, -want, +got:\n%s", err, diff)
	}
	want := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: "ServerNotReady", Message: "the server sleeps", ObservedGeneration: 3}
	got := db.GetCondition(xpv2.TypeReady)
	// A generation of 0 would equal every other.
	if diff := cmp.Diff(want, got); diff != "" || got.ObservedGeneration != 3 {
		t.Errorf("Ready: -want, +got:\n%s", diff)
	}

	db.DeletionTimestamp = &deleted
	before := db.DeepCopy()
	o, err = w.Observe(ctx, db)
	if err != nil || o.ResourceExists {
		t.Errorf("deleted: want nothing to be there, got %v and %v", o, err)
	}
	if diff := cmp.Diff(before, db); diff != "" {
		t.Errorf("deleted: nothing is to be reported: -want, +got:\n%s", diff)
	}

	_, create := w.Create(ctx, db)
	_, update := w.Update(ctx, db)
	_, remove := w.Delete(ctx, db)
	for _, err := range []error{create, update, remove} {
		if !errors.Is(err, errWaiting) {
			t.Errorf("a verb that must not be reached has to say so, got %v", err)
		}
	}
	if err := w.Disconnect(ctx); err != nil {
		t.Errorf("Disconnect(...): %v", err)
	}
}
