package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

// A policyRow is one combination of what decides whether something may be written, with a PGDatabase and a BaoSecret of it.
type policyRow struct {
	management string
	deletion   commonv1alpha1.DeletionPolicy
	paused     bool

	name, path string
	database   *postgresqlv1alpha1.PGDatabase
	record     *openbaov1alpha1.BaoSecret
	before     facts
}

// managementLists are the values of managementPolicies, in JSON. An empty list is a pause.
var managementLists = map[string]string{
	"All":      `["*"]`,
	"NoDelete": `["Observe","Create","Update","LateInitialize"]`,
	"Observe":  `["Observe"]`,
	"None":     `[]`,
}

func (r *policyRow) String() string {
	return fmt.Sprintf("%s/%s/paused=%t", r.management, r.deletion, r.paused)
}

func (r *policyRow) halted() bool { return r.paused || r.management == "None" }

func (r *policyRow) creates() bool {
	return !r.halted() && (r.management == "All" || r.management == "NoDelete")
}

func (r *policyRow) deletes() bool {
	return !r.halted() && r.management == "All" && r.deletion == commonv1alpha1.DeletionDelete
}

func (r *policyRow) objects() []conditioned { return []conditioned{r.database, r.record} }

// set the row's policies on both objects, or those under which everything is done.
func (r *policyRow) set(t *testing.T, own bool) {
	t.Helper()
	list, paused := managementLists["All"], "null"
	if own {
		list = managementLists[r.management]
		if r.paused {
			paused = `"true"`
		}
	}
	for _, o := range r.objects() {
		rawPatch(t, o, `{"metadata":{"annotations":{%q:%s}},"spec":{"managementPolicies":%s}}`, meta.AnnotationKeyReconciliationPaused, paused, list)
	}
}

// The whole table of what decides whether something is written outside: nothing is made, mended, rotated or deleted unless all of it agrees.
func TestH40Policies(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	passwordSecret(t, ns, "password")
	var rows []*policyRow
	for m := range managementLists {
		for _, d := range []commonv1alpha1.DeletionPolicy{commonv1alpha1.DeletionRetain, commonv1alpha1.DeletionDelete} {
			for _, paused := range []bool{false, true} {
				object := strings.ToLower(fmt.Sprintf("%s-%s-%t", m, d, paused))
				r := &policyRow{management: m, deletion: d, paused: paused, name: named(ns) + "_" + object, path: "policies/" + ns + "/" + object}
				r.database, r.record = newDatabase(ns, object, r.name), newRecord(ns, object, r.path)
				r.database.Spec.ForProvider.DeletionPolicy, r.record.Spec.ForProvider.DeletionPolicy = d, d
				rows = append(rows, r)
			}
		}
	}

	// Those that are looked at all the time: without any, no pass could be waited for.
	for i := range 4 {
		db, record := newDatabase(ns, fmt.Sprintf("busy-%d", i), fmt.Sprintf("%s_busy_%d", named(ns), i)), newRecord(ns, fmt.Sprintf("busy-%d", i), fmt.Sprintf("policies/%s/busy-%d", ns, i))
		create(t, db)
		create(t, record)
	}

	// Creation. Objects are paused from the start, so that the policies are there before anything is done.
	for _, r := range rows {
		for _, o := range r.objects() {
			pause(o)
			create(t, o)
		}
		r.set(t, true)
	}
	for _, r := range rows {
		if r.creates() {
			bothReady(t, r.objects()...)
		}
	}
	passes(t, databases, 1)
	passes(t, credentials, 1)
	for _, r := range rows {
		if f := world(t, r.name, r.path); len(f) > 0 != r.creates() {
			t.Errorf("%s: something was created: %t", r, len(f) > 0)
		}
		if r.management == "Observe" && !r.paused {
			// What is only looked at, and is not there, is an error.
			becomes(t, r.database, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)
			becomes(t, r.record, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)
		}
	}

	// The rest of the table is about what is there.
	for _, r := range rows {
		r.set(t, false)
	}
	for _, r := range rows {
		bothReady(t, r.objects()...)
		r.set(t, true)
	}
	for _, r := range rows {
		if r.halted() {
			for _, o := range r.objects() {
				becomes(t, o, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcilePaused)
			}
		}
	}
	passes(t, databases, 1)
	passes(t, credentials, 1)

	// Drift and rotation.
	for _, r := range rows {
		r.before = world(t, r.name, r.path)
		sql(t, "ALTER ROLE "+ident(r.name)+" CONNECTION LIMIT 3")
		rawPatch(t, r.record, `{"spec":{"forProvider":{"rotation":{"trigger":"new"}}}}`)
	}
	for _, r := range rows {
		if r.creates() {
			eventuallyWorld(t, r.String()+" to be put right", r.name, r.path, func(f facts) bool {
				return f["role/rolconnlimit"] == r.before["role/rolconnlimit"] && f["record/metadata/current_version"] == "2"
			})
		}
	}
	passes(t, databases, 1)
	passes(t, credentials, 1)
	for _, r := range rows {
		after := world(t, r.name, r.path)
		if diff := r.before.changes(after); !r.creates() && (len(diff) != 1 || diff[0] != "role/rolconnlimit") {
			t.Errorf("%s: these changed besides the drift: %q", r, diff)
		}
		r.before = after
	}

	// Deletion.
	for _, r := range rows {
		for _, o := range r.objects() {
			remove(t, o)
		}
	}
	for _, r := range rows {
		if !r.halted() {
			isGone(t, r.database)
			isGone(t, r.record)
		}
	}
	passes(t, databases, 1)
	passes(t, credentials, 1)
	for _, r := range rows {
		after := world(t, r.name, r.path)
		switch {
		case r.deletes():
			if len(after) > 0 {
				t.Errorf("%s: deletion left %q", r, after.changes(facts{}))
			}
		case r.creates():
			// What is retained is marked as such.
			same(t, r.String(), r.before, after, "database/oid", "role/oid", "role/rolpassword", "record/data/data", "record/metadata/versions")
		default:
			if diff := r.before.changes(after); len(diff) > 0 {
				t.Errorf("%s: deletion changed %q", r, diff)
			}
		}
		for _, o := range r.objects() {
			if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); r.halted() != (err == nil) {
				t.Errorf("%s: %T is there: %t", r, o, err == nil)
			}
		}
		if r.halted() {
			r.set(t, false)
		}
	}
}

// Policies that do not exist are refused, and the default keeps data.
func TestH40UnknownPolicies(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for what, format := range map[string]string{
		"deletionPolicy":     `{"spec":{"forProvider":{"deletionPolicy":"Orphan"}}}`,
		"no deletionPolicy":  `{"spec":{"forProvider":{"deletionPolicy":""}}}`,
		"managementPolicies": `{"spec":{"managementPolicies":["Sometimes"]}}`,
	} {
		for _, o := range []client.Object{newDatabase(ns, "orders", named(ns)), newRecord(ns, "orders", "x/"+ns)} {
			pause(o)
			if err := p.Client.Create(t.Context(), o); err != nil && !kerrors.IsAlreadyExists(err) {
				t.Fatalf("cannot create %T: %v", o, err)
			}
			err := p.Client.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(format)))
			if !kerrors.IsInvalid(err) {
				t.Errorf("%T with an unknown %s: %v", o, what, err)
			}
		}
	}
	db, record := newDatabase(ns, "orders", named(ns)), newRecord(ns, "orders", "x/"+ns)
	for _, o := range []client.Object{db, record} {
		if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatalf("cannot get %T: %v", o, err)
		}
		remove(t, o)
	}
	if db.Spec.ForProvider.DeletionPolicy != commonv1alpha1.DeletionRetain || record.Spec.ForProvider.DeletionPolicy != commonv1alpha1.DeletionRetain {
		t.Error("the default does not keep data")
	}
}
