package server

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// TestBudget creates a server of 5 teams with 5 children each, as fast as the budget allows, beside the bucket that Crossplane keeps: it never
// runs empty, however fast everything becomes ready, and all is made in a time that the refill explains.
func TestBudget(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	metadata := func() *structpb.Struct {
		s, err := structpb.NewStruct(map[string]any{"metadata": map[string]any{"creationTimestamp": start.Format(time.RFC3339)}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const wanted = 30
	for name, tc := range map[string]struct {
		tenants []*structpb.Struct
		bucket  float64
		claim   bool
	}{
		"DSN":    {bucket: burst - costComposite},
		"Claim":  {bucket: burst - costComposite*claimShare, claim: true},
		"Tenant": {tenants: []*structpb.Struct{metadata()}, bucket: burst - costComposite - costTenant},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{in: Input{Composite: metadata(), Required: map[string][]*structpb.Struct{requiredTenant: tc.tenants}}, observed: map[string]*object{}}
			share := 1.0
			if tc.claim {
				share = claimShare
				s.in.Required[composite.RequiredClaim] = nil
			}
			bucket, lowest := tc.bucket, tc.bucket
			made, now := 0, start
			add := func(name string) {
				s.observed[name] = &object{Object: composite.Object[struct{}, status]{Metadata: composite.Meta{CreationTimestamp: now.Truncate(time.Second).Format(time.RFC3339)}}}
				bucket -= costOf(name) * share
			}
			for ; made < wanted && now.Before(start.Add(time.Hour)); now = now.Add(time.Second) {
				bucket = min(burst, bucket+refill)
				s.in.Now = now
				s.budget = newBudget(s.in, s.observed)
				switch {
				case s.observed[resourceCredential] == nil:
					if s.bears(resourceCredential) {
						add(resourceCredential)
					}
				case s.observed[resourceDeployment] == nil:
					if s.bears(resourceDeployment, resourceService) {
						add(resourceDeployment)
						add(resourceService)
					}
				case s.observed[resourceBootstrap] == nil:
					if s.bears(resourceBootstrap, resourceConfig) {
						add(resourceBootstrap)
						add(resourceConfig)
					}
				default:
					n := s.budget.children(wanted - made)
					if n > 0 {
						bucket -= costBatch * share
					}
					for range n {
						add(fmt.Sprintf("%s%d", prefixTeam, made))
						made++
					}
				}
				lowest = min(lowest, bucket)
			}
			if made < wanted {
				t.Fatalf("only %d of %d are made within an hour", made, wanted)
			}
			if lowest < 0 {
				t.Errorf("the bucket has been at %.0f", lowest)
			}
			if took, most := now.Sub(start), time.Duration((wanted*costChild+120)*share)*time.Second; took > most {
				t.Errorf("it took %v, want at most %v", took, most)
			}
		})
	}
}

func TestBudgetGrows(t *testing.T) {
	xr := &structpb.Struct{}
	cases := map[string]struct {
		reason string
		ago    time.Duration
		there  int
		wanted int
		want   int
	}{
		"Unknown":    {reason: "Times that are not known are long ago.", ago: -1, there: 100, wanted: 4, want: 4},
		"LongAgo":    {reason: "The bucket is full again.", ago: time.Hour, there: 100, wanted: 50, want: 8},
		"JustNow":    {reason: "Too much was made a moment ago.", ago: 0, there: 8, wanted: 10, want: 0},
		"Batch":      {reason: "One or two are not worth a write while more are to come.", ago: 0, there: 5, wanted: 10, want: 0},
		"LastOnes":   {reason: "The last one is.", ago: 0, there: 5, wanted: 1, want: 1},
		"NoneWanted": {reason: "There is nothing to do.", ago: time.Hour, wanted: 0, want: 0},
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := map[string]*object{}
			for i := range tc.there {
				o := &object{}
				if tc.ago >= 0 {
					o.Metadata.CreationTimestamp = now.Add(-tc.ago).Format(time.RFC3339)
				}
				observed[fmt.Sprintf("%s%d", prefixTeam, i)] = o
			}
			if got := newBudget(Input{Composite: xr, Now: now}, observed).children(tc.wanted); got != tc.want {
				t.Errorf("\n%s\nchildren(%d): want %d, got %d", tc.reason, tc.wanted, tc.want, got)
			}
		})
	}
}
