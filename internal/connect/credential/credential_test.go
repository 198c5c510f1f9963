package credential

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

const own = "system"

func newStore(t *testing.T, f interceptor.Funcs) (*Store, client.Client) {
	t.Helper()
	kube := fake.NewClientBuilder().WithInterceptorFuncs(f).Build()
	return NewStore(kube, own), kube
}

func newTeam() *v1alpha1.Team {
	return &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "platform", UID: "one"}}
}

func full(o Owner) *Credential {
	c := New(o)
	c.Endpoint, c.CABundle, c.Server, c.Through = "http://terdut", "pem", "first", Owner{Kind: "Bootstrap", Namespace: "ops", Name: "terdut", UID: "two"}
	c.Pending, c.TeamID, c.TeamName, c.TeamStored = "next", 7, "Platform", "platform"
	c.ServiceAccountID, c.KeyID, c.Trigger, c.Token, c.AdminToken = 8, 9, "2026", "token", "admin"
	c.Config = Owner{Kind: "ProviderConfig", Namespace: "ops", Name: "terdut"}
	c.Minting, c.LastKeyID, c.Made = true, 11, "made"
	c.Joined, c.RetiredKeyID, c.Lost, c.Suspended = true, 10, "lost", "RefNotPermitted"
	return c
}

// equal compares all that is stored, without printing it.
func equal(a, b *Credential) bool { return cmp.Equal(a, b, cmpopts.IgnoreUnexported(Credential{})) }

// TestRoundTrip holds that what is stored is read back, all of it, and by its owner alone.
func TestRoundTrip(t *testing.T) {
	ctx := t.Context()
	s, _ := newStore(t, interceptor.Funcs{})
	m := newTeam()
	if c, err := s.Team(ctx, m); c != nil || err != nil {
		t.Fatalf("there is one already: %v", err)
	}
	want := full(OwnerOf(v1alpha1.TeamKind, m))
	if err := s.Save(ctx, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Team(ctx, m)
	if err != nil || !equal(want, got) {
		t.Errorf("another credential is read than was stored: %v", err)
	}
	for name, mod := range map[string]func(*v1alpha1.Team){
		"AnotherUID":       func(m *v1alpha1.Team) { m.UID = "three" },
		"AnotherName":      func(m *v1alpha1.Team) { m.Name = "other" },
		"AnotherNamespace": func(m *v1alpha1.Team) { m.Namespace = "other" },
	} {
		other := newTeam()
		mod(other)
		if c, err := s.Team(ctx, other); c != nil || err != nil {
			t.Errorf("%s: it has this credential: %v", name, err)
		}
	}
	for _, text := range []string{fmt.Sprint(want), fmt.Sprintf("%+v", want), fmt.Sprintf("%#v", want)} {
		if strings.Contains(text, "admin") {
			t.Error("a credential prints its keys")
		}
	}
}

// TestForeign holds that a Secret which holds something else than belongs there is not used, whatever of it was changed.
func TestForeign(t *testing.T) {
	for name, mod := range map[string]func(*corev1.Secret){
		"OwnerUID":       func(s *corev1.Secret) { s.Data[keyOwnerUID] = []byte("three") },
		"OwnerName":      func(s *corev1.Secret) { s.Data[keyOwnerName] = []byte("other") },
		"OwnerNamespace": func(s *corev1.Secret) { s.Data[keyOwnerNamespace] = []byte("other") },
		"OwnerKind":      func(s *corev1.Secret) { s.Data[keyOwnerKind] = []byte("Bootstrap") },
		"Type":           func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque },
		"Endpoint":       func(s *corev1.Secret) { delete(s.Data, keyEndpoint) },
		"Number":         func(s *corev1.Secret) { s.Data[keyTeamID] = []byte("seven") },
		"Negative":       func(s *corev1.Secret) { s.Data[keyTeamID] = []byte("-7") },
		"KeyWithoutID":   func(s *corev1.Secret) { delete(s.Data, keyKeyID) },
		"Through":        func(s *corev1.Secret) { s.Data[keyThrough] = []byte("Bootstrap/x") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s, kube := newStore(t, interceptor.Funcs{})
			m := newTeam()
			secret := full(OwnerOf(v1alpha1.TeamKind, m)).secret(own)
			mod(secret)
			if err := kube.Create(ctx, secret); err != nil {
				t.Fatal(err)
			}
			c, err := s.Team(ctx, m)
			if e := (*ForeignError)(nil); c != nil || !errors.As(err, &e) || e.Secret != (types.NamespacedName{Namespace: own, Name: secret.Name}) {
				t.Errorf("it is used: %v", err)
			}
		})
	}
}

// TestOptimisticLock holds that whoever comes second with a change, or with a deletion, gets a conflict.
func TestOptimisticLock(t *testing.T) {
	ctx := t.Context()
	s, _ := newStore(t, interceptor.Funcs{})
	m := newTeam()
	first := full(OwnerOf(v1alpha1.TeamKind, m))
	if err := s.Save(ctx, first); err != nil {
		t.Fatal(err)
	}
	second, err := s.Team(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	first.KeyID = 11
	if err := s.Save(ctx, first); err != nil {
		t.Fatal(err)
	}
	second.KeyID = 12
	if err := s.Save(ctx, second); !kerrors.IsConflict(err) {
		t.Errorf("a change over another: %v", err)
	}
	if err := s.Delete(ctx, second); !kerrors.IsConflict(err) {
		t.Errorf("a deletion over a change: %v", err)
	}
	again := full(first.Owner)
	if err := s.Keep(ctx, again); !kerrors.IsAlreadyExists(err) {
		t.Errorf("a second one: %v", err)
	}
	if err := s.Delete(ctx, first); err != nil {
		t.Error(err)
	}
	if err := s.Delete(ctx, first); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
}

// TestKeep holds that what a server shows once is stored although the API server fails for a moment, and the caller's context has ended; and that
// an API server's refusal is not repeated.
func TestKeep(t *testing.T) {
	failures := 2
	s, _ := newStore(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		if failures--; failures >= 0 {
			return kerrors.NewInternalError(errors.New("quotes the token"))
		}
		return c.Create(ctx, o, opts...)
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := newTeam()
	if err := s.Keep(ctx, full(OwnerOf(v1alpha1.TeamKind, m))); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Team(t.Context(), m); err != nil || !c.Complete() {
		t.Errorf("it is not stored: %v", err)
	}
	failures = 1
	if err := s.Save(t.Context(), full(OwnerOf("Other", m))); err == nil || strings.Contains(err.Error(), "quotes") {
		t.Errorf("the error is %v", err)
	}
}

// TestRetain holds that a retained credential is found by kind, namespace, name and endpoint, and by nothing less, and that it may be retained twice.
func TestRetain(t *testing.T) {
	ctx := t.Context()
	s, kube := newStore(t, interceptor.Funcs{})
	o := Owner{Kind: "Bootstrap", Namespace: "ops", Name: "terdut", UID: "one"}
	for range 2 {
		c := full(o)
		if err := s.Save(ctx, c); err != nil {
			t.Fatal(err)
		}
		if err := s.Retain(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	l := &corev1.SecretList{}
	if err := kube.List(ctx, l); err != nil || len(l.Items) != 1 {
		t.Fatalf("there are %d Secrets: %v", len(l.Items), err)
	}
	next := o
	next.UID = "two"
	kept, err := s.Retained(ctx, next, "http://terdut")
	if err != nil || !kept.Complete() {
		t.Fatalf("it is not found: %v", err)
	}
	for name, mod := range map[string]func(*Owner, *string){
		"AnotherKind":      func(o *Owner, _ *string) { o.Kind = "Team" },
		"AnotherName":      func(o *Owner, _ *string) { o.Name = "other" },
		"AnotherNamespace": func(o *Owner, _ *string) { o.Namespace = "other" },
		"AnotherEndpoint":  func(_ *Owner, e *string) { *e = "http://other" },
	} {
		other, endpoint := next, "http://terdut"
		mod(&other, &endpoint)
		if c, err := s.Retained(ctx, other, endpoint); c != nil || err != nil {
			t.Errorf("%s: it is found: %v", name, err)
		}
	}
	if err := s.Save(ctx, s.TakeOver(kept, New(next))); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, kept); err != nil {
		t.Fatal(err)
	}
	taken, err := s.Get(ctx, next)
	if err != nil || !taken.Complete() {
		t.Errorf("it is not taken over: %v", err)
	}
	if c, err := s.Retained(ctx, next, "http://terdut"); c != nil || err != nil {
		t.Errorf("it is still retained: %v", err)
	}
}
