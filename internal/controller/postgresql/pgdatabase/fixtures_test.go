package pgdatabase

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

var (
	errBoom     = errors.New("boom")
	rejected    = &postgresql.Error{Code: "28P01", Message: "password authentication failed"}
	unreachable = &postgresql.Error{Code: "57P03", Message: "the database system is starting up"}

	// me is the owner of what a PGDatabase that nobody controls manages.
	me = postgresql.Owner{ControlPlane: "here", UID: "uid", Namespace: "shop", Name: "orders", Holder: "uid"}

	past = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
)

// password is what the Secret login holds. It must be in no error.
const password = "s3ntinel"

// pg is a server that does what it is told, and notes what it is asked.
type pg struct {
	facts      *postgresql.Facts
	observeErr error
	// passwords that log in.
	accepts   map[string]bool
	loginErr  error
	installed map[string]postgresql.Extension
	available map[string]postgresql.AvailableExtension
	results   []postgresql.ExtensionResult
	// databases that are recorded for the object, and sessions by database.
	databases []string
	sessions  map[string]int
	// fail makes one call fail.
	fail map[string]error
	kept []string

	calls []string
}

func (s *pg) call(name string) error {
	s.calls = append(s.calls, name)
	return s.fail[name]
}

func (s *pg) Observe(context.Context, postgresql.Names) (*postgresql.Facts, error) {
	return s.facts, s.observeErr
}

func (s *pg) Recorded(_ context.Context, controlPlane, holder string) ([]string, error) {
	if controlPlane != "here" || holder != "uid" {
		return nil, errBoom
	}
	return s.databases, s.observeErr
}

func (s *pg) Sessions(_ context.Context, database string) (int, error) {
	return s.sessions[database], nil
}

func (s *pg) CheckLogin(_ context.Context, _, pass, _ string) error {
	s.calls = append(s.calls, "CheckLogin")
	if s.loginErr != nil {
		return s.loginErr
	}
	if !s.accepts[pass] {
		return rejected
	}
	return nil
}

func (s *pg) Extensions(context.Context, string) (map[string]postgresql.Extension, error) {
	return s.installed, s.call("Extensions")
}

func (s *pg) AvailableExtensions(context.Context, []string) (map[string]postgresql.AvailableExtension, error) {
	return s.available, s.call("AvailableExtensions")
}

func (s *pg) Reserve(context.Context, postgresql.Claim) (*postgresql.Facts, error) {
	return s.facts, s.call("Reserve")
}

func (s *pg) EnsureRole(_ context.Context, _ postgresql.Claim, r postgresql.RoleSpec) (bool, error) {
	name := "EnsureRole"
	if r.Password != "" {
		name = "EnsureRole with password"
		s.accepts = map[string]bool{r.Password: true}
	}
	return false, s.call(name)
}

func (s *pg) EnsureDatabase(context.Context, postgresql.Claim, postgresql.DatabaseSpec) (bool, error) {
	return false, s.call("EnsureDatabase")
}

func (s *pg) EnsureExtensions(context.Context, postgresql.Claim, []postgresql.ExtensionSpec) ([]postgresql.ExtensionResult, error) {
	return s.results, s.call("EnsureExtensions")
}

func (s *pg) RecordCredential(_ context.Context, _ postgresql.Claim, version string) error {
	return s.call("RecordCredential " + version)
}

func (s *pg) Retain(context.Context, postgresql.Claim) error { return s.call("Retain") }

func (s *pg) DropDatabase(_ context.Context, _ postgresql.Claim, terminate bool) error {
	if terminate {
		return s.call("DropDatabase and sessions")
	}
	return s.call("DropDatabase")
}

func (s *pg) DropRole(context.Context, postgresql.Claim) ([]string, error) {
	return s.kept, s.call("DropRole")
}

// facts of a database that is as asked for, with changes. The names are unknown to them, so the owner's name is empty.
func facts(mods ...func(*postgresql.Facts)) *postgresql.Facts {
	f := &postgresql.Facts{
		Server:         postgresql.ServerFacts{Version: 170002, Identity: "system"},
		Role:           &postgresql.RoleFacts{OID: 10, Login: true, Inherit: true, ConnectionLimit: -1},
		Database:       &postgresql.DatabaseFacts{OID: 20, OwnerOID: 10, AllowConnections: true, ConnectionLimit: -1, Encoding: "UTF8", Collate: "C"},
		RoleRecord:     &postgresql.Record{State: postgresql.StateCreated, OID: 10, ServerIdentity: "system", Owner: me},
		DatabaseRecord: &postgresql.Record{State: postgresql.StateCreated, OID: 20, ServerIdentity: "system", Owner: me},
		ActsAsOwner:    true,
	}
	for _, m := range mods {
		m(f)
	}
	return f
}

// nothing was made yet.
func nothing(f *postgresql.Facts) { *f = postgresql.Facts{Server: f.Server} }

// recorded says that a credential of a version was proven.
func recorded(version string) func(*postgresql.Facts) {
	return func(f *postgresql.Facts) { f.RoleRecord.CredentialVersion = version }
}

// database is a PGDatabase that owns itself and takes its password from the Secret login.
func database(mods ...func(*v1alpha1.PGDatabase)) *v1alpha1.PGDatabase {
	db := &v1alpha1.PGDatabase{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "orders", UID: "uid", Generation: 2, Annotations: map[string]string{meta.AnnotationKeyExternalName: "orders"},
	}}
	db.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	db.Spec.ForProvider.Owner = v1alpha1.Owner{Name: "shop"}
	db.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef = &commonv1alpha1.LocalSecretKeySelector{Name: "login", Key: "password"}
	for _, m := range mods {
		m(db)
	}
	return db
}

func onlyObserved(db *v1alpha1.PGDatabase) {
	db.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
}

// checks makes the database check the login of a Secret.
func checks(secret string) func(*v1alpha1.PGDatabase) {
	return func(db *v1alpha1.PGDatabase) {
		db.Spec.ForProvider.LoginCheck = &v1alpha1.LoginCheck{}
		db.Spec.ForProvider.LoginCheck.SecretRef.Name = secret
		db.Spec.ForProvider.LoginCheck.SecretRef.CredentialKeys = v1alpha1.CredentialKeys{UsernameKey: "username", PasswordKey: "password"}
	}
}

func wants(x ...v1alpha1.Extension) func(*v1alpha1.PGDatabase) {
	return func(db *v1alpha1.PGDatabase) { db.Spec.ForProvider.Extensions = x }
}

// login is a Secret with a password.
func login(name, user, pass string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "secret"},
		Data:       map[string][]byte{"username": []byte(user), "password": []byte(pass)},
	}
}

// recorder keeps the reasons of events.
type recorder struct{ events []event.Reason }

func (r *recorder) Event(_ runtime.Object, e event.Event)    { r.events = append(r.events, e.Reason) }
func (r *recorder) WithAnnotations(...string) event.Recorder { return r }

// secretsOf are the names that the index finds a PGDatabase by.
func secretsOf(o client.Object) (names []string) {
	p := o.(*v1alpha1.PGDatabase).Spec.ForProvider
	if s := p.Owner.PasswordFrom.SecretKeyRef; s != nil {
		names = append(names, s.Name)
	}
	if c := p.LoginCheck; c != nil {
		names = append(names, c.SecretRef.Name)
	}
	return names
}

// view is one reconcile's view of the database orders with the owner shop.
func view(t *testing.T, s *pg, objects ...client.Object) *external {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, openbaov1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&v1alpha1.PGDatabase{}, index.PGDatabaseBySecret, secretsOf).Build()
	secrets := connect.NewSecrets(kube, kube)
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{UID: "config", Generation: 1}}
	return &external{
		connector: &connector{
			kube: kube, live: kube, secrets: secrets, postgres: connect.NewPostgres(kube, secrets, nil), owners: owner.NewResolver(kube),
			controlPlane: "here", interval: time.Hour, proofs: newProofs(), recorder: &recorder{},
		},
		cfg:      &connect.PostgresConfig{Object: pc, Server: v1alpha1.ServerSpec{Host: "db.example", Port: 5432, SSLMode: "verify-full"}},
		instance: s,
		names:    postgresql.Names{Database: "orders", Role: "shop"},
	}
}
