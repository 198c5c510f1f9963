package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// A namespaced object reads Secrets and configs of its own namespace alone, whatever is written into it.
func TestH41OtherNamespaces(t *testing.T) {
	t.Parallel()
	ns, other := namespace(t), namespace(t)
	// The other namespace has working credentials, a password, and a config.
	for from, to := range map[string]string{"postgresql-admin": "admin", "openbao-provider": "openbao"} {
		create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: to}, Data: secretData(t, local.SystemNamespace, from)})
	}
	passwordSecret(t, other, "password")
	pg := func(ns string) *postgresqlv1alpha1.ProviderConfig {
		pc := &postgresqlv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "theirs"}}
		pc.SetGroupVersionKind(postgresqlv1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"))
		pc.Spec.ServerSpec = server(ns)
		pc.Spec.RegistryDatabase = registry
		pc.Spec.Credentials.SecretRef.Name = "admin"
		return pc
	}
	bao := func(ns string) *openbaov1alpha1.ProviderConfig {
		pc := &openbaov1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "theirs"}}
		pc.SetGroupVersionKind(openbaov1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"))
		pc.Spec.Address, pc.Spec.Mount = p.Plane.OpenBao.Address, openbao.Mount
		pc.Spec.Auth.Token = &openbaov1alpha1.LocalTokenAuth{SecretRef: commonv1alpha1.LocalSecretKeySelector{Name: "openbao", Key: "token"}}
		return pc
	}
	for _, o := range []conditioned{pg(other), bao(other)} {
		create(t, o)
		becomes(t, o, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, "")
	}

	// Their config, by name: a config of that name does not exist here.
	db, record := newDatabase(ns, "orders", named(ns)), newRecord(ns, "orders", "h41/"+ns)
	db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "theirs"}
	record.Spec.ProviderConfigReference = db.Spec.ProviderConfigReference
	for _, o := range []conditioned{db, record} {
		create(t, o)
		becomes(t, o, xpv2.TypeReady, corev1.ConditionUnknown, postgresqlv1alpha1.ReasonConfigNotReady)
	}

	// A namespace written into a reference is refused where fields are checked, and is dropped where they are not.
	for what, tc := range map[string]struct {
		o    client.Object
		path []string
	}{
		"credentials": {pg(ns), []string{"spec", "credentials", "secretRef"}},
		"token":       {bao(ns), []string{"spec", "auth", "token", "secretRef"}},
		"password":    {newDatabase(ns, "crossing", named(ns)+"_crossing"), []string{"spec", "forProvider", "owner", "passwordFrom", "secretKeyRef"}},
		"config":      {newDatabase(ns, "crossing", named(ns)+"_crossing"), []string{"spec", "providerConfigRef"}},
		"connection":  {newDatabase(ns, "crossing", named(ns)+"_crossing"), []string{"spec", "writeConnectionSecretToRef"}},
	} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(tc.o)
		if err != nil {
			t.Fatalf("cannot convert %T: %v", tc.o, err)
		}
		u := &unstructured.Unstructured{Object: content}
		if what == "connection" {
			_ = unstructured.SetNestedField(u.Object, "stolen", append(tc.path, "name")...)
		}
		if err := unstructured.SetNestedField(u.Object, other, append(tc.path, "namespace")...); err != nil {
			t.Fatalf("cannot set the namespace of %s: %v", what, err)
		}
		strict := client.WithFieldValidation(p.Client, metav1.FieldValidationStrict)
		if err := strict.Create(t.Context(), u.DeepCopy()); !kerrors.IsBadRequest(err) || !strings.Contains(err.Error(), "namespace") {
			t.Errorf("%s with a namespace was not refused: %v", what, err)
		}
		if err := client.WithFieldValidation(p.Client, metav1.FieldValidationIgnore).Create(t.Context(), u); err != nil && !kerrors.IsAlreadyExists(err) {
			t.Errorf("%s: cannot create: %v", what, err)
		}
		if _, found, _ := unstructured.NestedString(u.Object, append(tc.path, "namespace")...); found && u.GetUID() != "" {
			t.Errorf("%s keeps a namespace", what)
		}
	}
	// What was dropped gives access to nothing: there are no such Secrets here.
	for _, pc := range []conditioned{pg(ns), bao(ns)} {
		becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionFalse, postgresqlv1alpha1.ReasonConfigNotReady)
	}
	becomes(t, newDatabase(ns, "crossing", ""), xpv2.TypeReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonCredentialNotReady)
	for _, name := range []string{named(ns), named(ns) + "_crossing"} {
		if f := world(t, name, "h41/"+ns); len(f) > 0 {
			t.Errorf("something was written: %q", f.changes(facts{}))
		}
	}
}

// connectionSecret reads a connection Secret.
func connectionSecret(t *testing.T, ns, name string) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatalf("cannot get Secret %q: %v", name, err)
	}
	return s
}

// A connection Secret is written by one object, kept up to date, made again when it is deleted, and never anybody else's.
func TestH42ConnectionSecret(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	passwordSecret(t, ns, "password")
	pg, _ := ownConfigs(t, ns)
	connecting := func(object, secret string) *postgresqlv1alpha1.PGDatabase {
		db := newDatabase(ns, object, named(ns)+"_"+object)
		db.Spec.ProviderConfigReference.Name = ns
		db.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: secret}
		db.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
		return db
	}
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "theirs"}, Data: map[string][]byte{"mine": []byte("1")}}
	create(t, theirs)
	first, second, third := connecting("first", "shared"), connecting("second", "shared"), connecting("third", "theirs")
	create(t, first)
	bothReady(t, first)
	got := connectionSecret(t, ns, "shared")
	if string(got.Data["port"]) != fmt.Sprint(p.Plane.Postgres.Port) || string(got.Data["endpoint"]) != p.Plane.Postgres.Host || len(got.Data["password"]) > 0 || !metav1.IsControlledBy(got, first) {
		t.Errorf("connection Secret: port %q, endpoint %q, with a password: %t", got.Data["port"], got.Data["endpoint"], len(got.Data["password"]) > 0)
	}

	// Somebody else's Secret, controlled or not, is not written.
	before := connectionSecret(t, ns, "theirs").ResourceVersion
	for _, db := range []*postgresqlv1alpha1.PGDatabase{second, third} {
		create(t, db)
		message := becomes(t, db, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)
		if !strings.Contains(message, "onnection") {
			t.Errorf("the condition does not name the connection Secret: %s", message)
		}
	}
	passes(t, databases, 2)
	if connectionSecret(t, ns, "theirs").ResourceVersion != before || connectionSecret(t, ns, "shared").UID != got.UID || !metav1.IsControlledBy(connectionSecret(t, ns, "shared"), first) {
		t.Error("somebody else's Secret was written")
	}

	// What consumers are told changes.
	allow(t, pg, func(pc *postgresqlv1alpha1.ClusterProviderConfig) {
		pc.Spec.Consumer = &postgresqlv1alpha1.ConsumerEndpoint{Host: ptr.To("db.example"), Port: ptr.To[int32](6432)}
	})
	follows := func(what string) {
		t.Helper()
		eventuallyWorld(t, what, first.Name, "none", func(facts) bool {
			s := &corev1.Secret{}
			err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(got), s)
			return err == nil && string(s.Data["port"]) == "6432" && string(s.Data["endpoint"]) == "db.example" && len(s.Data["database"]) > 0 && len(s.Data["username"]) > 0
		})
	}
	follows("the connection Secret to follow the config")
	remove(t, connectionSecret(t, ns, "shared"))
	follows("the connection Secret to be made again")
}

// A delivered Secret that somebody deletes is made again, with the same values.
func TestH42DeliveredSecret(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, newTenant(ns, "orders", map[string]any{"deletionPolicy": "Delete"}))
	tenantReady(t, ns, "orders")
	// Somebody who waits for its name does not get it, whoever deletes what.
	create(t, newTenant(ns, "carts", map[string]any{"deletionPolicy": "Delete", "secretName": "orders-db"}))
	conflict(t, ns, "carts")
	before := secretFacts(t, ns, "orders-db")
	remove(t, externalSecretOf(t, ns, "orders"))
	remove(t, connectionSecret(t, ns, "orders-db"))
	eventuallyWorld(t, "the Secret to be delivered again", "none", "none", func(facts) bool {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-db"}}
		return p.Client.Get(t.Context(), client.ObjectKeyFromObject(s), s) == nil && string(s.UID) != before["secret/uid"] && len(s.Data) > 0
	})
	after := secretFacts(t, ns, "orders-db")
	for _, k := range []string{"secret/uid", "secret/resourceVersion"} {
		after[k] = before[k]
	}
	if diff := before.changes(after); len(diff) > 0 {
		t.Errorf("the Secret that was delivered again differs in %q", diff)
	}
	tenantReady(t, ns, "orders")
	mustLogin(t, secretData(t, ns, "orders-db"))
	passes(t, databases, 2)
	conflict(t, ns, "carts")
	if c := condition(tenantReady(t, ns, "orders"), terdutv1alpha1.TypeLoginVerified); c["status"] != "True" {
		t.Errorf("the login is not verified any more: %v", c)
	}
}
