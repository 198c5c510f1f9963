package openbao

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/openbao/openbao/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// policyFor is the documented policy, and the same again for another mount.
func policyFor(t *testing.T, mount string) string {
	t.Helper()
	p, err := bao.Root().Sys().GetPolicyWithContext(t.Context(), "provider-terdut")
	if err != nil {
		t.Fatal(err)
	}
	return p + "\n" + strings.ReplaceAll(p, `"kv/`, `"`+mount+`/`)
}

// TestH20WrongMount holds that a mount that is not there, or is no KV version 2 engine, has its reason, and that nothing is written to it.
func TestH20WrongMount(t *testing.T) {
	if err := bao.MountKV(t.Context(), "kv-one", 1); err != nil {
		t.Fatal(err)
	}
	if err := bao.Root().Sys().PutPolicyWithContext(t.Context(), "provider-terdut", policyFor(t, "kv-one")); err != nil {
		t.Fatal(err)
	}
	for mount, want := range map[string]xpv2.ConditionReason{
		// Who may use nothing at a mount is not told whether it is there.
		"nowhere": v1alpha1.ReasonPermissionDenied,
		"kv-one":  v1alpha1.ReasonMountNotFound,
		"kv/data": v1alpha1.ReasonMountNotFound,
	} {
		t.Run(mount, func(t *testing.T) {
			p := newProvider(t)
			s := record(t, "wrong-mount", func(s *v1alpha1.BaoSecret) { s.Spec.ForProvider.Mount = &mount })
			p.apply(t, s)
			for range 3 {
				if _, err := p.pass(t.Context(), s); err == nil {
					t.Fatal("want an error")
				}
				if got := s.GetCondition(v1alpha1.TypeRecordReady).Reason; got != want {
					t.Errorf("the reason is %s, want %s", got, want)
				}
			}
			if w := p.wire.writes(); len(w) > 0 {
				t.Errorf("something was written: %v", w)
			}
			// With data to delete, a denial is no proof that there is none; an engine that is not there is.
			gone, err := p.pass(t.Context(), going(s, commonv1alpha1.DeletionDelete))
			if gone != (want == v1alpha1.ReasonMountNotFound) {
				t.Errorf("the object may go: %t (%v)", gone, err)
			}
			if gone, err := p.pass(t.Context(), going(s, commonv1alpha1.DeletionRetain)); !gone || err != nil {
				t.Errorf("an object that leaves its record must go: %v", err)
			}
		})
	}
	if l, err := bao.Root().Logical().ListWithContext(t.Context(), "kv-one"); err != nil || l != nil {
		t.Error("something was written to the engine of version 1")
	}
}

// TestH20Sealed seals the server in the middle of a create, and of a delete: the first is finished with one version, the second deletes, both
// when it is unsealed, and neither says that the record is not there.
func TestH20Sealed(t *testing.T) {
	path, p := "sealed", newProvider(t)
	unseal := func() {
		if err := bao.Unseal(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	sealAt := func(call string) {
		p.wire.before = func(c string) error {
			if c == call {
				p.wire.before = nil
				return bao.Seal(context.WithoutCancel(t.Context()))
			}
			return nil
		}
	}
	s := record(t, path)
	p.apply(t, s)
	sealAt("POST kv/data/" + path)
	for range 3 {
		if _, err := p.pass(t.Context(), s); err == nil {
			t.Error("want an error from a sealed server")
		}
		if c := s.GetCondition(v1alpha1.TypeRecordReady); c.Reason != v1alpha1.ReasonSealed || c.Status != corev1.ConditionUnknown {
			t.Errorf("RecordReady is %s %s", c.Status, c.Reason)
		}
	}
	unseal()
	now := p.ready(t, s)
	if now.Version != 1 {
		t.Errorf("the record is at version %d", now.Version)
	}

	d := going(s, commonv1alpha1.DeletionDelete)
	sealAt("DELETE kv/metadata/" + path)
	for range 3 {
		if gone, err := p.pass(t.Context(), d); gone || err == nil {
			t.Errorf("an object went although its record could not be deleted: %v", err)
		}
		if got := d.GetCondition(v1alpha1.TypeRecordReady).Reason; got != v1alpha1.ReasonDegraded {
			t.Errorf("the reason is %s", got)
		}
	}
	unseal()
	same(t, path, now)
	for range 2 {
		if _, err := p.pass(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if look(t, path) != nil {
		t.Error("the record is still there")
	}
}

// namespaces stands before the server and gives it namespaces, as far as it takes to tell them apart: the engine kv of the namespace x is the
// server's kv-x. A request that names no namespace is refused.
func namespaces(t *testing.T) (address string, logins func() []string) {
	t.Helper()
	target, err := url.Parse(bao.Address)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []string
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		b = bytes.ReplaceAll(b, []byte("kv-"+r.Request.Header.Get("X-Was-Namespace")), []byte("kv"))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		r.Header.Del("Content-Length")
		return err
	}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ns := strings.Trim(r.Header.Get("X-Vault-Namespace"), "/")
		if ns == "" {
			t.Errorf("%s %s names no namespace", r.Method, r.URL.Path)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/login") {
			mu.Lock()
			seen = append(seen, ns)
			mu.Unlock()
		}
		r.Header.Del("X-Vault-Namespace")
		r.Header.Set("X-Was-Namespace", ns)
		r.URL.Path = strings.Replace(strings.Replace(r.URL.Path, "/v1/kv/", "/v1/kv-"+ns+"/", 1), "/mounts/kv", "/mounts/kv-"+ns, 1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// appRoleOf makes a role of the server, and the config and the Secret to log in as it.
func appRoleOf(t *testing.T, name string, settings map[string]any) (*v1alpha1.ClusterProviderConfig, *corev1.Secret) {
	t.Helper()
	root := bao.Root()
	err := root.Sys().EnableAuthWithOptions("approle", &api.EnableAuthOptions{Type: "approle"})
	if e := (*api.ResponseError)(nil); err != nil && (!errors.As(err, &e) || e.StatusCode != http.StatusBadRequest) {
		t.Fatal(err)
	}
	settings["token_policies"] = "provider-terdut"
	role := "auth/approle/role/" + name
	if _, err := root.Logical().WriteWithContext(t.Context(), role, settings); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Logical().WriteWithContext(t.Context(), role+"/role-id", map[string]any{"role_id": name}); err != nil {
		t.Fatal(err)
	}
	s, err := root.Logical().WriteWithContext(t.Context(), role+"/secret-id", nil)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := s.Data["secret_id"].(string)
	pc := config(name)
	pc.Spec.Auth.Token = nil
	pc.Spec.Auth.AppRole = &v1alpha1.AppRoleAuth{
		AppRole: v1alpha1.AppRole{AuthPath: "approle", RoleID: name},
		SecretRef: commonv1alpha1.SecretKeySelector{
			Namespace: "system", LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: name, Key: "id"},
		},
	}
	return pc, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: name}, Data: map[string][]byte{"id": []byte(id)}}
}

// TestH20Namespaces holds that two configs that differ in their namespace alone log in and work each in their own: one path is two records.
func TestH20Namespaces(t *testing.T) {
	address, logins := namespaces(t)
	one, secret := appRoleOf(t, "namespaces", map[string]any{"token_ttl": "1h"})
	one.Spec.Address = address
	two := one.DeepCopy()
	two.Name, two.UID = "namespaces-two", "namespaces-two"
	for ns, pc := range map[string]*v1alpha1.ClusterProviderConfig{"a": one, "b": two} {
		pc.Spec.Namespace = &ns
		if err := bao.MountKV(t.Context(), "kv-"+ns, 2); err != nil {
			t.Fatal(err)
		}
		if err := bao.Root().Sys().PutPolicyWithContext(t.Context(), "provider-terdut", policyFor(t, "kv-"+ns)); err != nil {
			t.Fatal(err)
		}
	}
	p := newProvider(t, one, two, secret)
	var values []string
	for _, pc := range []*v1alpha1.ClusterProviderConfig{one, two} {
		s := record(t, "same/path", func(s *v1alpha1.BaoSecret) {
			s.Name += "-" + *pc.Spec.Namespace
			s.UID += types.UID(*pc.Spec.Namespace)
			s.Spec.ProviderConfigReference.Name = pc.Name
		})
		p.apply(t, s)
		p.passes(t, s, 3)
		is(t, s, xpv2.ReasonAvailable)
		d := admin(t, http.MethodGet, "kv-"+*pc.Spec.Namespace+"/data/same/path", "")
		values = append(values, string(d["data"]))
		if gone, err := p.pass(t.Context(), going(s, commonv1alpha1.DeletionRetain)); !gone || err != nil {
			t.Errorf("the object must go: %v", err)
		}
	}
	if values[0] == "" || values[0] == values[1] || look(t, "same/path") != nil {
		t.Error("want a record in each namespace, and none outside")
	}
	if got := logins(); len(got) != 2 || got[0] == got[1] {
		t.Errorf("want a login in each namespace, got %v", got)
	}
}
