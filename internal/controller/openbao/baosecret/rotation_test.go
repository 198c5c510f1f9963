package baosecret

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

func TestTurn(t *testing.T) {
	trigger := func(s string) *v1alpha1.Rotation { return &v1alpha1.Rotation{Trigger: s} }
	one, two := raw("pass", `"one"`, "user", `"shop"`), raw("pass", `"two"`, "user", `"shop"`)
	extra, dropped := raw("pass", `"one"`, "user", `"shop"`, "theirs", `1`), raw("theirs", `1`)
	both := func(rotating, rotated string) map[string]string {
		return tags(map[string]string{tagRotating: rotating, tagRotated: rotated})
	}
	type want struct {
		Rotate        bool
		Before, After map[string]string
	}
	rotates := func(as string) want {
		return want{Rotate: true, Before: map[string]string{tagRotating: as}, After: map[string]string{tagRotating: "", tagRotated: as}}
	}
	was := func(as string) want { return want{After: map[string]string{tagRotating: "", tagRotated: as}} }
	counts := func(as string) want { return want{Before: map[string]string{tagRotating: "", tagRotated: as}} }
	nothing := want{Before: map[string]string{tagRotating: ""}}

	cases := map[string]struct {
		reason   string
		rotation *v1alpha1.Rotation
		server   func(*kv)
		want     want
	}{
		"None":           {"No rotation is asked for.", nil, func(k *kv) { k.put("orders", both("", "a@1"), one) }, want{}},
		"EmptyTrigger":   {"An empty trigger asks for none.", trigger(""), func(k *kv) { k.put("orders", both("", "a@1"), one) }, want{}},
		"First":          {"The first version belongs to the trigger. It is no rotation.", trigger("b"), func(*kv) {}, counts("b@1")},
		"Marked":         {"So it is after a crash.", trigger("b"), func(k *kv) { k.put("orders", both("", "b@1")) }, nothing},
		"FirstTrigger":   {"A record from before there was a trigger is rotated.", trigger("b"), func(k *kv) { k.put("orders", tags(nil), one, two) }, rotates("b@3")},
		"New":            {"A changed trigger rotates.", trigger("b"), func(k *kv) { k.put("orders", both("", "a@1"), one, one) }, rotates("b@3")},
		"Begun":          {"What has begun is finished.", trigger("b"), func(k *kv) { k.put("orders", both("b@2", "a@1"), one) }, rotates("b@2")},
		"Made":           {"What was made and not noted is noted.", trigger("b"), func(k *kv) { k.put("orders", both("b@2", "a@1"), one, two) }, was("b@2")},
		"MadeLongAgo":    {"Later versions change nothing about that.", trigger("b"), func(k *kv) { k.put("orders", both("b@2", "a@1"), one, two, two) }, was("b@2")},
		"NotMade":        {"Somebody else made the version: the rotation moves on.", trigger("b"), func(k *kv) { k.put("orders", both("b@2", "a@1"), one, extra) }, rotates("b@3")},
		"NotMadeDropped": {"So it does when they dropped the password.", trigger("b"), func(k *kv) { k.put("orders", both("b@2", "a@1"), one, dropped) }, rotates("b@3")},
		"Forgotten":      {"A version that nobody can compare counts as made.", trigger("b"), func(k *kv) { k.put("orders", both("b@2", "a@1"), nil, one) }, was("b@2")},
		"FirstNoted":     {"A first version replaces nothing, though an early release noted it as if it did.", trigger("b"), func(k *kv) { k.put("orders", both("b@1", ""), one) }, was("b@1")},
		"FirstNotedLate": {"Nor does it later.", trigger("b"), func(k *kv) { k.put("orders", both("b@1", ""), one, extra) }, was("b@1")},
		"Done":           {"A rotation that is noted is done.", trigger("b"), func(k *kv) { k.put("orders", both("", "b@2"), one, two, extra) }, nothing},
		"BackAgain":      {"An earlier trigger is as good as a new one.", trigger("a"), func(k *kv) { k.put("orders", both("", "b@2"), one, two) }, rotates("a@3")},
		"Broken":         {"A note that cannot be read is none.", trigger("b"), func(k *kv) { k.put("orders", both("b", "b@two"), one) }, rotates("b@2")},
		"Unregistered":   {"What an admin hands over keeps its values.", trigger("b"), func(k *kv) { k.put("orders", map[string]string{"team": "x"}, one, two) }, counts("b@2")},
		"OtherOwner": {"So it does when it was another's.", trigger("b"), func(k *kv) {
			k.put("orders", tags(map[string]string{tagOwner: "shop/other", tagOwnerUID: "other", tagRotated: "z@1"}), one, two)
		}, counts("b@2")},
		"EarlierSelf": {"The same name with another identity is no other.", trigger("b"), func(k *kv) {
			k.put("orders", tags(map[string]string{tagOwnerUID: "earlier", tagRotated: "a@1"}), one)
		}, rotates("b@2")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, c := newKV(t)
			tc.server(k)
			e := view(t, c)
			r, err := e.read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p := mine().Spec.ForProvider
			p.Rotation = tc.rotation
			got, err := e.turn(t.Context(), p, r, me)
			if err != nil {
				t.Fatal(err)
			}
			if tc.want.Before == nil {
				tc.want.Before = map[string]string{}
			}
			if tc.want.After == nil {
				tc.want.After = map[string]string{}
			}
			if diff := cmp.Diff(tc.want, want{got.rotate, got.before, got.after}); diff != "" {
				t.Errorf("\n%s\nturn(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRotationOf(t *testing.T) {
	type want struct {
		r  rotation
		ok bool
	}
	cases := map[string]struct {
		reason string
		text   string
		want   want
	}{
		"Rotation":      {"A trigger and a version.", "2026-11@7", want{rotation{"2026-11", 7}, true}},
		"None":          {"There is none.", "", want{}},
		"NoVersion":     {"Somebody wrote something else.", "2026-11", want{}},
		"BrokenVersion": {"Somebody wrote something else.", "2026-11@seven", want{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, ok := rotationOf(tagged(map[string]string{tagRotated: tc.text}), tagRotated)
			if diff := cmp.Diff(tc.want, want{r, ok}, cmp.AllowUnexported(want{}, rotation{})); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
			if ok && r.String() != tc.text {
				t.Errorf("%s want %s, got %s", tc.reason, tc.text, r)
			}
		})
	}
	if _, ok := rotationOf(nil, tagRotated); ok {
		t.Error("no record has no rotation")
	}
}
