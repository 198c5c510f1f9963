package composite

import (
	"cmp"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
)

// TestAskAgain holds that what happens is looked at soon, and that what waits for long costs little.
func TestAskAgain(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) string { return now.Add(-d).Format(time.RFC3339) }
	made := func(d time.Duration) map[string]any { return map[string]any{"creationTimestamp": ago(d)} }
	condition := func(kind, status string, d time.Duration) any {
		return map[string]any{"type": kind, "status": status, "lastTransitionTime": ago(d)}
	}
	cases := map[string]struct {
		reason     string
		ready      bool
		hidden     bool
		made       time.Duration
		conditions []any
		child      time.Duration // When the youngest composed resource was made, 0 for none.
		limit      time.Duration // A minute unless it is set.
		want       time.Duration
	}{
		"New":       {reason: "Everything is still to come.", made: time.Second, want: 5 * time.Second},
		"OnItsWay":  {reason: "Something happens.", made: time.Hour, conditions: []any{condition("A", "False", time.Hour), condition("B", "True", 20*time.Second)}, want: 5 * time.Second},
		"Composing": {reason: "A composed resource is new.", made: time.Hour, conditions: []any{condition("A", "False", time.Hour)}, child: 90 * time.Second, want: 15 * time.Second},
		"Waiting":   {reason: "Nothing has happened for a while.", made: time.Hour, conditions: []any{condition("A", "False", 10*time.Minute)}, want: 100 * time.Second, limit: 5 * time.Minute},
		"Stuck":     {reason: "It waits for a person, for days.", made: 72 * time.Hour, conditions: []any{condition("A", "False", 48*time.Hour)}, want: time.Minute},
		"Ready":     {reason: "Nothing is expected.", ready: true, made: time.Minute, want: 5 * time.Minute},
		"Hidden":    {reason: "What is left to be written is written soon.", ready: true, hidden: true, made: 72 * time.Hour, want: 5 * time.Second},
		"Paused":    {reason: "Watches say nothing.", made: 72 * time.Hour, conditions: []any{condition("Responsive", "False", time.Hour)}, want: 5 * time.Second},
		"Future":    {reason: "Clocks differ.", made: -time.Hour, want: 5 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			xr, err := structpb.NewStruct(map[string]any{"metadata": made(tc.made), "status": map[string]any{"conditions": tc.conditions}})
			if err != nil {
				t.Fatal(err)
			}
			observed := map[string]*structpb.Struct{}
			if tc.child > 0 {
				if observed["child"], err = structpb.NewStruct(map[string]any{"metadata": made(tc.child)}); err != nil {
					t.Fatal(err)
				}
			}
			if got := (&Composition{Ready: tc.ready}).AskAgain(xr, observed, !tc.hidden, now, cmp.Or(tc.limit, Slow)); got != tc.want {
				t.Errorf("\n%s\nwant %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
	if got := (&Composition{}).AskAgain(&structpb.Struct{}, nil, true, now, Slow); got != Soon {
		t.Errorf("of what has no times: want %s, got %s", Soon, got)
	}
}
