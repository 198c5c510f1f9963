package baosecret

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

// going is a BaoSecret that is being deleted.
func going(p commonv1alpha1.DeletionPolicy, mods ...func(*v1alpha1.BaoSecret)) *v1alpha1.BaoSecret {
	return mine(append(mods, func(s *v1alpha1.BaoSecret) {
		now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		s.DeletionTimestamp = &now
		s.Spec.ForProvider.DeletionPolicy = p
	})...)
}

func controlled(s *v1alpha1.BaoSecret) {
	yes := true
	s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.org/v1", Kind: "Tenant", Name: "orders", UID: "tenant", Controller: &yes}}
}

// user is a PGDatabase that takes its password from the BaoSecret.
func user() *postgresqlv1alpha1.PGDatabase {
	db := &postgresqlv1alpha1.PGDatabase{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
	db.Spec.ForProvider.Owner.PasswordFrom.BaoSecretRef = &commonv1alpha1.LocalSecretKeySelector{Name: "orders", Key: "pass"}
	return db
}

// remove does what the reconciler does with an object that is being deleted. It returns whether the object may go.
func remove(ctx context.Context, e *external, mg *v1alpha1.BaoSecret) (gone bool, err error) {
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
	data := raw("user", `"shop"`)
	put := func(changes map[string]string) func(*kv) {
		return func(k *kv) { k.put("orders", tags(changes), data) }
	}
	type want struct {
		gone    bool
		record  bool
		writes  []string
		because xpv2.ConditionReason
		err     xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason  string
		mg      *v1alpha1.BaoSecret
		server  func(*kv)
		objects []client.Object
		want    want
	}{
		"Delete": {
			reason: "A record goes when its policy says so.", mg: going(del), server: put(nil),
			want: want{writes: []string{"DELETE kv/metadata/orders"}},
		},
		"AlreadyGone": {
			reason: "A record that is gone need not go.", mg: going(del), server: func(*kv) {},
			want: want{gone: true},
		},
		"Retain": {
			reason: "By default a record stays, with a note.", mg: going(""), server: put(nil),
			want: want{gone: true, record: true, writes: []string{writeMetadata}},
		},
		"RetainMarkAlone": {
			reason: "A mark without data is nothing to keep: it would only keep others away.", mg: going(retain),
			server: func(k *kv) { k.put("orders", tags(nil)) },
			want:   want{gone: true, writes: []string{"DELETE kv/metadata/orders"}},
		},
		"RetainOwnerAlive": {
			reason: "The composite makes the object again, which then finds its record without a note.", mg: going(retain, controlled), server: put(nil),
			want: want{gone: true, record: true},
		},
		"RetainWithoutServer": {
			reason: "Nobody has to be there for a record to be left behind.", mg: going(retain), server: func(k *kv) { put(nil)(k); k.down = true },
			want: want{gone: true, record: true},
		},
		"RetainForeign": {
			reason: "Somebody else's record gets no note.", mg: going(retain), server: put(map[string]string{tagHolder: "other"}),
			want: want{gone: true, record: true},
		},
		"OwnerAlive": {
			reason: "The composite makes the object again: its record stays.", mg: going(del, controlled), server: put(nil),
			want: want{gone: true, record: true},
		},
		"InUse": {
			reason: "A record that is used stays until its user is gone.", mg: going(del), server: put(nil), objects: []client.Object{user()},
			want: want{record: true, because: v1alpha1.ReasonInUse},
		},
		"Foreign": {
			reason: "Somebody else's record stays.", mg: going(del), server: func(k *kv) { k.put("orders", map[string]string{"team": "payments"}, data) },
			want: want{gone: true, record: true},
		},
		"OtherHolder": {
			reason: "The owner's record is another object's by now.", mg: going(del), server: put(map[string]string{tagHolder: "other"}),
			want: want{gone: true, record: true},
		},
		"NotManaged": {
			reason: "A record that nobody says is managed here is not, whatever else its metadata holds.", mg: going(del), server: put(map[string]string{tagManagedBy: ""}),
			want: want{gone: true, record: true},
		},
		"OtherControlPlane": {
			reason: "An object with the same uid in another control plane holds it.", mg: going(del), server: put(map[string]string{tagControlPlane: "there"}),
			want: want{gone: true, record: true},
		},
		"Sealed": {
			reason: "A server that cannot answer holds up the deletion, and that is said.", mg: going(del), server: func(k *kv) { put(nil)(k); k.down = true },
			want: want{record: true, because: v1alpha1.ReasonDegraded, err: v1alpha1.ReasonDegraded},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, c := newKV(t)
			tc.server(k)
			e := view(t, c, tc.objects...)
			e.owners = owner.NewResolver(&test.MockClient{MockGet: test.NewMockGetFn(nil, func(o client.Object) error {
				o.SetUID("tenant")
				return nil
			})})
			gone, err := remove(t.Context(), e, tc.mg)
			got := want{
				gone: gone, record: k.records["orders"] != nil, writes: k.writes,
				because: tc.mg.GetCondition(v1alpha1.TypeRecordReady).Reason, err: connect.ReasonOf(err, ""),
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nerror %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if r := k.records["orders"]; r != nil && (r.custom[tagRetained] != "") != (len(tc.want.writes) > 0) {
				t.Errorf("\n%s\nthe note is %q", tc.reason, r.custom[tagRetained])
			}
		})
	}
}

// TestDeleteAfterUse holds that a deletion which waited goes on when the user is gone: what an earlier pass reported does not hold it up.
func TestDeleteAfterUse(t *testing.T) {
	k, c := newKV(t)
	k.put("orders", tags(nil), raw("user", `"shop"`))
	db, mg := user(), going(commonv1alpha1.DeletionDelete)
	e := view(t, c, db)
	if gone, err := remove(t.Context(), e, mg); gone || err != nil || k.records["orders"] == nil {
		t.Fatalf("a record in use must stay: gone %t, error %v", gone, err)
	}
	if err := e.kube.Delete(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if gone, err := remove(t.Context(), e, mg); gone || err != nil || k.records["orders"] != nil {
		t.Errorf("a record that nobody uses any more must go: gone %t, error %v", gone, err)
	}
	if gone, err := remove(t.Context(), e, mg); !gone || err != nil {
		t.Errorf("the object must go after its record: gone %t, error %v", gone, err)
	}
}

// TestDeleteLooksAgain holds that Delete trusts no observation: a record that changed hands in between stays.
func TestDeleteLooksAgain(t *testing.T) {
	k, c := newKV(t)
	r := k.put("orders", tags(nil), raw("user", `"shop"`))
	e, mg := view(t, c), going(commonv1alpha1.DeletionDelete)
	if o, err := e.Observe(t.Context(), mg); err != nil || !o.ResourceExists {
		t.Fatalf("Observe(...): %v %v", o, err)
	}
	r.custom = tags(map[string]string{tagHolder: "other"})
	if _, err := e.Delete(t.Context(), mg); err != nil || k.records["orders"] == nil {
		t.Errorf("somebody else's record must stay, error %v", err)
	}
}
