package pgdatabase

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

func TestCredentialRead(t *testing.T) {
	returns := func(p string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return p, err }
	}
	cases := map[string]struct {
		reason string
		cred   *credential
		want   string
		err    error
		// because is the reason of the error.
		because xpv2.ConditionReason
	}{
		"Password": {reason: "A password is used as it is.", cred: &credential{version: "1", get: returns(" p ", nil)}, want: " p "},
		"NotReady": {reason: "There is no source yet, so nothing is asked.", cred: noCredential("Secret %q", "x"), because: v1alpha1.ReasonCredentialNotReady},
		"Fails":    {reason: "The source cannot be read.", cred: &credential{version: "1", get: returns("", errBoom)}, err: errBoom},
		"Empty":    {reason: "An empty password is none.", cred: &credential{version: "1", get: returns("", nil)}, because: v1alpha1.ReasonCredentialNotReady},
		"Blank":    {reason: "Neither is a blank one.", cred: &credential{version: "1", get: returns(" \t\n", nil)}, because: v1alpha1.ReasonCredentialNotReady},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.cred.read(t.Context())
			if got != tc.want || (err == nil) != (tc.err == nil && tc.because == "") {
				t.Errorf("%s another password, or error %v", tc.reason, err)
			}
			if tc.err != nil && !errors.Is(err, tc.err) || connect.ReasonOf(err, "") != tc.because {
				t.Errorf("%s want error %v with reason %q, got %v", tc.reason, tc.err, tc.because, err)
			}
		})
	}
}

// TestCredential holds where a password comes from, that a source which is not there is no error, and that its version changes with it.
func TestCredential(t *testing.T) {
	fromBao := func(db *v1alpha1.PGDatabase) {
		db.Spec.ForProvider.Owner.PasswordFrom = v1alpha1.PasswordSource{BaoSecretRef: &commonv1alpha1.LocalSecretKeySelector{Name: "bao", Key: "password"}}
	}
	bao := func(version int64, ready xpv2.Condition) *openbaov1alpha1.BaoSecret {
		s := &openbaov1alpha1.BaoSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bao", UID: "bao"}}
		s.Status.AtProvider.Version, s.Status.AtProvider.CreatedTime = version, ptr.To(metav1.Unix(1764530000, 0))
		s.SetConditions(ready)
		return s
	}
	elsewhere := login("login", "shop", password)
	elsewhere.Namespace = "bank"

	cases := map[string]struct {
		reason  string
		mg      *v1alpha1.PGDatabase
		objects []client.Object
		want    string
	}{
		"Secret":          {"The Secret's version is the credential's.", database(), []client.Object{login("login", "shop", password)}, "secret/secret/"},
		"NoSecret":        {"There is no Secret yet.", database(), nil, ""},
		"OtherNamespace":  {"A Secret of another namespace is none.", database(), []client.Object{elsewhere}, ""},
		"BaoSecret":       {"The record's version is the credential's.", database(fromBao), []client.Object{bao(3, xpv2.Available())}, "openbao/bao/1764530000/3"},
		"NoBaoSecret":     {"There is no BaoSecret yet.", database(fromBao), nil, ""},
		"BaoSecretNew":    {"The record has no version yet.", database(fromBao), []client.Object{bao(0, xpv2.Available())}, ""},
		"BaoSecretFailed": {"The record is not as it should be.", database(fromBao), []client.Object{bao(3, xpv2.Unavailable())}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := view(t, &pg{}, tc.objects...).credential(t.Context(), tc.mg)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(c.version, tc.want) || (c.version == "") != (tc.want == "") || c.ready() != (tc.want != "") {
				t.Errorf("%s want version %q, got %q", tc.reason, tc.want, c.version)
			}
			if (c.message == "") != c.ready() {
				t.Errorf("%s what is missing is to be said: %q", tc.reason, c.message)
			}
		})
	}
}

// TestSecretCredential holds that a changed Secret is another credential, and that a Secret without the key has no password.
func TestSecretCredential(t *testing.T) {
	s := login("login", "shop", password)
	e := view(t, &pg{}, s)
	first, err := e.credential(t.Context(), database())
	if err != nil {
		t.Fatal(err)
	}
	if p, err := first.read(t.Context()); err != nil || p != password {
		t.Errorf("want the Secret's password, error %v", err)
	}
	delete(s.Data, "password")
	if err := e.kube.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	second, err := e.credential(t.Context(), database())
	if err != nil {
		t.Fatal(err)
	}
	if second.version == first.version {
		t.Error("the Secret changed: the credential must have another version")
	}
	if _, err := second.read(t.Context()); connect.ReasonOf(err, "") != v1alpha1.ReasonCredentialNotReady {
		t.Errorf("want reason %s, got %v", v1alpha1.ReasonCredentialNotReady, err)
	}
}

// TestCredentialChanged holds which changes of a BaoSecret wake those who take a password from it.
func TestCredentialChanged(t *testing.T) {
	s := &openbaov1alpha1.BaoSecret{}
	s.SetConditions(xpv2.Available())
	version, anew, ready, label := s.DeepCopy(), s.DeepCopy(), s.DeepCopy(), s.DeepCopy()
	anew.Status.AtProvider.CreatedTime = ptr.To(metav1.Unix(1764530000, 0))
	version.Status.AtProvider.Version = 2
	ready.SetConditions(xpv2.Unavailable())
	label.Labels = map[string]string{"l": "v"}
	p := credentialChanged()
	for name, tc := range map[string]struct {
		now  client.Object
		want bool
	}{"Version": {version, true}, "SameVersionAnew": {anew, true}, "Ready": {ready, true}, "Label": {label, false}, "OtherKind": {&corev1.Secret{}, false}} {
		if got := p.Update(event.UpdateEvent{ObjectOld: s, ObjectNew: tc.now}); got != tc.want {
			t.Errorf("%s: want %t, got %t", name, tc.want, got)
		}
	}
	if !p.Create(event.CreateEvent{Object: s}) || !p.Delete(event.DeleteEvent{Object: s}) {
		t.Error("a BaoSecret that comes or goes matters")
	}
}

// TestUsable holds that a Secret without a password in it is waited for, not failed over, and that its data is only read when it is news.
func TestUsable(t *testing.T) {
	blank := func(c *credential) *credential {
		c.get = func(context.Context) (string, error) { return "\n", nil }
		return c
	}
	absent := func(c *credential) *credential {
		c.get = func(context.Context) (string, error) {
			return "", connect.WithReason(&connect.MissingSecretError{Key: "password"}, v1alpha1.ReasonCredentialNotReady)
		}
		return c
	}
	fails := func(c *credential) *credential {
		c.get = func(context.Context) (string, error) { return "", errBoom }
		return c
	}
	good := func(c *credential) *credential {
		c.get = func(context.Context) (string, error) { return password, nil }
		return c
	}
	cases := map[string]struct {
		reason string
		cred   *credential
		role   *postgresql.Record
		ready  bool
		err    error
	}{
		"New":         {"There is no role yet, and a password.", good(&credential{version: "1"}), nil, true, nil},
		"KeyAbsent":   {"The key is missing.", absent(&credential{version: "1"}), nil, false, nil},
		"Blank":       {"The value is no password.", blank(&credential{version: "2"}), &postgresql.Record{CredentialVersion: "1"}, false, nil},
		"Known":       {"The role has this very version.", fails(&credential{version: "1"}), &postgresql.Record{CredentialVersion: "1"}, true, nil},
		"CannotRead":  {"An API server that does not answer is an error.", fails(&credential{version: "2"}), &postgresql.Record{CredentialVersion: "1"}, true, errBoom},
		"NotThereYet": {"What is not there is not read.", noCredential("none"), nil, false, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := view(t, &pg{}).usable(t.Context(), database(), tc.cred, tc.role)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s want error %v, got %v", tc.reason, tc.err, err)
			}
			if got.ready() != tc.ready || got.ready() == (got.message != "") {
				t.Errorf("%s want ready %t, got %t and message %q", tc.reason, tc.ready, got.ready(), got.message)
			}
		})
	}
}
