package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// typeTerminating is the condition by which provider configs say that they are still in use, as Crossplane's own do.
const typeTerminating xpv2.ConditionType = "Terminating"

// A manager is a management role of a test's own, with the Secret of its credentials.
type manager struct {
	role   string
	secret *corev1.Secret
}

// newManager makes a management role that is no superuser, and a Secret of its credentials.
func newManager(t *testing.T, ns string) *manager {
	t.Helper()
	m := &manager{role: named(ns) + "_admin", secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "admin"}}}
	pw := rand.Text()
	sql(t, "CREATE ROLE "+pgx.Identifier{m.role}.Sanitize()+" LOGIN CREATEDB CREATEROLE PASSWORD '"+pw+"'")
	m.secret.StringData = map[string]string{"username": m.role, "password": pw}
	create(t, m.secret)
	return m
}

// alter the role's password on the server.
func (m *manager) alter(t *testing.T, password string) {
	t.Helper()
	sql(t, "ALTER ROLE "+pgx.Identifier{m.role}.Sanitize()+" PASSWORD '"+password+"'")
}

// tell the Secret a password.
func (m *manager) tell(t *testing.T, password string) {
	t.Helper()
	edit(t, m.secret, func(s *corev1.Secret) {
		s.Data, s.StringData = nil, map[string]string{"username": m.role, "password": password}
	})
}

// server fills what all configs of PostgreSQL share. The registry is of the test's own, because another management role owns it.
func server(ns string) postgresqlv1alpha1.ServerSpec {
	s := p.Plane.Postgres
	ca := string(s.CABundle)
	return postgresqlv1alpha1.ServerSpec{Host: s.Host, HostAddr: &s.HostAddr, Port: int32(s.Port), CABundle: &ca, RegistryDatabase: named(ns) + "_registry"}
}

func TestConfigInUse(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	m := newManager(t, ns)
	passwordSecret(t, ns, "password")

	own := &postgresqlv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "own"}}
	own.Spec.ServerSpec = server(ns)
	own.Spec.Credentials.SecretRef.Name = "admin"
	cluster := &postgresqlv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	cluster.Spec.ServerSpec = server(ns)
	cluster.Spec.Credentials.SecretRef = commonv1alpha1.SecretReference{
		LocalSecretReference: commonv1alpha1.LocalSecretReference{Name: m.secret.Name}, Namespace: ns,
	}
	bao := &openbaov1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	bao.Spec.Address, bao.Spec.Mount = p.Plane.OpenBao.Address, openbao.Mount
	bao.Spec.Auth.Token = &openbaov1alpha1.TokenAuth{SecretRef: commonv1alpha1.SecretKeySelector{
		LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: "openbao-provider", Key: "token"}, Namespace: local.SystemNamespace,
	}}

	byLocal, byCluster, record := newDatabase(ns, "local", named(ns)+"_local"), newDatabase(ns, "cluster", named(ns)+"_cluster"), newRecord(ns, "record", "inuse/"+ns)
	byLocal.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	byCluster.Spec.ProviderConfigReference.Name = ns
	record.Spec.ProviderConfigReference.Name = ns
	byLocal.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	byCluster.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	record.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete

	configs := map[conditioned]conditioned{own: byLocal, cluster: byCluster, bao: record}
	for config, user := range configs {
		create(t, config)
		becomes(t, config, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, postgresqlv1alpha1.ReasonProbed)
		create(t, user)
		becomes(t, user, xpv2.TypeReady, corev1.ConditionTrue, "")
	}
	for config, user := range configs {
		remove(t, config)
		message := becomes(t, config, typeTerminating, corev1.ConditionTrue, "")
		if !strings.Contains(message, "delete them first") {
			t.Errorf("%T says no next step: %s", config, message)
		}
		// Its user still works with it, to its very end.
		edit(t, client.Object(user), func(o client.Object) {
			switch o := o.(type) {
			case *postgresqlv1alpha1.PGDatabase:
				o.Spec.ForProvider.ConnectionLimit = ptr.To[int32](9)
			case *openbaov1alpha1.BaoSecret:
				o.Spec.ForProvider.Rotation = &openbaov1alpha1.Rotation{Trigger: "new"}
			}
		})
		works(t, user)
		if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
			t.Errorf("%T in use was let go: %v", config, err)
		}
		remove(t, user)
		isGone(t, user)
		isGone(t, config)
	}
	for _, name := range []string{"_local", "_cluster"} {
		if left := world(t, named(ns)+name, "inuse/"+ns); len(left) > 0 {
			t.Errorf("the users left %q", left.changes(facts{}))
		}
	}
}

// works waits until the change of a user of a config that is going has arrived.
func works(t *testing.T, user client.Object) {
	t.Helper()
	eventually(t, "a change to be made through a config that is going", func(ctx context.Context) error {
		if d, ok := user.(*postgresqlv1alpha1.PGDatabase); ok {
			if world(t, *d.Spec.ForProvider.Database, "none")["database/datconnlimit"] == "9" {
				return nil
			}
			return errors.New("the database has its old connection limit")
		}
		f := facts{}
		f.record(t, user.(*openbaov1alpha1.BaoSecret).Spec.ForProvider.Path)
		if f["record/metadata/current_version"] == "2" {
			return nil
		}
		return errors.New("the record has its old version")
	})
}

func TestCredentialRotation(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	m := newManager(t, ns)
	passwordSecret(t, ns, "password")
	pc := &postgresqlv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "own"}}
	pc.Spec.ServerSpec = server(ns)
	pc.Spec.Credentials.SecretRef.Name = "admin"
	create(t, pc)
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, postgresqlv1alpha1.ReasonProbed)
	db := newDatabase(ns, "orders", named(ns))
	db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	db.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	create(t, db)
	becomes(t, db, xpv2.TypeReady, corev1.ConditionTrue, "")
	before := p.Runtime.Instances()

	// A wrong password is told, with what to look at and without its value; what is there stays as it is.
	wrong := "p@ss/w%rd " + rand.Text()
	m.tell(t, wrong)
	message := becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionFalse, postgresqlv1alpha1.ReasonLoginRejected)
	if !strings.Contains(message, m.role) && !strings.Contains(message, "password") {
		t.Errorf("the message does not say what was rejected")
	}
	becomes(t, db, xpv2.TypeReady, corev1.ConditionUnknown, postgresqlv1alpha1.ReasonLoginRejected)

	// A new one, on the server and in the Secret, is picked up without a restart.
	right := rand.Text()
	m.alter(t, right)
	m.tell(t, right)
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, postgresqlv1alpha1.ReasonProbed)
	becomes(t, db, xpv2.TypeReady, corev1.ConditionTrue, "")
	for i, now := range p.Runtime.Instances() {
		if now.PID != before[i].PID {
			t.Errorf("%s was restarted", now.Package)
		}
	}

	// When a namespace is deleted, the credentials may go first. What needs them to go follows all the same.
	remove(t, m.secret)
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionFalse, postgresqlv1alpha1.ReasonConfigNotReady)
	deleteNamespace(t, ns)
	if left := world(t, named(ns), "none"); len(left) > 0 {
		t.Errorf("deleting the namespace left %q", left.changes(facts{}))
	}
}

// An object whose server cannot be reached for good is let go without Delete in its management policies, and nothing outside changes.
func TestLetGo(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	newManager(t, ns)
	password := passwordSecret(t, ns, "password")
	pc := &postgresqlv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "own"}}
	pc.Spec.ServerSpec = server(ns)
	pc.Spec.Credentials.SecretRef.Name = "admin"
	create(t, pc)
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, postgresqlv1alpha1.ReasonProbed)
	db := newDatabase(ns, "orders", named(ns))
	db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	db.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	create(t, db)
	becomes(t, db, xpv2.TypeReady, corev1.ConditionTrue, "")
	before := world(t, named(ns), "none")

	edit(t, pc, func(pc *postgresqlv1alpha1.ProviderConfig) { pc.Spec.Port = 1 })
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionFalse, postgresqlv1alpha1.ReasonInstanceUnreachable)
	remove(t, db)
	becomes(t, db, postgresqlv1alpha1.TypeDatabaseReady, corev1.ConditionUnknown, postgresqlv1alpha1.ReasonDegraded)
	passes(t, databases, 2)
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(db), db); err != nil {
		t.Fatalf("a PGDatabase that is to be dropped went without: %v", err)
	}
	edit(t, db, func(db *postgresqlv1alpha1.PGDatabase) { db.Spec.ManagementPolicies = noDelete })
	isGone(t, db)
	if diff := before.changes(world(t, named(ns), "none")); len(diff) > 0 {
		t.Errorf("letting go changed %q", diff)
	}
	if !logsIn(t, named(ns), named(ns), password) {
		t.Error("the owner's password does not log in")
	}
}
