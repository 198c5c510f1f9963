package pgdatabase

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
)

// known is a credential whose password is known here.
func known(version string) *credential {
	return &credential{version: version, get: func(context.Context) (string, error) { return password, nil }}
}

// TestProofHolds holds when logins and extensions are looked at again: when something that they depend on changed, when it is time to, and
// as long as something is missing, but not at every look.
func TestProofHolds(t *testing.T) {
	ctx := t.Context()
	app := login("app", "shop", password)
	s := &pg{facts: facts(), accepts: map[string]bool{password: true}, installed: map[string]postgresql.Extension{"citext": {Name: "citext"}}}
	e := view(t, s, app)
	mg := database(checks("app"), wants(v1alpha1.Extension{Name: "citext"}))
	cred, f := known("1"), facts()
	config := e.cfg.Object.(*v1alpha1.ClusterProviderConfig)
	update := func(o client.Object) {
		t.Helper()
		if err := e.kube.Update(ctx, o); err != nil {
			t.Fatal(err)
		}
	}

	steps := []struct {
		reason string
		change func()
		again  bool
	}{
		{"The first time.", func() {}, true},
		{"Nothing changed.", func() {}, false},
		{"The spec changed.", func() { mg.Generation++ }, true},
		{"The password changed.", func() { cred = known("2") }, true},
		{"The delivered Secret changed.", func() { app.Labels = map[string]string{"l": "v"}; update(app) }, true},
		{"The database is another one.", func() { f.Database.OID++ }, true},
		{"The config changed.", func() { config.Generation++ }, true},
		{"The config is another one.", func() { config.UID = "other" }, true},
		{"Nothing changed again.", func() {}, false},
		{"It is not time yet.", func() { e.proofs.get(mg.UID).at = time.Now().Add(time.Minute - e.interval) }, false},
		{"It is time.", func() { e.proofs.get(mg.UID).at = time.Now().Add(-e.interval) }, true},
		{"The config says that it is time earlier.", func() {
			e.cfg.Server.VerifyInterval = &metav1.Duration{Duration: time.Minute}
			e.proofs.get(mg.UID).at = time.Now().Add(-2 * time.Minute)
		}, true},
		{"An extension is missing.", func() { mg.Generation++; delete(s.installed, "citext") }, true},
		{"It still is.", func() {}, true},
		{"It is back.", func() { s.installed["citext"] = postgresql.Extension{Name: "citext"} }, true},
		{"All is well.", func() {}, false},
		{"The delivered password does not log in.", func() { app.Data["password"] = []byte("old"); update(app) }, true},
		{"It still does not.", func() {}, true},
		{"It does.", func() { app.Data["password"] = []byte(password); update(app) }, true},
		{"All is well again.", func() {}, false},
		{"The proof was forgotten.", func() { e.proofs.forget(mg.UID) }, true},
		{"The server refuses the password.", func() { mg.Generation++; s.accepts = nil }, true},
		{"It still does.", func() {}, true},
	}
	for _, step := range steps {
		step.change()
		s.calls = nil
		if _, err := e.prove(ctx, mg, f, cred); err != nil {
			t.Fatalf("%s: %v", step.reason, err)
		}
		if got := slices.Contains(s.calls, "CheckLogin"); got != step.again || !got && len(s.calls) > 0 {
			t.Errorf("%s: want another look: %t, got the calls %v", step.reason, step.again, s.calls)
		}
	}
}

// TestProveLogin holds what is proven of the delivered Secret, and that a password which was just proven is not tried twice.
func TestProveLogin(t *testing.T) {
	type want struct {
		status corev1.ConditionStatus
		reason xpv2.ConditionReason
		logins int
		err    bool
	}
	cases := map[string]struct {
		reason string
		cred   *credential
		app    *corev1.Secret
		server *pg
		want   want
	}{
		"Same":       {"The delivered password is the one that was proven.", known("1"), login("app", "shop", password), &pg{}, want{corev1.ConditionTrue, v1alpha1.ReasonPassed, 1, false}},
		"Other":      {"Another password is tried, too.", known("1"), login("app", "shop", "other"), &pg{accepts: map[string]bool{password: true, "other": true}}, want{corev1.ConditionTrue, v1alpha1.ReasonPassed, 2, false}},
		"Old":        {"A password that does not log in is told.", known("1"), login("app", "shop", "old"), &pg{}, want{corev1.ConditionFalse, v1alpha1.ReasonLoginRejected, 2, false}},
		"NoSource":   {"Without a source at hand the delivered password is tried.", noCredential(""), login("app", "shop", password), &pg{}, want{corev1.ConditionTrue, v1alpha1.ReasonPassed, 1, false}},
		"OtherUser":  {"A Secret of another role is not tried.", known("1"), login("app", "admin", password), &pg{}, want{corev1.ConditionFalse, v1alpha1.ReasonLoginRejected, 1, false}},
		"NoSecret":   {"The Secret is not there yet.", known("1"), login("other", "shop", password), &pg{}, want{corev1.ConditionFalse, v1alpha1.ReasonSecretNotReady, 1, false}},
		"NoPassword": {"The Secret is not complete yet.", known("1"), login("app", "shop", ""), &pg{}, want{corev1.ConditionFalse, v1alpha1.ReasonSecretNotReady, 1, false}},
		"NoAnswer":   {"A server that does not answer proves nothing.", noCredential(""), login("app", "shop", password), &pg{loginErr: unreachable}, want{logins: 1, err: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.server.accepts == nil {
				tc.server.accepts = map[string]bool{password: true}
			}
			e := view(t, tc.server, tc.app)
			p, err := e.prove(t.Context(), database(checks("app")), facts(), tc.cred)
			got := want{logins: len(tc.server.calls), err: err != nil}
			if err == nil {
				got.status, got.reason = p.login.Status, p.login.Reason
				if strings.Contains(p.login.Message, password) {
					t.Errorf("%s the message holds a password", tc.reason)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestProveExtensions holds that an extension which is missing, or in another version or schema, is named.
func TestProveExtensions(t *testing.T) {
	v := "1.3"
	s := &pg{installed: map[string]postgresql.Extension{
		"same": {Name: "same", Version: "1.3", Schema: "public"}, "older": {Name: "older", Version: "1.2", Schema: "public"},
		"elsewhere": {Name: "elsewhere", Version: "1.3", Schema: "other"}, "theirs": {Name: "theirs"},
	}, available: map[string]postgresql.AvailableExtension{
		"older": {Name: "older", Versions: []string{"1.2", "1.3"}}, "elsewhere": {Name: "elsewhere"}, "missing": {Name: "missing"},
		"ancient": {Name: "ancient", Versions: []string{"1.2"}},
	}}
	mg := database(wants(v1alpha1.Extension{Name: "same", Version: &v, Schema: "public"}, v1alpha1.Extension{Name: "older", Version: &v},
		v1alpha1.Extension{Name: "elsewhere", Schema: "public"}, v1alpha1.Extension{Name: "missing"},
		v1alpha1.Extension{Name: "ancient", Version: &v}))
	p := &proof{}
	if err := view(t, s).proveExtensions(t.Context(), mg, p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"extension older", "extension elsewhere", "extension missing"}, p.drift); diff != "" {
		t.Errorf("drift: -want, +got:\n%s", diff)
	}
	if p.unavailable == nil || !strings.Contains(p.unavailable.Error(), `version "1.3" of extension "ancient"`) {
		t.Errorf("want the version that the server does not have to be told, got %v", p.unavailable)
	}
	names := make([]string, len(p.extensions))
	for i := range p.extensions {
		names[i] = p.extensions[i].Name
	}
	if diff := cmp.Diff([]string{"same", "older", "elsewhere"}, names); diff != "" {
		t.Errorf("extensions that are reported: -want, +got:\n%s", diff)
	}
}

// TestProjectProof holds what of a proof is reported, and that a time which says since when something is true does not move at rest.
func TestProjectProof(t *testing.T) {
	verified := passed(v1alpha1.TypeLoginVerified)
	rejected := notYet(v1alpha1.TypeLoginVerified, v1alpha1.ReasonLoginRejected, "")
	e, mg := view(t, &pg{}), database(checks("app"))
	o := &mg.Status.AtProvider

	e.projectProof(mg, &proof{credentialVersion: "1", login: &verified})
	if o.LoginVerifiedTime == nil || o.CredentialVersion != "1" || mg.GetCondition(v1alpha1.TypeExtensionsReady).Status != corev1.ConditionTrue {
		t.Fatalf("a proof must be reported: %v", o)
	}
	o.LoginVerifiedTime = past.DeepCopy()
	at := func(reason string, moved bool) {
		t.Helper()
		if got := !o.LoginVerifiedTime.Equal(&past); got != moved {
			t.Errorf("%s: want another time: %t, got %s", reason, moved, o.LoginVerifiedTime)
		}
		o.LoginVerifiedTime = past.DeepCopy()
	}
	e.projectProof(mg, &proof{credentialVersion: "1", login: &verified})
	at("nothing changed", false)
	e.projectProof(mg, &proof{login: &verified})
	at("the password's source is away", false)
	if o.CredentialVersion != "1" {
		t.Errorf("the version that logged in last is still that, got %q", o.CredentialVersion)
	}
	e.projectProof(mg, &proof{credentialVersion: "2", login: &verified})
	at("the password changed", true)
	e.projectProof(mg, &proof{credentialVersion: "2", login: &rejected})
	at("the login was refused", false)
	e.projectProof(mg, &proof{credentialVersion: "2", login: &verified})
	at("it works again", true)

	mg = database()
	e.projectProof(mg, &proof{drift: []string{"extension x"}})
	if mg.GetCondition(v1alpha1.TypeExtensionsReady).Status == corev1.ConditionTrue || mg.Status.AtProvider.LoginVerifiedTime != nil {
		t.Error("an extension is missing and no login was asked for")
	}
}

// TestTrust holds that a Secret is trusted for one database only, until it is forgotten.
func TestTrust(t *testing.T) {
	p := newProofs()
	p.trust("a", "secret")
	if !p.trusts("a", "secret") || p.trusts("a", "other") || p.trusts("b", "secret") {
		t.Error("the Secret that was seen is trusted for the database that it was seen for")
	}
	p.forget("a")
	if p.trusts("a", "secret") {
		t.Error("what is forgotten is not trusted")
	}
}
