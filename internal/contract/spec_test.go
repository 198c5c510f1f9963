package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSpecCheck(t *testing.T) {
	valid := func() Spec {
		return Spec{
			Secret: "shop-db", Rules: []Rule{{Name: "password"}},
			ExternalSecret: "shop-db", ExternalSecretAPIVersion: "external-secrets.io/v1", SupportedExternalSecretVersions: []string{"external-secrets.io/v1"},
			Workloads: []Workload{{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop", Containers: []string{"api"}, Consumption: ConsumptionEnvVars}},
			MaxAge:    ptr(time.Hour), RotatedAtAnnotation: "terdut.ryuvia.com/rotated-at", InjectionMode: "Disabled",
			Policy: Policy{RequireExternalSecretReady: true, RequireWorkloadReference: true, RequireRotationPolicy: true},
		}
	}
	one := func(rule RuleType, reason Reason) []Violation { return []Violation{{"", rule, reason}} }
	workloads := one(RuleWorkloadRefs, ReasonInvalidSpec)
	cases := map[string]struct {
		reason string
		change func(s *Spec)
		want   []Violation
	}{
		"Valid":            {reason: "Everything may be configured and required.", change: func(*Spec) {}},
		"Little":           {reason: "A Secret and a rule are enough.", change: func(s *Spec) { *s = Spec{Secret: "a", Rules: s.Rules} }},
		"Secret":           {reason: "A contract is about a Secret of its own namespace.", change: func(s *Spec) { s.Secret = "other/shop-db" }, want: one(RuleSecretRef, ReasonInvalidSpec)},
		"Rules":            {reason: "The rules must make sense too.", change: func(s *Spec) { s.Rules[0].Pattern = "(" }, want: []Violation{{"password", RulePattern, ReasonInvalidPattern}}},
		"ESVersion":        {reason: "Versions of External Secrets are the installation's to allow.", change: func(s *Spec) { s.ExternalSecretAPIVersion = "v1" }, want: one(RuleExternalSecretRef, ReasonInvalidSpec)},
		"Kind":             {reason: "Not every kind has a pod template that is known.", change: func(s *Spec) { s.Workloads[0].Kind = "ReplicaSet" }, want: workloads},
		"Group":            {reason: "A kind belongs to a group.", change: func(s *Spec) { s.Workloads[0].Kind = "CronJob" }, want: workloads},
		"CronJob":          {reason: "CronJobs have one.", change: func(s *Spec) { s.Workloads[0].APIVersion, s.Workloads[0].Kind = "batch/v1", "CronJob" }},
		"WorkloadTwice":    {reason: "A workload is named once.", change: func(s *Spec) { s.Workloads = append(s.Workloads, s.Workloads[0]) }, want: workloads},
		"Consumption":      {reason: "A way of consumption is known.", change: func(s *Spec) { s.Workloads[0].Consumption = "Volume" }, want: workloads},
		"ContainerTwice":   {reason: "A container is named once.", change: func(s *Spec) { s.Workloads[0].Containers = []string{"a", "a"} }, want: workloads},
		"Containers":       {reason: "16 containers are looked at.", change: func(s *Spec) { s.Workloads[0].Containers = names(MaxContainers) }},
		"TooManyContainer": {reason: "17 are not.", change: func(s *Spec) { s.Workloads[0].Containers = names(MaxContainers + 1) }, want: workloads},
		"Workloads":        {reason: "32 workloads are allowed.", change: func(s *Spec) { s.Workloads = many(MaxWorkloads) }},
		"TooManyWorkloads": {reason: "33 are not.", change: func(s *Spec) { s.Workloads = many(MaxWorkloads + 1) }, want: workloads},
		"Injection":        {reason: "Injection is not built.", change: func(s *Spec) { s.InjectionMode = "EnvFrom" }, want: one(RuleInjection, ReasonFeatureNotEnabled)},
		"Restart":          {reason: "Restarts are not built.", change: func(s *Spec) { s.RestartOnChange = true }, want: one(RuleRestartOnChange, ReasonFeatureNotEnabled)},
		"MaxAgeZero":       {reason: "An age is positive.", change: func(s *Spec) { s.MaxAge = ptr(time.Duration(0)) }, want: one(RuleMaxAge, ReasonInvalidSpec)},
		"MaxAgeNegative":   {reason: "An age is positive.", change: func(s *Spec) { s.MaxAge = ptr(-time.Hour) }, want: one(RuleMaxAge, ReasonInvalidSpec)},
		"Annotation":       {reason: "An annotation has a legal key.", change: func(s *Spec) { s.RotatedAtAnnotation = "a b" }, want: one(RuleRotatedAtAnnotation, ReasonInvalidSpec)},
		"PolicyES":         {reason: "What is required is configured.", change: func(s *Spec) { s.ExternalSecret = "" }, want: one(RulePolicy, ReasonInvalidSpec)},
		"PolicyWorkload":   {reason: "What is required is configured.", change: func(s *Spec) { s.Workloads = nil }, want: one(RulePolicy, ReasonInvalidSpec)},
		"PolicyRotation":   {reason: "What is required is configured.", change: func(s *Spec) { s.MaxAge = nil }, want: one(RulePolicy, ReasonInvalidSpec)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := valid()
			tc.change(&s)
			got := s.Check()
			if tc.want == nil {
				tc.want = []Violation{}
			}
			if diff := cmp.Diff(tc.want, got.Violations); diff != "" || got.SpecValid != (len(tc.want) == 0) {
				t.Errorf("\n%s\nCheck(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("c%d", i))
	}
	return list
}

func many(n int) (w []Workload) {
	for i := range n {
		w = append(w, Workload{APIVersion: "apps/v1", Kind: "StatefulSet", Name: fmt.Sprintf("w%d", i)})
	}
	return w
}

// TestSatisfied goes through the whole truth table of the formula: every condition in every state, every policy.
func TestSatisfied(t *testing.T) {
	const generation = 3
	states := []Status{StatusTrue, StatusFalse, StatusUnknown, "stale"}
	condition := func(s Status, r Reason) Condition {
		if s == "stale" {
			return Condition{StatusTrue, r, generation - 1}
		}
		return Condition{s, r, generation}
	}
	for i := range 1 << 14 { // Four states for each of seven conditions.
		var s [7]Status
		for j := range s {
			s[j] = states[i>>(2*j)&3]
		}
		c := Conditions{
			condition(s[0], ReasonAccessNotApproved), condition(s[1], ReasonInvalidSpec), condition(s[2], ReasonSecretNotFound), condition(s[3], ReasonEmptyValue),
			condition(s[4], ReasonExternalSecretNotReady), condition(s[5], ReasonEnvConflict), condition(s[6], ReasonSecretTooOld),
		}
		for policy := range 8 {
			p := Policy{policy&1 > 0, policy&2 > 0, policy&4 > 0}
			want := StatusTrue
			for j, state := range s {
				if j >= 4 && policy>>(j-4)&1 == 0 {
					continue
				}
				switch {
				case state == StatusFalse:
					want = StatusFalse
				case state != StatusTrue && want == StatusTrue:
					want = StatusUnknown
				}
			}
			got := c.Satisfied(generation, p)
			if got.Status != want || got.ObservedGeneration != generation {
				t.Fatalf("Satisfied(%v, %+v): want %s, got %+v", s, p, want, got)
			}
		}
	}

	falseAfterUnknown := Conditions{
		Authorized: condition(StatusTrue, ReasonNone), SpecValid: condition(StatusUnknown, ReasonNotConfigured),
		SecretExists: condition(StatusTrue, ReasonNone), KeysValid: condition(StatusFalse, ReasonEmptyValue),
	}
	if got := falseAfterUnknown.Satisfied(generation, Policy{}); got.Reason != ReasonEmptyValue {
		t.Errorf("the reason must be that of what is false, got %s", got.Reason)
	}
}
