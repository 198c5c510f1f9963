package pgdatabase

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

// going is a PGDatabase that is being deleted.
func going(p commonv1alpha1.DeletionPolicy, mods ...func(*v1alpha1.PGDatabase)) *v1alpha1.PGDatabase {
	return database(append(mods, func(db *v1alpha1.PGDatabase) {
		db.DeletionTimestamp = &past
		db.Spec.ForProvider.DeletionPolicy = p
	})...)
}

// controlled by a composite with the uid tenant.
func controlled(db *v1alpha1.PGDatabase) {
	yes := true
	db.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.org/v1", Kind: "Tenant", Name: "orders", UID: "tenant", Controller: &yes}}
}

// holder changes who holds both records.
func holder(o postgresql.Owner) func(*postgresql.Facts) {
	return func(f *postgresql.Facts) { f.RoleRecord.Owner, f.DatabaseRecord.Owner = o, o }
}

func TestHeld(t *testing.T) {
	tenant := postgresql.Owner{ControlPlane: "here", UID: "tenant", Namespace: "shop", Name: "orders", Holder: "uid"}
	other := func(f func(*postgresql.Owner)) func(*postgresql.Facts) {
		o := tenant
		f(&o)
		return holder(o)
	}
	cases := map[string]struct {
		reason string
		mod    func(*postgresql.Facts)
		want   postgresql.Owner
	}{
		"Itself":            {"The object owns its records.", holder(me), me},
		"Holder":            {"The object acts for an owner that may be gone.", holder(tenant), tenant},
		"RoleAlone":         {"The create was interrupted.", func(f *postgresql.Facts) { holder(tenant)(f); f.DatabaseRecord = nil }, tenant},
		"DatabaseAlone":     {"The deletion was interrupted.", func(f *postgresql.Facts) { holder(tenant)(f); f.RoleRecord = nil }, tenant},
		"RoleRetained":      {"The role was kept, the database was not dropped yet.", func(f *postgresql.Facts) { holder(tenant)(f); f.RoleRecord.State = postgresql.StateRetained }, tenant},
		"Nothing":           {"Nothing is recorded.", nothing, postgresql.Owner{}},
		"OtherHolder":       {"Another object acts for the same owner by now.", other(func(o *postgresql.Owner) { o.Holder = "later" }), postgresql.Owner{}},
		"NoHolder":          {"Nobody is known to act for the owner.", other(func(o *postgresql.Owner) { o.Holder = "" }), postgresql.Owner{}},
		"OtherControlPlane": {"The same uid in another control plane is another object.", other(func(o *postgresql.Owner) { o.ControlPlane = "there" }), postgresql.Owner{}},
		"Retained": {
			"The records were let go of.",
			func(f *postgresql.Facts) {
				holder(tenant)(f)
				f.RoleRecord.State, f.DatabaseRecord.State = postgresql.StateRetained, postgresql.StateRetained
			},
			postgresql.Owner{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := view(t, &pg{facts: facts(tc.mod)})
			c, held, err := e.held(t.Context(), going(commonv1alpha1.DeletionDelete))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, c.Owner); diff != "" || held != (tc.want != postgresql.Owner{}) {
				t.Errorf("%s held %t, -want, +got:\n%s", tc.reason, held, diff)
			}
			if c.Names != e.names || c.DeletionPolicy != "Delete" {
				t.Errorf("%s the claim must be on the names of the object, got %v", tc.reason, c.Names)
			}
		})
	}
	if _, _, err := view(t, &pg{observeErr: errBoom}).held(t.Context(), database()); !errors.Is(err, errBoom) {
		t.Errorf("want errBoom, got %v", err)
	}
}

// remove does what the reconciler does with an object that is being deleted. It returns whether the object may go.
func remove(ctx context.Context, e *external, mg *v1alpha1.PGDatabase) (gone bool, err error) {
	o, err := e.Observe(ctx, mg)
	if err != nil || !o.ResourceExists {
		return err == nil, err
	}
	_, err = e.Delete(ctx, mg)
	return false, err
}

func TestDelete(t *testing.T) {
	const (
		del    = commonv1alpha1.DeletionDelete
		retain = commonv1alpha1.DeletionRetain
	)
	terminate := func(db *v1alpha1.PGDatabase) { db.Spec.ForProvider.TerminateConnections = true }
	inUse := &postgresql.InUseError{Database: "orders", Sessions: 2}
	type want struct {
		gone   bool
		calls  []string
		events []event.Reason
		err    xpv2.ConditionReason
		// database is the reason of DatabaseReady.
		database xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.PGDatabase
		server *pg
		want   want
	}{
		"Delete": {
			reason: "The database goes before its role, and nobody's session is ended.", mg: going(del), server: &pg{facts: facts()},
			want: want{calls: []string{"DropDatabase", "DropRole"}},
		},
		"Terminate": {
			reason: "Sessions are ended where that is allowed.", mg: going(del, terminate), server: &pg{facts: facts()},
			want: want{calls: []string{"DropDatabase and sessions", "DropRole"}},
		},
		"RoleKept": {
			reason: "A role that owns more is told.", mg: going(del), server: &pg{facts: facts(), kept: []string{"other"}},
			want: want{calls: []string{"DropDatabase", "DropRole"}, events: []event.Reason{reasonRoleKept}},
		},
		"InUse": {
			reason: "A database in use stays, and so does its role. That is told once, and is no error.",
			mg:     going(del), server: &pg{facts: facts(), fail: map[string]error{"DropDatabase": inUse}},
			want: want{calls: []string{"DropDatabase"}, events: []event.Reason{"InUse"}, database: v1alpha1.ReasonInUse},
		},
		"StillInUse": {
			reason: "It is not told again.",
			mg: going(del, func(db *v1alpha1.PGDatabase) {
				db.SetConditions(notYet(v1alpha1.TypeDatabaseReady, v1alpha1.ReasonInUse, "before"))
			}),
			server: &pg{facts: facts(), fail: map[string]error{"DropDatabase": inUse}},
			want:   want{calls: []string{"DropDatabase"}, database: v1alpha1.ReasonInUse},
		},
		"Gone": {
			reason: "What is gone need not go.", mg: going(del), server: &pg{facts: facts(nothing)},
			want: want{gone: true},
		},
		"Foreign": {
			reason: "What another object holds stays.", mg: going(del), server: &pg{facts: facts(holder(postgresql.Owner{ControlPlane: "here", UID: "uid", Holder: "other"}))},
			want: want{gone: true},
		},
		"OwnerAlive": {
			reason: "The composite makes the object again: its database stays.", mg: going(del, controlled), server: &pg{facts: facts()},
			want: want{gone: true},
		},
		"Retain": {
			reason: "By default all stays, with a note.", mg: going(""), server: &pg{facts: facts()},
			want: want{gone: true, calls: []string{"Retain"}},
		},
		"RetainForeign": {
			reason: "What another object holds gets no note.", mg: going(retain), server: &pg{facts: facts(holder(postgresql.Owner{ControlPlane: "here", UID: "uid", Holder: "other"}))},
			want: want{gone: true},
		},
		"RetainOwnerAlive": {
			reason: "The composite makes the object again, so there is no note.", mg: going(retain, controlled), server: &pg{facts: facts()},
			want: want{gone: true},
		},
		"RetainWithoutServer": {
			reason: "Nobody has to be there for a database to be left behind.", mg: going(retain), server: &pg{observeErr: unreachable},
			want: want{gone: true},
		},
		"RetainFails": {
			reason: "A note that cannot be made holds nothing up.", mg: going(retain), server: &pg{facts: facts(), fail: map[string]error{"Retain": errBoom}},
			want: want{gone: true, calls: []string{"Retain"}},
		},
		"DeleteWithoutServer": {
			reason: "A server that does not answer holds up a deletion, and that is said.", mg: going(del), server: &pg{observeErr: unreachable},
			want: want{err: v1alpha1.ReasonInstanceUnreachable, database: v1alpha1.ReasonDegraded},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := view(t, tc.server)
			e.owners = owner.NewResolver(&test.MockClient{MockGet: test.NewMockGetFn(nil, func(o client.Object) error {
				o.SetUID("tenant")
				return nil
			})})
			e.proofs.put(tc.mg.UID, &proof{})
			gone, err := remove(t.Context(), e, tc.mg)
			got := want{
				gone: gone, calls: tc.server.calls, events: e.recorder.(*recorder).events, err: connect.ReasonOf(err, ""),
				database: tc.mg.GetCondition(v1alpha1.TypeDatabaseReady).Reason,
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nerror %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if gone && e.proofs.get(tc.mg.UID) != nil {
				t.Errorf("\n%s\nnothing of an object that is gone may be kept", tc.reason)
			}
		})
	}
}
