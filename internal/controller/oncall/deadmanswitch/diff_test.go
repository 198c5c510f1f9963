package deadmanswitch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
)

func TestDesired(t *testing.T) {
	name := "watchdog"
	cases := map[string]struct {
		reason string
		in     v1alpha1.DeadmanSwitchParameters
		want   terdut.DeadmanSwitchParameters
		err    bool
	}{
		"All": {
			reason: "What the spec says is what the server is told.",
			in:     v1alpha1.DeadmanSwitchParameters{Name: &name, Matcher: "b=2, a=1", Timeout: "1h30m", Severity: "critical"},
			want:   terdut.DeadmanSwitchParameters{Name: name, Matcher: "b=2, a=1", Timeout: terdut.Duration(90 * time.Minute), Severity: "critical"},
		},
		"NoName": {
			reason: "Without a name the server derives one.",
			in:     v1alpha1.DeadmanSwitchParameters{Matcher: "a=1", Timeout: "90s"},
			want:   terdut.DeadmanSwitchParameters{Matcher: "a=1", Timeout: terdut.Duration(90 * time.Second)},
		},
		"Longest": {
			reason: "The longest timeout that the schema lets through is still one.",
			in:     v1alpha1.DeadmanSwitchParameters{Timeout: "999999h999999m"},
			want:   terdut.DeadmanSwitchParameters{Timeout: terdut.Duration(999999*time.Hour + 999999*time.Minute)},
		},
		"NoDuration": {reason: "What is no duration is an error.", in: v1alpha1.DeadmanSwitchParameters{Timeout: "soon"}, err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := desired(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.err {
				t.Errorf("%s error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
