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

func TestSame(t *testing.T) {
	want := func(mods ...func(*terdut.DeadmanSwitchParameters)) terdut.DeadmanSwitchParameters {
		p := terdut.DeadmanSwitchParameters{Name: "Watchdog", Matcher: "cluster=prod, alertname=Watchdog", Timeout: terdut.Duration(time.Minute), Severity: "critical"}
		for _, m := range mods {
			m(&p)
		}
		return p
	}
	noName := func(p *terdut.DeadmanSwitchParameters) { p.Name = "" }
	named := func(n string) func(*terdut.DeadmanSwitchParameters) {
		return func(p *terdut.DeadmanSwitchParameters) { p.Name = n }
	}
	cases := map[string]struct {
		reason   string
		want, is terdut.DeadmanSwitchParameters
		same     bool
	}{
		"Equal":     {"Nothing differs.", want(), want(), true},
		"Matcher":   {"A matcher that means the same is the same.", want(), want(func(p *terdut.DeadmanSwitchParameters) { p.Matcher = "alertname=Watchdog,cluster=prod" }), true},
		"Folded":    {"The server keeps names in lower case.", want(), want(named("watchdog")), true},
		"Case":      {"A name in another case than the server was told is another one.", want(named("watchdog")), want(named("Watchdog")), false},
		"Derived":   {"The server has derived the name.", want(noName), want(named("alertname=Watchdog,cluster=prod")), true},
		"Renamed":   {"Somebody has changed a derived name.", want(noName), want(named("by hand")), false},
		"Name":      {"The name differs.", want(), want(named("other")), false},
		"Timeout":   {"The timeout differs.", want(), want(func(p *terdut.DeadmanSwitchParameters) { p.Timeout++ }), false},
		"Severity":  {"The severity differs.", want(), want(func(p *terdut.DeadmanSwitchParameters) { p.Severity = "Critical" }), false},
		"NoMatcher": {"The matcher differs.", want(), want(func(p *terdut.DeadmanSwitchParameters) { p.Matcher = "alertname=Watchdog" }), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := same(tc.want, tc.is); got != tc.same {
				t.Errorf("%s want %t, got %t", tc.reason, tc.same, got)
			}
		})
	}
}
