package pgdatabase

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	group "github.com/ryuvia/provider-terdut/internal/controller/postgresql"
)

func TestAvailable(t *testing.T) {
	v := "1.3"
	have := map[string]postgresql.AvailableExtension{"citext": {Name: "citext", Versions: []string{"1.3", "1.4"}}, "old": {Name: "old", Versions: []string{"1.0"}}}
	cases := map[string]struct {
		reason string
		want   []v1alpha1.Extension
		err    xpv2.ConditionReason
		calls  int
	}{
		"None":       {"Nothing is asked for, so nothing is asked.", nil, "", 0},
		"AnyVersion": {"The server offers it.", []v1alpha1.Extension{{Name: "citext"}, {Name: "old"}}, "", 1},
		"Version":    {"The server offers this version.", []v1alpha1.Extension{{Name: "citext", Version: &v}}, "", 1},
		"NoVersion":  {"The server offers another version.", []v1alpha1.Extension{{Name: "citext"}, {Name: "old", Version: &v}}, v1alpha1.ReasonExtensionUnavailable, 1},
		"Missing":    {"The server does not offer it.", []v1alpha1.Extension{{Name: "citext"}, {Name: "missing"}}, v1alpha1.ReasonExtensionUnavailable, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &pg{available: have}
			err := view(t, s).available(t.Context(), database(wants(tc.want...)))
			if got := connect.ReasonOf(err, ""); got != tc.err || (err != nil) != (tc.err != "") || len(s.calls) != tc.calls {
				t.Errorf("%s want reason %q, got error %v after the calls %v", tc.reason, tc.err, err, s.calls)
			}
		})
	}
}

// TestNeverLost holds that an object which has made a database before does not begin anew where there is no trace of it, unless an admin
// says so.
func TestNeverLost(t *testing.T) {
	known := func(db *v1alpha1.PGDatabase) { db.Status.AtProvider.DatabaseOID = 20 }
	created := func(db *v1alpha1.PGDatabase) { meta.SetExternalCreateSucceeded(db, time.Unix(0, 0)) }
	consent := func(a postgresql.Adoption) postgresql.Consents {
		return postgresql.Consents{Adoptions: []postgresql.Adoption{a}}
	}
	allowed := postgresql.Adoption{Database: "orders", From: postgresql.Unregistered, To: "shop/orders", Recreate: true}
	change := func(f func(*postgresql.Adoption)) postgresql.Consents {
		a := allowed
		f(&a)
		return consent(a)
	}
	cases := map[string]struct {
		reason   string
		mg       *v1alpha1.PGDatabase
		facts    func(*postgresql.Facts)
		consents postgresql.Consents
		lost     bool
	}{
		"New":           {"There never was one.", database(), nothing, postgresql.Consents{}, false},
		"Lost":          {"There was one by the status.", database(known), nothing, postgresql.Consents{}, true},
		"LostStatus":    {"There was one by the annotation.", database(created), nothing, postgresql.Consents{}, true},
		"Recorded":      {"The registry decides about what it knows.", database(known), func(f *postgresql.Facts) { f.Database = nil }, postgresql.Consents{}, false},
		"There":         {"It is there.", database(known), func(f *postgresql.Facts) { f.DatabaseRecord = nil }, postgresql.Consents{}, false},
		"Allowed":       {"An admin lets it be made anew.", database(known), nothing, consent(allowed), false},
		"OnlyAdoption":  {"An adoption is no such permission.", database(known), nothing, change(func(a *postgresql.Adoption) { a.Recreate = false }), true},
		"OtherDatabase": {"The admin speaks of another database.", database(known), nothing, change(func(a *postgresql.Adoption) { a.Database = "x" }), true},
		"OtherOwner":    {"The admin speaks of another owner.", database(known), nothing, change(func(a *postgresql.Adoption) { a.To = "shop/x" }), true},
		"OtherRecord":   {"The admin speaks of a recorded database.", database(known), nothing, change(func(a *postgresql.Adoption) { a.From = "uid" }), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := view(t, &pg{})
			err := e.neverLost(tc.mg, facts(tc.facts), postgresql.Claim{Names: e.names, Owner: me, Consents: tc.consents})
			if postgresql.IsDataLost(err) != tc.lost || (err != nil) != tc.lost {
				t.Errorf("%s want it to be lost: %t, got %v", tc.reason, tc.lost, err)
			}
		})
	}
}

// TestForeignIsNotKnown holds that a database which was in the way and went is not taken for one of ours that was lost.
func TestForeignIsNotKnown(t *testing.T) {
	s := &pg{facts: facts(func(f *postgresql.Facts) { f.RoleRecord, f.DatabaseRecord = nil, nil })}
	e, mg := view(t, s, login("login", "shop", password)), database()
	if _, err := e.Observe(t.Context(), mg); err != nil || mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonConflict {
		t.Fatalf("want a conflict, got %s and error %v", mg.GetCondition(xpv2.TypeReady).Reason, err)
	}
	s.facts = facts(nothing)
	if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
		t.Errorf("want something to create, got %v with %s and error %v", o, mg.GetCondition(xpv2.TypeReady).Reason, err)
	}
}

// TestOwnSecret holds that a Secret which the composite did not have delivered is a conflict, and that the verdict is remembered for that
// Secret alone.
func TestOwnSecret(t *testing.T) {
	yes := true
	ref := func(apiVersion, kind string, uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "app", UID: uid, Controller: &yes}}
	}
	es := func(uid types.UID, owners []metav1.OwnerReference) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "app", UID: uid, OwnerReferences: owners}}
	}
	const v1 = "external-secrets.io/v1"
	composite := ref("example.org/v1", "Tenant", "tenant")

	cases := map[string]struct {
		reason string
		mg     *v1alpha1.PGDatabase
		exists bool
		owners []metav1.OwnerReference
		es     *metav1.PartialObjectMetadata
		err    error
		want   xpv2.ConditionReason
		// reads of ExternalSecrets by two looks.
		reads int
	}{
		"Delivered":       {"An ExternalSecret of the composite controls it. That is looked at once.", database(controlled, checks("app")), true, ref(v1, "ExternalSecret", "es"), es("es", composite), nil, "", 1},
		"NoSecret":        {"There is none yet.", database(controlled, checks("app")), false, nil, nil, nil, "", 0},
		"NoCheck":         {"None is named.", database(controlled), true, nil, nil, nil, "", 0},
		"NoComposite":     {"Who writes a PGDatabase by hand may name any Secret of the namespace.", database(checks("app")), true, nil, nil, nil, "", 0},
		"Nobodys":         {"A Secret that nobody controls would be taken over.", database(controlled, checks("app")), true, nil, nil, nil, v1alpha1.ReasonConflict, 0},
		"OtherController": {"Something else controls it.", database(controlled, checks("app")), true, ref("apps/v1", "Deployment", "es"), es("es", composite), nil, v1alpha1.ReasonConflict, 0},
		"OtherGroup":      {"Another kind of this name controls it.", database(controlled, checks("app")), true, ref("example.org/v1", "ExternalSecret", "es"), es("es", composite), nil, v1alpha1.ReasonConflict, 0},
		"OtherKind":       {"Another kind of the group controls it.", database(controlled, checks("app")), true, ref(v1, "PushSecret", "es"), es("es", composite), nil, v1alpha1.ReasonConflict, 0},
		"OtherComposite":  {"Another composite had it delivered.", database(controlled, checks("app")), true, ref(v1, "ExternalSecret", "es"), es("es", ref("example.org/v1", "Tenant", "other")), nil, v1alpha1.ReasonConflict, 2},
		"ByHand":          {"Somebody made the ExternalSecret by hand.", database(controlled, checks("app")), true, ref(v1, "ExternalSecret", "es"), es("es", nil), nil, v1alpha1.ReasonConflict, 2},
		"Replaced":        {"The ExternalSecret is another one by now.", database(controlled, checks("app")), true, ref(v1, "ExternalSecret", "es"), es("later", composite), nil, v1alpha1.ReasonConflict, 2},
		"Gone":            {"The ExternalSecret is gone.", database(controlled, checks("app")), true, ref(v1, "ExternalSecret", "es"), nil, nil, v1alpha1.ReasonConflict, 2},
		"CannotGet":       {"Without an answer nothing is known.", database(controlled, checks("app")), true, ref(v1, "ExternalSecret", "es"), nil, errBoom, v1alpha1.ReasonFailed, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if tc.exists {
				s := login("app", "shop", password)
				s.OwnerReferences = tc.owners
				objects = append(objects, s)
			}
			e, reads := view(t, &pg{}, objects...), 0
			e.live = &test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, o client.Object) error {
				reads++
				switch {
				case tc.err != nil:
					return tc.err
				case tc.es == nil || k.Name != "app" || k.Namespace != "shop":
					return kerrors.NewNotFound(schema.GroupResource{}, k.Name)
				}
				tc.es.DeepCopyInto(o.(*metav1.PartialObjectMetadata))
				return nil
			}}
			var err error
			for range 2 {
				err = e.ownSecret(t.Context(), tc.mg)
			}
			got := xpv2.ConditionReason("")
			if err != nil {
				got = group.ReasonOf(err)
			}
			if got != tc.want || reads != tc.reads {
				t.Errorf("%s want reason %q and %d reads, got %q and %d (%v)", tc.reason, tc.want, tc.reads, got, reads, err)
			}
		})
	}
}

// TestFirstInLine holds to whom a Secret is delivered that two composites name, when it does not exist: to the one that has logged in with it,
// else to the older one. An application must not get the login to another database because somebody has deleted its Secret.
func TestFirstInLine(t *testing.T) {
	at := func(second int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)) }
	older := func(db *v1alpha1.PGDatabase) { db.CreationTimestamp = at(1) }
	used := func(db *v1alpha1.PGDatabase) { db.Status.AtProvider.LoginVerifiedTime = ptr.To(at(9)) }
	me := func(mods ...func(*v1alpha1.PGDatabase)) *v1alpha1.PGDatabase {
		db := database(append([]func(*v1alpha1.PGDatabase){controlled, checks("app")}, mods...)...)
		if db.CreationTimestamp.IsZero() {
			db.CreationTimestamp = at(2)
		}
		return db
	}
	other := func(mods ...func(*v1alpha1.PGDatabase)) *v1alpha1.PGDatabase {
		return me(append([]func(*v1alpha1.PGDatabase){func(db *v1alpha1.PGDatabase) {
			db.Name, db.UID = "carts", "earlier than uid"
			db.OwnerReferences[0].Name, db.OwnerReferences[0].UID = "carts", "another"
		}}, mods...)...)
	}
	for name, tc := range map[string]struct {
		mg, other *v1alpha1.PGDatabase
		conflict  bool
	}{
		"Younger":   {me(), other(older), true},
		"Older":     {me(older), other(), false},
		"SameAge":   {me(), other(), true}, // The uid decides.
		"Used":      {me(used), other(older), false},
		"OtherUsed": {me(older), other(used), true},
		"BothUsed":  {me(used, older), other(used), false},
		"OtherName": {me(), other(older, checks("else")), false},
		"Password": {me(), other(older, checks("else"), func(db *v1alpha1.PGDatabase) {
			db.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef.Name = "app" // It reads the Secret, and has none delivered.
		}), false},
		"SameComposite": {me(), other(older, func(db *v1alpha1.PGDatabase) { db.OwnerReferences[0].UID = "tenant" }), false},
		"ByHand":        {me(), other(older, func(db *v1alpha1.PGDatabase) { db.OwnerReferences = nil }), false},
		"Elsewhere":     {me(), other(older, func(db *v1alpha1.PGDatabase) { db.Namespace = "else" }), false},
		"Going": {me(), other(older, func(db *v1alpha1.PGDatabase) {
			db.DeletionTimestamp, db.Finalizers = ptr.To(at(3)), []string{"example.org/x"}
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := view(t, &pg{}, tc.mg, tc.other).ownSecret(t.Context(), tc.mg)
			if (err != nil) != tc.conflict || err != nil && (group.ReasonOf(err) != v1alpha1.ReasonConflict || !strings.Contains(err.Error(), `delivered for "carts"`)) {
				t.Errorf("conflict: want %t, got %v", tc.conflict, err)
			}
		})
	}
}
