package baosecret

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// me is who asks for records here: a BaoSecret that owns itself.
var me = claimant{controlPlane: "here", ownerUID: "uid", owner: "shop/orders", holder: "uid"}

// tagged is the metadata of a record of mine, with tags changed. "" removes one.
func tagged(changes map[string]string) *openbao.Metadata {
	return &openbao.Metadata{CustomMetadata: merge(&openbao.Metadata{CustomMetadata: me.tags()}, changes)}
}

func adoption(path, from, to string) v1alpha1.Adoption {
	return v1alpha1.Adoption{Path: path, AdoptionTarget: commonv1alpha1.AdoptionTarget{From: from, To: to}}
}

func TestJudge(t *testing.T) {
	const name = "kv/orders"
	unregistered := func(to string) consents {
		return consents{adoptions: []v1alpha1.Adoption{adoption(name, commonv1alpha1.AdoptionFromUnregistered, to)}}
	}
	from := func(uid string) consents {
		return consents{adoptions: []v1alpha1.Adoption{adoption(name, uid, "shop/orders")}}
	}
	theirs := &openbao.Metadata{CustomMetadata: map[string]string{"team": "payments"}}

	cases := map[string]struct {
		reason   string
		metadata *openbao.Metadata
		consents consents
		want     verdict
	}{
		"NoRecord":               {"There is none.", nil, consents{}, free},
		"NoRecordAdopted":        {"There is none to adopt.", nil, unregistered("shop/orders"), free},
		"Ours":                   {"The record names us.", tagged(nil), consents{}, ours},
		"OursWithTheirMetadata":  {"Others may add metadata.", tagged(map[string]string{"team": "payments"}), consents{}, ours},
		"OursByAnotherHolder":    {"The owner's object was made again.", tagged(map[string]string{tagHolder: "earlier"}), consents{}, ours},
		"OursRetained":           {"The owner let go of it and is back.", tagged(map[string]string{tagRetained: "true"}), consents{}, ours},
		"OtherOwner":             {"The record names somebody else.", tagged(map[string]string{tagOwnerUID: "other"}), consents{}, foreign},
		"SameNameOtherOwner":     {"An owner of the same name is not the same owner.", tagged(map[string]string{tagOwnerUID: "earlier"}), consents{}, foreign},
		"OtherControlPlane":      {"Another control plane's owner has the same uid, after a restore.", tagged(map[string]string{tagControlPlane: "there"}), consents{}, foreign},
		"NoMetadata":             {"Somebody else made the record.", &openbao.Metadata{}, consents{}, foreign},
		"TheirMetadata":          {"Somebody else made the record.", theirs, consents{}, foreign},
		"OtherManager":           {"A tag of ours in a record that says that somebody else manages it is no claim.", tagged(map[string]string{tagManagedBy: "terraform"}), consents{}, foreign},
		"NotManaged":             {"Half of our tags are no claim.", tagged(map[string]string{tagManagedBy: ""}), consents{}, foreign},
		"Adopted":                {"An admin hands the record over.", tagged(map[string]string{tagOwnerUID: "other"}), from("other"), adoptable},
		"AdoptedFromOther":       {"The admin looked at another owner's record.", tagged(map[string]string{tagOwnerUID: "other"}), from("another"), foreign},
		"AdoptedUnregistered":    {"An admin hands over a record that nobody registered.", theirs, unregistered("shop/orders"), adoptable},
		"AdoptedBySomebodyElse":  {"The admin hands the record to somebody else.", theirs, unregistered("shop/billing"), foreign},
		"RegisteredIsNot":        {"A registered record is not an unregistered one.", tagged(map[string]string{tagOwnerUID: "other"}), unregistered("shop/orders"), foreign},
		"NotManagedIsNoOwner":    {"The owner in a record that is not managed is not believed.", tagged(map[string]string{tagManagedBy: "", tagOwnerUID: "other"}), from("other"), foreign},
		"OtherPath":              {"The admin hands over another record.", theirs, consents{adoptions: []v1alpha1.Adoption{adoption("kv/other", commonv1alpha1.AdoptionFromUnregistered, "shop/orders")}}, foreign},
		"Restored":               {"An admin hands over what another control plane recorded for the same name.", tagged(map[string]string{tagControlPlane: "there", tagOwnerUID: "other"}), consents{controlPlanes: []string{"there"}}, adoptable},
		"RestoredOtherName":      {"The other control plane recorded another name.", tagged(map[string]string{tagControlPlane: "there", tagOwner: "shop/billing"}), consents{controlPlanes: []string{"there"}}, foreign},
		"RestoredOtherPlane":     {"The admin named another control plane.", tagged(map[string]string{tagControlPlane: "there", tagOwnerUID: "other"}), consents{controlPlanes: []string{"elsewhere"}}, foreign},
		"RestoredNotManaged":     {"A record that is not managed has no control plane.", tagged(map[string]string{tagControlPlane: "there", tagManagedBy: ""}), consents{controlPlanes: []string{"there"}}, foreign},
		"RestoredNoControlPlane": {"A record of nobody is not of a control plane without a name.", theirs, consents{controlPlanes: []string{""}}, foreign},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := judge(tc.metadata, "kv/orders", me, tc.consents); got != tc.want {
				t.Errorf("%s want verdict %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConsents(t *testing.T) {
	c := consentsOf(v1alpha1.ServerSpec{
		Adoptions: []v1alpha1.Adoption{
			{Path: "kv/a", AdoptionTarget: commonv1alpha1.AdoptionTarget{From: "uid", To: "shop/orders", Recreate: true}},
			{Path: "kv/b", AdoptionTarget: commonv1alpha1.AdoptionTarget{From: "uid", To: "shop/orders"}},
			{Path: "kv/c", AdoptionTarget: commonv1alpha1.AdoptionTarget{From: "uid", To: "shop/billing", Recreate: true}},
			{Path: "kv/d", AdoptionTarget: commonv1alpha1.AdoptionTarget{From: commonv1alpha1.AdoptionFromUnregistered, To: "shop/orders", Recreate: true}},
		},
		ControlPlanes: []commonv1alpha1.ControlPlaneAdoption{{From: "there"}},
	})
	if diff := cmp.Diff([]string{"there"}, c.controlPlanes); diff != "" {
		t.Errorf("control planes: -want, +got:\n%s", diff)
	}
	recorded, gone := map[string]bool{}, map[string]bool{}
	for _, name := range []string{"kv/a", "kv/b", "kv/c", "kv/d", "kv/e"} {
		recorded[name], gone[name] = c.recreate(tagged(nil), name, me), c.recreate(nil, name, me)
	}
	if diff := cmp.Diff(map[string]bool{"kv/a": true, "kv/b": false, "kv/c": false, "kv/d": false, "kv/e": false}, recorded); diff != "" {
		t.Errorf("recreate a record of ours: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"kv/a": false, "kv/b": false, "kv/c": false, "kv/d": true, "kv/e": false}, gone); diff != "" {
		t.Errorf("recreate a record that is gone: -want, +got:\n%s", diff)
	}
}

// TestConflict holds that a conflict says whose the record is, as far as that is known, and what an admin has to write.
func TestConflict(t *testing.T) {
	theirs := &openbao.Metadata{CustomMetadata: map[string]string{tagOwner: "shop/forged", tagOwnerUID: "forged"}}
	if got := conflict(tagged(map[string]string{tagOwnerUID: "other", tagOwner: "bank/ledger"}), "kv/orders"); !strings.Contains(got, "bank/ledger (other)") {
		t.Errorf("the owner is not named: %s", got)
	}
	got := conflict(theirs, "kv/orders")
	if strings.Contains(got, "forged") || !strings.Contains(got, commonv1alpha1.AdoptionFromUnregistered) || !strings.Contains(got, `"kv/orders"`) {
		t.Errorf("the record has no owner that could be believed: %s", got)
	}
}

func TestMerge(t *testing.T) {
	m := &openbao.Metadata{CustomMetadata: map[string]string{"team": "payments", "b": "1", "c": "2"}}
	got := merge(m, map[string]string{"b": "3", "c": "", "d": "4", "e": ""})
	if diff := cmp.Diff(map[string]string{"team": "payments", "b": "3", "d": "4"}, got); diff != "" {
		t.Errorf("merge(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"team": "payments", "b": "1", "c": "2"}, m.CustomMetadata); diff != "" {
		t.Errorf("what was read must stay as it is: -want, +got:\n%s", diff)
	}
	if got := merge(nil, map[string]string{"a": "1"}); got["a"] != "1" {
		t.Errorf("a record that is not there has no metadata to keep, got %v", got)
	}
}
