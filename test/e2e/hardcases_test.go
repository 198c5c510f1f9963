package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

// roleLogin opens a session as an application would.
func roleLogin(t *testing.T, database, role, password string) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(p.Plane.Postgres.ConnString("postgres"))
	if err != nil {
		t.Fatal("cannot parse connection string")
	}
	cfg.Database, cfg.User, cfg.Password = database, role, password
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatalf("cannot log in: SQLSTATE %q", sqlState(err))
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// A session keeps a database from being dropped until it ends, or the object says that sessions are terminated. What is gone already is done.
func TestH06OpenSessions(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	password := passwordSecret(t, ns, "password")
	held, byHand := newDatabase(ns, "held", named(ns)+"_held"), newDatabase(ns, "byhand", named(ns)+"_byhand")
	for _, db := range []*postgresqlv1alpha1.PGDatabase{held, byHand} {
		db.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
		create(t, db)
	}
	bothReady(t, held, byHand)
	name := named(ns) + "_held"
	first, second := roleLogin(t, name, name, password), roleLogin(t, name, name, password)

	remove(t, held)
	message := becomes(t, held, postgresqlv1alpha1.TypeDatabaseReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonInUse)
	if !strings.Contains(message, "2") {
		t.Errorf("the condition does not say how many sessions there are: %s", message)
	}
	passes(t, databases, 1)
	for _, c := range []*pgx.Conn{first, second} {
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("a session was ended: %v", err)
		}
	}
	if n := count(t, superuser(t, "postgres"), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usename <> $1", name); n != 0 {
		t.Errorf("the provider has %d sessions in the database", n)
	}
	edit(t, held, func(db *postgresqlv1alpha1.PGDatabase) { db.Spec.ForProvider.TerminateConnections = true })
	isGone(t, held)
	if left := world(t, name, "none"); len(left) > 0 || first.Ping(t.Context()) == nil {
		t.Errorf("deletion left %q, or a session", left.changes(facts{}))
	}

	sql(t, "DROP DATABASE "+ident(named(ns)+"_byhand"), "DROP ROLE "+ident(named(ns)+"_byhand"))
	remove(t, byHand)
	isGone(t, byHand)
	if left := world(t, named(ns)+"_byhand", "none"); len(left) > 0 {
		t.Errorf("deletion left %q", left.changes(facts{}))
	}
}

// One server under two names is one server: what is recorded through one config counts for the other. So does one path of OpenBao.
func TestH08TwoNamesOfOneServer(t *testing.T) {
	t.Parallel()
	winner, loser := namespace(t), namespace(t)
	_, _ = ownConfigs(t, winner)
	ownPG, _ := ownConfigs(t, loser)
	allow(t, ownPG, func(pc *postgresqlv1alpha1.ClusterProviderConfig) {
		pc.Spec.Host, pc.Spec.HostAddr = p.Plane.Postgres.HostAddr, nil
	})
	eventually(t, "the config to be healthy under the other name", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(ownPG), ownPG); err != nil {
			return err
		}
		if c := ownPG.GetCondition(postgresqlv1alpha1.TypeHealthy); c.Status != corev1.ConditionTrue || c.ObservedGeneration != ownPG.Generation {
			return errors.New("it is not")
		}
		return nil
	})
	name, path := named(winner), "two/"+winner
	password := passwordSecret(t, winner, "password")
	passwordSecret(t, loser, "password")
	first, record := ownPair(winner, "first", winner, name, path)
	second, recordSecond := ownPair(loser, "second", loser, name, path)
	first.Spec.ForProvider.DeletionPolicy, record.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete, commonv1alpha1.DeletionDelete
	second.Spec.ForProvider.DeletionPolicy, recordSecond.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete, commonv1alpha1.DeletionDelete
	second.Spec.ForProvider.TerminateConnections = true
	create(t, first)
	create(t, record)
	bothReady(t, first, record)
	before := world(t, name, path)
	create(t, second)
	create(t, recordSecond)
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, second, recordSecond)
	for _, o := range []client.Object{second, recordSecond} {
		remove(t, o)
		isGone(t, o)
	}
	if diff := before.changes(world(t, name, path)); len(diff) > 0 {
		t.Errorf("the loser's life changed %q", diff)
	}
	if !logsIn(t, name, name, password) {
		t.Error("the winner's password does not log in")
	}
}

// A password that goes missing in any way leaves the role as it is, says so quietly, and is taken up again by a change of the Secret.
func TestH11PasswordMissing(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	name := named(ns)
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = ns, "password"
	secret.Data = map[string][]byte{"other": []byte("x")}
	create(t, secret)
	db := newDatabase(ns, "orders", name)
	create(t, db)
	// A Secret without the key, before there is a role.
	becomes(t, db, xpv2.TypeReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonCredentialNotReady)
	if s := db.GetCondition(xpv2.TypeSynced); s.Status != corev1.ConditionTrue {
		t.Errorf("waiting for a key is reported as a failure: %s", s.Message)
	}
	if f := world(t, name, "none"); len(f) > 0 {
		t.Errorf("something was written without a password: %q", f.changes(facts{}))
	}
	const password = "the first one"
	fill := func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte(password)} }
	edit(t, secret, fill)
	bothReady(t, db)
	if w := warnings(t, db); len(w) > 0 {
		t.Errorf("waiting was not quiet: %q", w)
	}
	before := world(t, name, "none")

	for what, how := range map[string]func(*corev1.Secret){
		"KeyAbsent": func(s *corev1.Secret) { s.Data = map[string][]byte{"other": []byte("x")} },
		"Empty":     func(s *corev1.Secret) { s.Data = map[string][]byte{"password": {}} },
		"Newline":   func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte("\n")} },
	} {
		edit(t, secret, how)
		message := becomes(t, db, postgresqlv1alpha1.TypeRoleReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonCredentialNotReady)
		becomes(t, db, xpv2.TypeReady, corev1.ConditionFalse, "")
		if message == "" || !logsIn(t, name, name, password) {
			t.Errorf("%s: the old password does not log in, or the condition says nothing", what)
		}
		if s := db.GetCondition(xpv2.TypeSynced); s.Status != corev1.ConditionTrue {
			t.Errorf("%s: waiting is reported as a failure: %s", what, s.Message)
		}
		edit(t, secret, fill)
		bothReady(t, db)
	}
	remove(t, secret)
	becomes(t, db, postgresqlv1alpha1.TypeRoleReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonCredentialNotReady)
	passes(t, databases, 2)
	if !logsIn(t, name, name, password) {
		t.Error("Deleted: the old password does not log in")
	}
	same(t, "without its Secret", before, world(t, name, "none"), "role/rolpassword", "role/rolcanlogin")
	again := &corev1.Secret{}
	again.Namespace, again.Name = ns, "password"
	fill(again)
	create(t, again)
	bothReady(t, db)
	same(t, "with its Secret again", before, world(t, name, "none"), "role/rolpassword")
}
