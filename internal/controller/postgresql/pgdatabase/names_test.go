package pgdatabase

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// TestSettle holds that the database of an object is the one that is recorded for it, and that the external name says the same or is refused.
func TestSettle(t *testing.T) {
	external := func(n string) func(*v1alpha1.PGDatabase) {
		return func(db *v1alpha1.PGDatabase) { meta.SetExternalName(db, n) }
	}
	nameless := func(db *v1alpha1.PGDatabase) { db.Annotations = nil }
	named := func(db *v1alpha1.PGDatabase) { n := "shop db"; db.Spec.ForProvider.Database = &n }
	type want struct {
		// database that is worked with, and the external name that is stored.
		database, stored string
		err              xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason   string
		mg       *v1alpha1.PGDatabase
		recorded []string
		want     want
	}{
		"New":              {"The database has the object's name by default.", database(nameless), nil, want{"orders", "orders", ""}},
		"NewNamed":         {"An admin may have set another before there is one.", database(external("legacy")), nil, want{"legacy", "legacy", ""}},
		"Spec":             {"The spec's name is the name, and the external name follows it.", database(named, external("legacy")), []string{"legacy"}, want{"shop db", "shop db", ""}},
		"Recorded":         {"The recorded database is the one that is asked for.", database(external("legacy")), []string{"legacy"}, want{"legacy", "legacy", ""}},
		"Several":          {"Several are recorded, and one of them is asked for.", database(external("legacy")), []string{"first", "legacy"}, want{"legacy", "legacy", ""}},
		"Renamed":          {"Another database than the recorded one is refused.", database(external("other")), []string{"legacy"}, want{"legacy", "other", v1alpha1.ReasonExternalNameChanged}},
		"NotOneOfSeveral":  {"It is not guessed which of several is meant.", database(external("other")), []string{"a", "b"}, want{"a", "other", v1alpha1.ReasonExternalNameChanged}},
		"Removed":          {"An external name that was removed is put back.", database(nameless), []string{"legacy"}, want{"legacy", "legacy", ""}},
		"OnlyObserved":     {"What only looks may look at another.", database(onlyObserved, external("other")), []string{"legacy"}, want{"other", "other", ""}},
		"Deleted":          {"Nothing is written to an object that goes.", going(commonv1alpha1.DeletionDelete, nameless), nil, want{"orders", "", ""}},
		"DeletedRenamed":   {"The recorded database goes with the object, whatever it was renamed to.", going(commonv1alpha1.DeletionDelete, external("other")), []string{"legacy"}, want{"legacy", "other", ""}},
		"DeletedOfSeveral": {"It is not guessed which of several is to go.", going(commonv1alpha1.DeletionDelete, external("other")), []string{"a", "b"}, want{"a", "other", v1alpha1.ReasonExternalNameChanged}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := tc.mg
			mg.Finalizers = []string{managed.FinalizerName}
			e := view(t, &pg{databases: tc.recorded}, mg.DeepCopy())
			if err := e.kube.Get(t.Context(), client.ObjectKeyFromObject(mg), mg); err != nil {
				t.Fatal(err)
			}
			e.names.Database = databaseOf(mg)
			err := e.settle(t.Context(), mg)
			stored := &v1alpha1.PGDatabase{}
			if err := e.kube.Get(t.Context(), client.ObjectKeyFromObject(mg), stored); err != nil {
				t.Fatal(err)
			}
			got := want{e.names.Database, meta.GetExternalName(stored), connect.ReasonOf(err, "")}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nsettle(...): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
