package e2e

import (
	"bytes"
	"context"
	"crypto/md5" // Not to protect anything: a digest must not be found either.
	"crypto/rand"
	"crypto/sha1" // As above.
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// A sentinel is a secret value in all the forms in which it could leak, by the name of the form.
type sentinel map[string][]byte

func newSentinel(value string) sentinel {
	s := sentinel{"raw": []byte(value), "url query": []byte(url.QueryEscape(value)), "url path": []byte(url.PathEscape(value))}
	quoted, _ := json.Marshal(value) // A string can always be encoded.
	s["json"] = quoted[1 : len(quoted)-1]
	s["go"] = []byte(strings.Trim(fmt.Sprintf("%q", value), `"`))
	for _, e := range []struct {
		name string
		enc  *base64.Encoding
	}{{"base64", base64.RawStdEncoding}, {"base64url", base64.RawURLEncoding}} {
		// Within a longer text, a value starts at any of three places of a group of four characters. The characters at both ends depend
		// on the neighbours.
		for shift := range 3 {
			b := e.enc.EncodeToString([]byte(strings.Repeat("x", shift) + value))
			s[fmt.Sprintf("%s+%d", e.name, shift)] = []byte(b[(shift*8+5)/6 : (shift+len(value))*8/6])
		}
	}
	sum1, sum5, sum256, sum512 := sha1.Sum([]byte(value)), md5.Sum([]byte(value)), sha256.Sum256([]byte(value)), sha512.Sum512([]byte(value)) // See imports.
	for name, b := range map[string][]byte{"hex": []byte(value), "sha1": sum1[:], "md5": sum5[:], "sha256": sum256[:], "sha512": sum512[:]} {
		s[name] = []byte(hex.EncodeToString(b))
		s[name+" upper"] = bytes.ToUpper(s[name])
	}
	for name, b := range map[string][]byte{"sha256 base64": sum256[:], "sha512 base64": sum512[:]} {
		s[name] = []byte(base64.RawStdEncoding.EncodeToString(b))
	}
	// Most forms of a plain value are the same.
	seen := map[string]bool{}
	for _, form := range slices.Sorted(maps.Keys(s)) {
		if form != "raw" && (seen[string(s[form])] || bytes.Equal(s[form], s["raw"])) {
			delete(s, form)
			continue
		}
		seen[string(s[form])] = true
	}
	return s
}

// in returns the forms that a text holds.
func (s sentinel) in(text []byte) []string {
	var found []string
	for form, b := range s {
		if bytes.Contains(text, b) {
			found = append(found, form)
		}
	}
	slices.Sort(found)
	return found
}

// The search finds a value wherever it stands in what was encoded.
func TestSentinel(t *testing.T) {
	const value = "p@ss/w%rd \"1\" <&>é"
	s := newSentinel(value)
	texts := map[string]string{"json": `{"a":` + fmt.Sprintf("%q", "x"+value) + `}`, "url": url.QueryEscape("a " + value), "hex": hex.EncodeToString([]byte("a" + value))}
	for before := range 4 {
		for after := range 4 {
			b := []byte(strings.Repeat("a", before) + value + strings.Repeat("b", after))
			texts[fmt.Sprintf("base64 %d %d", before, after)] = base64.StdEncoding.EncodeToString(b)
			texts[fmt.Sprintf("base64url %d %d", before, after)] = base64.URLEncoding.EncodeToString(b)
		}
	}
	for name, text := range texts {
		if len(s.in([]byte(text))) == 0 {
			t.Errorf("the value is not found in %s", name)
		}
	}
	if found := s.in([]byte("p@ss and w%rd")); len(found) > 0 {
		t.Errorf("parts of the value are taken for it: %q", found)
	}
}

func TestNoSecretLeaks(t *testing.T) {
	ns := namespace(t)
	db := named(ns)
	create(t, newTenant(ns, "orders", byKubernetes(map[string]any{"database": db, "deletionPolicy": "Delete", "extensions": []any{map[string]any{"name": "pgcrypto"}}})))
	tenantReady(t, ns, "orders")
	password := string(secretData(t, ns, "orders-db")["password"])

	// A name that is taken.
	create(t, newTenant(ns, "taken", map[string]any{"database": db}))
	// A role whose password was changed, which is put back.
	stranger := rand.Text()
	sql(t, "ALTER ROLE "+pgx.Identifier{db}.Sanitize()+" PASSWORD '"+stranger+"'")
	eventually(t, "the owner's password to be put back", func(context.Context) error {
		if logsIn(t, db, db, password) {
			return nil
		}
		return errors.New("it does not log in")
	})
	// Configs with a wrong password, a host that is none, and a host that does not speak TLS.
	m := newManager(t, ns)
	managed := string(secretData(t, ns, "admin")["password"])
	wrong := `p@ss/w%rd "quoted" & <` + rand.Text()
	bad := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "wrong"}, StringData: map[string]string{"username": m.role, "password": wrong}}
	create(t, bad)
	passwordSecret(t, ns, "password")
	for name, how := range map[string]func(*postgresqlv1alpha1.ServerSpec){
		"wrong-password": func(*postgresqlv1alpha1.ServerSpec) {},
		"no-host":        func(s *postgresqlv1alpha1.ServerSpec) { s.Host, s.HostAddr = "no such host.invalid", nil },
		"no-ca":          func(s *postgresqlv1alpha1.ServerSpec) { s.CABundle = nil },
		"no-server":      func(s *postgresqlv1alpha1.ServerSpec) { s.Port = 1 },
	} {
		pc := &postgresqlv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		pc.Spec.ServerSpec = server(ns)
		how(&pc.Spec.ServerSpec)
		pc.Spec.Credentials.SecretRef.Name = "wrong"
		create(t, pc)
		d := newDatabase(ns, name, db+"_"+name)
		d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: name}
		create(t, d)
		becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionFalse, "")
		becomes(t, d, xpv2.TypeReady, corev1.ConditionUnknown, "")
	}

	system := "secrets " + local.SystemNamespace + "/"
	sentinels := map[string]struct {
		value string
		// holders are the Secrets that hold the value.
		holders []string
		// but is where the value may be beside them.
		but string
	}{
		"the Tenant's password":                {value: password, holders: []string{"secrets " + ns + "/orders-db"}},
		"the management role's password":       {value: string(secretData(t, local.SystemNamespace, "postgresql-admin")["password"]), holders: []string{system + "postgresql-admin"}},
		"the token of OpenBao":                 {value: string(secretData(t, local.SystemNamespace, "openbao-provider")["token"]), holders: []string{system + "openbao-provider"}},
		"the password of a management role":    {value: managed, holders: []string{"secrets " + ns + "/admin"}},
		"the wrong password of a config":       {value: wrong, holders: []string{"secrets " + ns + "/wrong"}},
		"the password that a role was given":   {value: stranger},
		"the SCRAM verifier of the owner":      {value: strings.Trim(world(t, db, "none")["role/rolpassword"], `"`), but: "log postgres.log"},
		"the superuser's password":             {value: p.Plane.Postgres.Password},
		"a value that is known to be in a log": {value: db},
	}
	readable, secrets := places(t)
	stored := etcdKeys(t)
	if _, ok := stored["/registry/secrets/"+ns+"/orders-db"]; !ok {
		t.Fatalf("the Secret is not among the %d keys of etcd: this test proves nothing", len(stored))
	}
	for what, s := range sentinels {
		if s.value == "" {
			t.Fatalf("%s is empty", what)
		}
		forms := newSentinel(s.value)
		var found []string
		for place, text := range readable {
			if place == s.but {
				continue
			}
			for _, form := range forms.in(text) {
				found = append(found, place+" ("+form+")")
			}
		}
		slices.Sort(found)
		if s.value == db {
			// What proves that the search finds something.
			for _, place := range []string{"log postgres.log (raw)", "log " + product.Provider + ".log (raw)", "log " + product.FunctionTenant + ".log (raw)",
				"tenants " + ns + "/orders (raw)"} {
				if !slices.Contains(found, place) {
					t.Errorf("%s: not found in %s", what, place)
				}
			}
			continue
		}
		if len(found) > 0 {
			t.Errorf("%s is in %q", what, found)
		}
		// What etcd stores, as it stores it: managed fields, last applied configurations and what no API shows are in there too.
		for key, value := range stored {
			at := forms.in(value)
			secret := strings.HasPrefix(key, "/registry/secrets/")
			if secret && slices.Contains(s.holders, "secrets "+strings.TrimPrefix(key, "/registry/secrets/")) {
				if len(at) == 0 {
					t.Errorf("%s is not found in %s: this test proves nothing", what, key)
				}
				continue
			}
			if len(at) > 0 || len(forms.in([]byte(key))) > 0 {
				t.Errorf("%s is in etcd under %s (%q)", what, key, at)
			}
		}
		var holders []string
		for place, text := range secrets {
			if bytes.Contains(text, []byte(s.value)) {
				holders = append(holders, place)
			}
		}
		slices.Sort(holders)
		if !slices.Equal(holders, s.holders) {
			t.Errorf("%s is in the Secrets %q, not in %q", what, holders, s.holders)
		}
	}
}
