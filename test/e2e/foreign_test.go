package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// sql runs statements as the superuser. Its own passwords are not for the log.
func sql(t *testing.T, statements ...string) {
	t.Helper()
	c := superuser(t, "postgres")
	defer c.Close(context.Background()) // Nothing is left to do with it.
	for _, s := range append([]string{"SET log_statement = 'none'"}, statements...) {
		if _, err := c.Exec(t.Context(), s); err != nil {
			t.Fatalf("cannot prepare the server: %v", err)
		}
	}
}

// conflict waits until a Tenant is in conflict, and returns it with what it says about that.
func conflict(t *testing.T, ns, name string) (u *unstructured.Unstructured, says string) {
	t.Helper()
	u = tenantIs(t, ns, name, func(u *unstructured.Unstructured) error {
		if phase(u) != string(terdutv1alpha1.PhaseConflict) {
			return errors.New("it is not in phase Conflict")
		}
		// Crossplane writes a composite's conditions after the rest of its status.
		for _, ct := range []string{terdutv1alpha1.TypeDatabaseReady, terdutv1alpha1.TypeCredentialReady} {
			if c := condition(u, ct); c["reason"] == terdutv1alpha1.ReasonConflict {
				says = fmt.Sprint(c["message"])
				return nil
			}
		}
		return errors.New("no condition says what the conflict is")
	})
	return u, says
}

func TestForeign(t *testing.T) {
	t.Parallel()
	const password = "of-somebody-else"

	cases := map[string]struct {
		reason string
		// prepare what is somebody else's.
		prepare func(t *testing.T, ns, name string)
		// message names what is in the way, and the next step.
		message func(ns, name string) []string
	}{
		"Database": {
			reason: "A database is in the way, of an owner and with privileges of its own.",
			prepare: func(t *testing.T, _, name string) {
				id, other := pgx.Identifier{name}.Sanitize(), pgx.Identifier{name + "_other"}.Sanitize()
				sql(t, "CREATE ROLE "+other, "CREATE DATABASE "+id+" OWNER "+other+" CONNECTION LIMIT 7", "GRANT CREATE ON DATABASE "+id+" TO PUBLIC",
					"COMMENT ON DATABASE "+id+" IS 'of somebody else'")
			},
			message: func(_, name string) []string { return []string{"database", name, "adoption"} },
		},
		"Role": {
			reason: "A role is in the way, with attributes, settings and a password of its own.",
			prepare: func(t *testing.T, _, name string) {
				id := pgx.Identifier{name}.Sanitize()
				sql(t, "CREATE ROLE "+id+" LOGIN CREATEDB CONNECTION LIMIT 3 PASSWORD '"+password+"'", "ALTER ROLE "+id+" SET work_mem = '5MB'",
					"GRANT pg_read_all_stats TO "+id)
			},
			message: func(_, name string) []string { return []string{"role", name} },
		},
		"Record": {
			reason: "A record is in the way, with other people's custom metadata.",
			prepare: func(t *testing.T, ns, _ string) {
				root := p.Plane.OpenBao.Root()
				kv := root.KVv2(openbao.Mount)
				if _, err := kv.Put(t.Context(), "tenants/"+ns+"/orders", map[string]any{"password": password, "other": 1}); err != nil {
					t.Fatalf("cannot write record: %v", err)
				}
				_, err := root.Logical().WriteWithContext(t.Context(), openbao.Mount+"/metadata/tenants/"+ns+"/orders", map[string]any{
					"max_versions": 3, "custom_metadata": map[string]any{"team": "x", "purpose": "other people's"},
				})
				if err != nil {
					t.Fatalf("cannot write metadata: %v", err)
				}
			},
			message: func(ns, _ string) []string { return []string{"record", "kv/tenants/" + ns + "/orders", "adoptions"} },
		},
		"Secret": {
			reason: "A Secret is in the way that nobody controls, which External Secrets would take over.",
			prepare: func(t *testing.T, ns, _ string) {
				s := &corev1.Secret{}
				s.Namespace, s.Name = ns, "orders-db"
				s.StringData = map[string]string{"password": password, "other": "value"}
				create(t, s)
			},
			message: func(string, string) []string {
				return []string{"Secret", "orders-db", "choose another name, or remove it"}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			db := named(ns)
			tc.prepare(t, ns, db)
			look := func() facts {
				f := world(t, db, "tenants/"+ns+"/orders")
				if name == "Secret" {
					for k, v := range secretFacts(t, ns, "orders-db") {
						f[k] = v
					}
				}
				return f
			}
			before := look()

			create(t, newTenant(ns, "orders", map[string]any{"database": db, "deletionPolicy": "Delete"}))
			u, says := conflict(t, ns, "orders")
			for _, want := range tc.message(ns, db) {
				if !strings.Contains(says, want) {
					t.Errorf("%s: the conflict %q does not say %q: %s", tc.reason, says, want, conditionsOf(u))
				}
			}
			passes(t, databases, 2)
			if diff := before.changes(look()); len(diff) > 0 {
				t.Errorf("%s: a Tenant in conflict changed %q", tc.reason, diff)
			}

			remove(t, u)
			isGone(t, u)
			eventually(t, "what the Tenant was composed of to be gone", func(ctx context.Context) error {
				l := &postgresqlv1alpha1.PGDatabaseList{}
				if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil || len(l.Items) == 0 {
					return err
				}
				return errors.New("a PGDatabase is left")
			})
			if diff := before.changes(look()); len(diff) > 0 {
				t.Errorf("%s: a deleted Tenant that was in conflict changed %q", tc.reason, diff)
			}
		})
	}
}

func TestH08OneDatabaseOfTwo(t *testing.T) {
	winner, loser := namespace(t), namespace(t)
	name := named(winner)

	password := passwordSecret(t, winner, "password")
	first := newDatabase(winner, "first", name)
	first.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	create(t, first)
	becomes(t, first, xpv2.TypeReady, corev1.ConditionTrue, "")
	before := world(t, name, "none")

	passwordSecret(t, loser, "password")
	second := newDatabase(loser, "second", name)
	second.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	second.Spec.ForProvider.TerminateConnections = true
	log := serverLogFrom(t)
	create(t, second)
	message := becomes(t, second, xpv2.TypeReady, corev1.ConditionFalse, postgresqlv1alpha1.ReasonConflict)
	if !strings.Contains(message, winner+"/first") {
		t.Errorf("the conflict does not say whose the database is: %s", message)
	}
	passes(t, databases, 2)
	remove(t, second)
	isGone(t, second)

	if w := log.writes(t); len(w) > 0 {
		t.Errorf("the loser wrote: %q", w)
	}
	if diff := before.changes(world(t, name, "none")); len(diff) > 0 {
		t.Errorf("the loser's life changed the winner's %q", diff)
	}
	if !logsIn(t, name, name, password) {
		t.Error("the winner's password does not log in")
	}

	// With the winner gone, a third one starts afresh.
	remove(t, first)
	isGone(t, first)
	if left := world(t, name, "none"); len(left) > 0 {
		t.Errorf("deleting the winner left %d facts", len(left))
	}
	third := newDatabase(loser, "third", name)
	third.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	create(t, third)
	becomes(t, third, xpv2.TypeReady, corev1.ConditionTrue, "")
	if len(log.writes(t)) == 0 {
		t.Error("the log has no write of the third: this test proves nothing of the second")
	}
}
