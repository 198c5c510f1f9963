package openbao

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// TestH25SharedLogin holds that 50 objects of one config share one login per life of a token, stay Ready through many lives, and that a
// token that is revoked by hand costs one more login.
func TestH25SharedLogin(t *testing.T) {
	const (
		objects = 50
		ttl     = 3 * time.Second
		longest = 6 * time.Second
		lives   = 3
	)
	pc, secret := appRoleOf(t, "shared", map[string]any{"token_ttl": ttl.String(), "token_max_ttl": longest.String()})
	p := newProvider(t, pc, secret)
	var all []*v1alpha1.BaoSecret
	for i := range objects {
		s := record(t, fmt.Sprintf("shared/%d", i), func(s *v1alpha1.BaoSecret) {
			s.Name, s.Spec.ProviderConfigReference.Name = fmt.Sprint("orders-", i), pc.Name
		})
		p.apply(t, s)
		all = append(all, s)
	}
	round := func() {
		t.Helper()
		var wg sync.WaitGroup
		for _, s := range all {
			wg.Go(func() {
				if _, err := p.pass(t.Context(), s); err != nil {
					t.Errorf("a pass failed: %v", err)
				}
			})
		}
		wg.Wait()
	}
	logins := func() int {
		p.wire.mu.Lock()
		defer p.wire.mu.Unlock()
		n := 0
		for _, c := range p.wire.calls {
			if strings.HasSuffix(c, "/login") {
				n++
			}
		}
		return n
	}
	start := time.Now()
	for time.Since(start) < lives*longest {
		round()
	}
	for _, s := range all {
		is(t, s, xpv2.ReasonAvailable)
	}
	// A token is used for two thirds of its life at least, and a machine that pauses may let one end.
	most := int(time.Since(start)/(ttl*2/3)) + 2
	if n := logins(); n < lives || n > most {
		t.Errorf("%d objects made %d logins in %s, want %d to %d", objects, n, time.Since(start), lives, most)
	}

	before := logins()
	round()
	revoke(t, "shared")
	round()
	if n := logins() - before; n < 1 || n > 3 {
		t.Errorf("a token that was revoked made %d logins", n)
	}
	for _, s := range all {
		is(t, s, xpv2.ReasonAvailable)
	}
}

// revoke by hand all tokens that a role has.
func revoke(t *testing.T, role string) {
	t.Helper()
	l, err := bao.Root().Logical().ListWithContext(t.Context(), "auth/token/accessors")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range l.Data["keys"].([]any) {
		s, err := bao.Root().Auth().Token().LookupAccessorWithContext(t.Context(), a.(string))
		if err != nil {
			continue // It has ended by itself.
		}
		if m, _ := s.Data["meta"].(map[string]any); m["role_name"] == role {
			admin(t, http.MethodPost, "auth/token/revoke-accessor", `{"accessor":"`+a.(string)+`"}`)
		}
	}
}

// TestH25Denial holds that a real denial makes no logins, however often it comes.
func TestH25Denial(t *testing.T) {
	pc, secret := appRoleOf(t, "denied", map[string]any{"token_ttl": "1h"})
	p := newProvider(t, pc, secret)
	mount := "not-allowed"
	s := record(t, "x", func(s *v1alpha1.BaoSecret) {
		s.Spec.ProviderConfigReference.Name, s.Spec.ForProvider.Mount = pc.Name, &mount
	})
	p.apply(t, s)
	for range 30 {
		if _, err := p.pass(t.Context(), s); err == nil {
			t.Fatal("want a denial")
		}
	}
	n := 0
	for _, c := range p.wire.calls {
		if strings.HasSuffix(c, "/login") {
			n++
		}
	}
	if n > 2 {
		t.Errorf("30 denials made %d logins", n)
	}
	if c := s.GetCondition(v1alpha1.TypeRecordReady); c.Reason != v1alpha1.ReasonPermissionDenied || !strings.Contains(c.Message, `"not-allowed/`) {
		t.Errorf("the reason is %s: %s", c.Reason, c.Message)
	}
}
