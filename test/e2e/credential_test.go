package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

// newPGDatabase returns a PGDatabase without a Tenant, whose password comes from key password of the Secret of the same name.
func newPGDatabase(ns, name, config string) *postgresqlv1alpha1.PGDatabase {
	d := &postgresqlv1alpha1.PGDatabase{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: config}
	external := ns + "_" + name
	d.Spec.ForProvider.Database = &external
	d.Spec.ForProvider.Owner.Name = external
	d.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef = &commonv1alpha1.LocalSecretKeySelector{Name: name, Key: "password"}
	d.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	return d
}

// databaseIs waits until a condition of a PGDatabase has a status and a reason, and returns the PGDatabase.
func databaseIs(t *testing.T, d *postgresqlv1alpha1.PGDatabase, ct xpv2.ConditionType, s corev1.ConditionStatus, r xpv2.ConditionReason) {
	t.Helper()
	eventually(t, fmt.Sprintf("PGDatabase %s to be %s=%s %s", d.Name, ct, s, r), func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
			return err
		}
		if c := d.GetCondition(ct); c.Status != s || c.Reason != r {
			return fmt.Errorf("it has %v", d.Status.Conditions)
		}
		return nil
	})
}

// TestH11CredentialFromSecret takes the password from a Secret, which is missing at first, changes, and is emptied.
func TestH11CredentialFromSecret(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	c := superuser(t, "postgres")
	d := newPGDatabase(ns, "invoices", "default")
	create(t, d)
	databaseIs(t, d, xpv2.TypeReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonCredentialNotReady)
	if s := d.GetCondition(xpv2.TypeSynced); s.Status != corev1.ConditionTrue {
		t.Errorf("waiting is reported as a failure: %v", s)
	}
	if n := count(t, c, "SELECT count(*) FROM pg_roles WHERE rolname = $1", *d.Spec.ForProvider.Database); n != 0 {
		t.Error("a role was made without a password")
	}

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "invoices"}}
	secret.Data = map[string][]byte{"password": []byte(`first "päss\word'`)}
	create(t, secret)
	databaseIs(t, d, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
	if got := warnings(t, d); len(got) != 0 {
		t.Errorf("waiting was not quiet: %v", got)
	}
	with := func(password string) map[string][]byte {
		name := []byte(*d.Spec.ForProvider.Database)
		return map[string][]byte{
			"host": []byte(p.Plane.Postgres.Host), "port": fmt.Append(nil, p.Plane.Postgres.Port), "ca.crt": p.Plane.Postgres.CABundle,
			"dbname": name, "username": name, "password": []byte(password),
		}
	}
	mustLogin(t, with(`first "päss\word'`))

	change(t, client.ObjectKeyFromObject(secret), secret, func() { secret.Data["password"] = []byte("second") })
	eventually(t, "the role to follow the Secret", func(ctx context.Context) error {
		l, err := login(ctx, with("second"))
		if err != nil {
			return fmt.Errorf("it does not log in: SQLSTATE %q", sqlState(err))
		}
		return l.Close(ctx)
	})
	if l, err := login(t.Context(), with(`first "päss\word'`)); err == nil {
		_ = l.Close(t.Context())
		t.Error("the old password still logs in")
	}
	databaseIs(t, d, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)

	for name, value := range map[string]string{"Empty": "", "Blank": " \n"} {
		change(t, client.ObjectKeyFromObject(secret), secret, func() { secret.Data["password"] = []byte(value) })
		databaseIs(t, d, postgresqlv1alpha1.TypeRoleReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonCredentialNotReady)
		if d.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			t.Errorf("%s: it is Ready without a password", name)
		}
		mustLogin(t, with("second"))
		change(t, client.ObjectKeyFromObject(secret), secret, func() { secret.Data["password"] = []byte("second") })
		databaseIs(t, d, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
	}
	mustLogin(t, with("second"))
}

// warnings are the reasons of Warning events about an object.
func warnings(t *testing.T, o client.Object) []string {
	t.Helper()
	l := &corev1.EventList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(o.GetNamespace())); err != nil {
		t.Fatalf("cannot list events: %v", err)
	}
	var out []string
	for _, e := range l.Items {
		if e.InvolvedObject.UID == o.GetUID() && e.Type == corev1.EventTypeWarning {
			out = append(out, e.Reason+": "+e.Message)
		}
	}
	return out
}

// TestMissingConfig refers to a provider config that comes later.
func TestMissingConfig(t *testing.T) {
	t.Parallel()
	later := &postgresqlv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "e2e-later"}}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(p.Client.Delete(context.Background(), later)); err != nil {
			t.Errorf("cannot delete config: %v", err)
		}
		eventually(t, "config to be gone", func(ctx context.Context) error {
			return gone(ctx, &postgresqlv1alpha1.ClusterProviderConfig{}, types.NamespacedName{Name: later.Name})
		})
	})
	ns := namespace(t)
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "invoices"}, Data: map[string][]byte{"password": []byte("of little use")},
	})
	d := newPGDatabase(ns, "invoices", later.Name)
	create(t, d)
	databaseIs(t, d, xpv2.TypeReady, corev1.ConditionUnknown, postgresqlv1alpha1.ReasonConfigNotReady)

	existing := &postgresqlv1alpha1.ClusterProviderConfig{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Name: "default"}, existing); err != nil {
		t.Fatal(err)
	}
	later.Spec = existing.Spec
	create(t, later)
	databaseIs(t, d, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
	if diff := cmp.Diff(p.Plane.Postgres.Host, d.Status.AtProvider.Consumer.Host); diff != "" {
		t.Errorf("consumer: %s", diff)
	}
}
