package openbao

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// tag sets the custom metadata of a record by hand. Like the server's, it replaces all of it.
func tag(t *testing.T, path string, tags map[string]string) {
	t.Helper()
	b, err := json.Marshal(map[string]any{"custom_metadata": tags})
	if err != nil {
		t.Fatal(err)
	}
	admin(t, http.MethodPost, "kv/metadata/"+path, string(b))
}

// without returns tags without one.
func without(tags map[string]string, key string) map[string]string {
	left := map[string]string{}
	for k, v := range tags {
		if k != key {
			left[k] = v
		}
	}
	return left
}

// TestH21HandMade holds that a record that somebody made by hand stays as it is, with and without tags of theirs, until an admin hands it over:
// then their tags and other keys stay, and the password is the one that is in use.
func TestH21HandMade(t *testing.T) {
	for name, tags := range map[string]map[string]string{"plain": nil, "tagged": {"team": "x"}} {
		t.Run(name, func(t *testing.T) {
			path, p := "hand-made/"+name, newProvider(t)
			put(t, path, `{"user":"shop","password":"in use","theirs":1.5}`)
			if tags != nil {
				tag(t, path, tags)
			}
			was := look(t, path)
			// A trigger is no reason to change a password that is handed over.
			s := record(t, path, func(s *v1alpha1.BaoSecret) { trigger(s, "now") })
			p.apply(t, s)
			p.stays(t, s, v1alpha1.ReasonConflict, was)
			for _, other := range []v1alpha1.Adoption{
				handOver(path+"-other", commonv1alpha1.AdoptionFromUnregistered, false),
				handOver(path, "somebody", false),
				{Path: "kv/" + path, AdoptionTarget: commonv1alpha1.AdoptionTarget{From: commonv1alpha1.AdoptionFromUnregistered, To: "shop/other"}},
			} {
				p.adopt(t, other)
				p.stays(t, s, v1alpha1.ReasonConflict, was)
			}

			p.adopt(t, handOver(path, commonv1alpha1.AdoptionFromUnregistered, false))
			now := p.ready(t, s)
			if now.Version != was.Version || now.Data["password"] != `"in use"` || now.Data["theirs"] != was.Data["theirs"] {
				t.Errorf("the record is at version %d, it was at %d, or its values are not what they were", now.Version, was.Version)
			}
			for k, v := range tags {
				if now.Custom[k] != v {
					t.Errorf("tag %s is %q", k, now.Custom[k])
				}
			}
			// It is ours now, whatever becomes of the adoption.
			p.adopt(t)
			p.stays(t, s, xpv2.ReasonAvailable, now)
			trigger(s, "again")
			if now = p.ready(t, s); now.Version != was.Version+1 || now.Data["password"] == `"in use"` || now.Data["theirs"] != was.Data["theirs"] {
				t.Errorf("a new trigger takes the record to version %d, or changes the wrong values", now.Version)
			}
		})
	}
}

// TestH21OthersTags holds that tags that others set on our record stay, and that a record whose tags leave no room for ours is not touched.
func TestH21OthersTags(t *testing.T) {
	path, p := "others-tags", newProvider(t)
	s := record(t, path)
	p.apply(t, s)
	tags := p.ready(t, s).Custom
	tags["team"] = "x"
	tag(t, path, tags)
	trigger(s, "new")
	if now := p.ready(t, s); now.Custom["team"] != "x" || now.Version != 2 {
		t.Errorf("a rotation to version %d leaves tag %q", now.Version, now.Custom["team"])
	}

	full := map[string]string{}
	for i := range 64 {
		full[fmt.Sprint("theirs-", i)] = strings.Repeat("x", 512)
	}
	path += "-full"
	put(t, path, `{"password":"in use"}`)
	tag(t, path, full)
	was := look(t, path)
	s = record(t, path)
	p.apply(t, s)
	p.adopt(t, handOver(path, commonv1alpha1.AdoptionFromUnregistered, false))
	_, err := p.pass(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "64") {
		t.Errorf("want an error that names the bound, got: %v", err)
	}
	same(t, path, was)
}

// TestH21TwoControlPlanes holds that of two control planes with an object of the same name the first keeps the record.
func TestH21TwoControlPlanes(t *testing.T) {
	path, here := "two-planes", newProvider(t)
	s := record(t, path)
	here.apply(t, s)
	was := here.ready(t, s)
	tag(t, path, func() map[string]string {
		tags := without(was.Custom, "")
		tags["terdut-control-plane"] = "there"
		return tags
	}())
	was = look(t, path)
	here.stays(t, s, v1alpha1.ReasonConflict, was)
	if gone, err := here.pass(t.Context(), going(s, commonv1alpha1.DeletionDelete)); !gone || err != nil {
		t.Errorf("the object must go: %v", err)
	}
	same(t, path, was)
}

// TestH23Delete holds what is left of a record with three versions: all of it with Retain, and nothing with Delete.
func TestH23Delete(t *testing.T) {
	for _, policy := range []commonv1alpha1.DeletionPolicy{commonv1alpha1.DeletionRetain, "", commonv1alpha1.DeletionDelete} {
		t.Run("policy "+string(policy), func(t *testing.T) {
			path, p := "delete/policy-"+string(policy)+"-", newProvider(t)
			s := record(t, path)
			p.apply(t, s)
			p.ready(t, s)
			for _, to := range []string{"one", "two"} {
				trigger(s, to)
				p.ready(t, s)
			}
			was := look(t, path)
			first := string(admin(t, http.MethodGet, "kv/data/"+path+"?version=1", "")["data"])
			p.wire.seen()

			d, gone := going(s, policy), false
			for range 3 {
				var err error
				if gone, err = p.pass(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			if !gone {
				t.Error("the object must go")
			}
			now := look(t, path)
			version1 := string(admin(t, http.MethodGet, "kv/data/"+path+"?version=1", "")["data"])
			if policy == commonv1alpha1.DeletionDelete {
				if now != nil || version1 != "" {
					t.Error("something of the record is left")
				}
				return
			}
			for _, w := range p.wire.writes() {
				if strings.HasPrefix(w, http.MethodDelete) || strings.Contains(w, "/data/") || strings.Contains(w, "/destroy/") {
					t.Errorf("a record that stays is changed: %s", w)
				}
			}
			if now == nil || now.Version != 3 || was.Version != 3 || now.Data["password"] != was.Data["password"] || version1 == "" || version1 != first {
				t.Error("the record is not what it was")
			}
			if now.Custom["terdut-retained"] != "true" {
				t.Error("there is no note that it was left behind")
			}
		})
	}
}

// TestH23NotOurs holds that a record whose tags do not name the object any more is not deleted, at whatever moment that became so, and
// that the object goes.
func TestH23NotOurs(t *testing.T) {
	for _, key := range []string{"terdut-managed-by", "terdut-holder", "terdut-control-plane"} {
		for _, late := range []bool{false, true} {
			path, p := fmt.Sprintf("not-ours/%s/%t", key, late), newProvider(t)
			s := record(t, path)
			p.apply(t, s)
			tags := without(p.ready(t, s).Custom, key)
			if !late {
				tag(t, path, tags)
			} else {
				n := 0
				p.wire.before = func(call string) error {
					// The second look is Delete's own.
					if call == "GET kv/metadata/"+path {
						if n++; n == 2 {
							tag(t, path, tags)
						}
					}
					return nil
				}
			}
			p.wire.seen()
			d, gone := going(s, commonv1alpha1.DeletionDelete), false
			for range 2 {
				var err error
				if gone, err = p.pass(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			if w := p.wire.writes(); !gone || len(w) > 0 || look(t, path) == nil {
				t.Errorf("without %s, late %t: the object may go: %t, writes %v", key, late, gone, w)
			}
		}
	}
}

// TestH23AlreadyGone holds that a record that somebody deleted already is deleted.
func TestH23AlreadyGone(t *testing.T) {
	path, p := "already-gone", newProvider(t)
	s := record(t, path)
	p.apply(t, s)
	p.ready(t, s)
	admin(t, http.MethodDelete, "kv/metadata/"+path, "")
	if gone, err := p.pass(t.Context(), going(s, commonv1alpha1.DeletionDelete)); !gone || err != nil {
		t.Errorf("the object must go: %v", err)
	}
}
