package escalationpolicy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
)

func TestDesired(t *testing.T) {
	user := func(n string) v1alpha1.EscalationTarget {
		return v1alpha1.EscalationTarget{Kind: v1alpha1.TargetUser, Username: &n}
	}
	level := func(d v1alpha1.Duration, targets ...v1alpha1.EscalationTarget) v1alpha1.EscalationLevel {
		return v1alpha1.EscalationLevel{Timeout: d, Targets: targets}
	}
	users := []terdut.User{
		{ID: 7, Username: "alice"}, {ID: 8, Username: "Alice"}, {ID: 10, Username: "twin"}, {ID: 9, Username: "twin"},
		{ID: 7, Username: "alice"}, // A list that changed between two pages shows some twice.
	}
	cases := map[string]struct {
		reason  string
		in      v1alpha1.EscalationPolicyParameters
		want    terdut.EscalationPolicy
		unknown []string
		err     bool
	}{
		"Levels": {
			reason: "Levels are in the spec's order, and users are told by their ids.",
			in: v1alpha1.EscalationPolicyParameters{RepeatCount: 2, FallbackTopic: "ops", Levels: []v1alpha1.EscalationLevel{
				level("90s", v1alpha1.EscalationTarget{Kind: v1alpha1.TargetOnCall}), level("5m", user("Alice"), user("alice")),
			}},
			want: terdut.EscalationPolicy{RepeatCount: 2, FallbackTopic: "ops", Levels: []terdut.EscalationLevel{
				{Timeout: terdut.Duration(90 * time.Second), Targets: []terdut.EscalationTarget{{Kind: terdut.TargetOnCall}}},
				{Timeout: terdut.Duration(5 * time.Minute), Targets: []terdut.EscalationTarget{{Kind: terdut.TargetUser, UserID: 8}, {Kind: terdut.TargetUser, UserID: 7}}},
			}},
		},
		"Unknown": {
			reason:  "Users that the server does not have are named, each once, in order, and there is no policy.",
			in:      v1alpha1.EscalationPolicyParameters{Levels: []v1alpha1.EscalationLevel{level("1m", user("zoe"), user("alice"), user("bob")), level("1m", user("zoe"))}},
			unknown: []string{"bob", "zoe"},
		},
		"Ambiguous": {
			reason: "Of two users with one name neither is paged.",
			in:     v1alpha1.EscalationPolicyParameters{Levels: []v1alpha1.EscalationLevel{level("1m", user("alice"), user("twin"))}}, err: true,
		},
		"NoDuration": {reason: "What is no duration is an error.", in: v1alpha1.EscalationPolicyParameters{Levels: []v1alpha1.EscalationLevel{level("soon")}}, err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, unknown, err := desired(tc.in, users)
			if (err != nil) != tc.err {
				t.Errorf("%s got error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got) + cmp.Diff(tc.unknown, unknown); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsEmpty(t *testing.T) {
	for name, tc := range map[string]struct {
		p    terdut.EscalationPolicy
		want bool
	}{
		"AtFirst":     {terdut.EscalationPolicy{Levels: []terdut.EscalationLevel{}}, true},
		"Levels":      {terdut.EscalationPolicy{Levels: []terdut.EscalationLevel{{}}}, false},
		"RepeatCount": {terdut.EscalationPolicy{RepeatCount: 1}, false},
		"Topic":       {terdut.EscalationPolicy{FallbackTopic: "ops"}, false},
	} {
		if got := isEmpty(&tc.p); got != tc.want {
			t.Errorf("%s: want %t, got %t", name, tc.want, got)
		}
	}
}
