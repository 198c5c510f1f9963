package consume

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/internal/contract"
)

const secret = "shop-db"

func ptr[T any](v T) *T { return &v }

func fromSecret(variable, name, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key,
	}}}
}

func optionally(e corev1.EnvVar) corev1.EnvVar {
	e.ValueFrom.SecretKeyRef.Optional = ptr(true)
	return e
}

func allOf(name, prefix string, optional *bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: optional}}
}

func configMap(prefix string) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "other"}}}
}

func api(env []corev1.EnvVar, from ...corev1.EnvFromSource) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "api", Env: env, EnvFrom: from}}}}
}

var testRules = []contract.Rule{{Name: "DB_PASSWORD"}, {Name: "DB_OPTIONAL", Required: ptr(false)}}

// TestCheckOneContainer goes through the ways in which one container takes a Secret, for each way that a contract may ask for.
func TestCheckOneContainer(t *testing.T) {
	right := fromSecret("DB_PASSWORD", secret, "DB_PASSWORD")
	inline := corev1.EnvVar{Name: "DB_PASSWORD", Value: "hunter2"}
	ok := []Finding{}
	one := func(path string, r contract.Reason) []Finding { return []Finding{{"containers[api]" + path, r}} }
	missing := one(".env[DB_PASSWORD]", contract.ReasonRequiredReferenceMissing)
	noGroup := one(".envFrom", contract.ReasonRequiredReferenceMissing)
	conflicts := one(".env[DB_PASSWORD]", contract.ReasonEnvConflict)
	optionalEnv := one(".env[DB_PASSWORD]", contract.ReasonOptionalReferenceNotAllowed)
	optionalGroup := one(".envFrom[0].secretRef.optional", contract.ReasonOptionalReferenceNotAllowed)
	prefix := one(".envFrom[0].prefix", contract.ReasonUnsupportedConsumptionMode)
	ambiguous := one(".envFrom[1]", contract.ReasonAmbiguousEnvPrecedence)
	both := func(a, b []Finding) []Finding { return append(append([]Finding{}, a...), b...) }

	cases := map[string]struct {
		reason             string
		template           corev1.PodTemplateSpec
		rules              []contract.Rule
		any, vars, grouped []Finding
	}{
		"Nothing":          {reason: "A container that takes nothing is not configured.", template: api(nil), any: missing, vars: missing, grouped: noGroup},
		"Variable":         {reason: "An exact reference is enough, except where the whole Secret is asked for.", template: api([]corev1.EnvVar{right}), any: ok, vars: ok, grouped: noGroup},
		"Group":            {reason: "The whole Secret is enough, except where a reference is asked for.", template: api(nil, allOf(secret, "", nil)), any: ok, vars: missing, grouped: ok},
		"Both":             {reason: "Both are right.", template: api([]corev1.EnvVar{right}, allOf(secret, "", ptr(false))), any: ok, vars: ok, grouped: ok},
		"SimilarName":      {reason: "A Secret of a similar name is another one.", template: api([]corev1.EnvVar{fromSecret("DB_PASSWORD", "shop-db-old", "DB_PASSWORD")}, allOf("shop", "", nil)), any: conflicts, vars: conflicts, grouped: both(noGroup, conflicts)},
		"WrongKey":         {reason: "Another key of the right Secret is another value.", template: api([]corev1.EnvVar{fromSecret("DB_PASSWORD", secret, "DB_PASSWORD_OLD")}), any: conflicts, vars: conflicts, grouped: both(noGroup, conflicts)},
		"OtherVariable":    {reason: "The variable has the key's name unless the rule gives another.", template: api([]corev1.EnvVar{fromSecret("PASSWORD", secret, "DB_PASSWORD")}), any: missing, vars: missing, grouped: noGroup},
		"Inline":           {reason: "A copy in plain text wins over the Secret.", template: api([]corev1.EnvVar{inline}, allOf(secret, "", nil)), any: conflicts, vars: conflicts, grouped: conflicts},
		"InlineEmpty":      {reason: "An empty value wins too.", template: api([]corev1.EnvVar{{Name: "DB_PASSWORD"}}, allOf(secret, "", nil)), any: conflicts, vars: conflicts, grouped: conflicts},
		"InlineOptional":   {reason: "A conflict about an optional key is one as well.", template: api([]corev1.EnvVar{right, {Name: "DB_OPTIONAL", Value: "x"}}, allOf(secret, "", nil)), any: one(".env[DB_OPTIONAL]", contract.ReasonEnvConflict), vars: one(".env[DB_OPTIONAL]", contract.ReasonEnvConflict), grouped: one(".env[DB_OPTIONAL]", contract.ReasonEnvConflict)},
		"FieldRef":         {reason: "So is a value from elsewhere.", template: api([]corev1.EnvVar{{Name: "DB_PASSWORD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}}}}, allOf(secret, "", nil)), any: conflicts, vars: conflicts, grouped: conflicts},
		"Twice":            {reason: "One name twice is right only if both are.", template: api([]corev1.EnvVar{inline, right}, allOf(secret, "", nil)), any: conflicts, vars: conflicts, grouped: conflicts},
		"TwiceSame":        {reason: "The same twice is no conflict.", template: api([]corev1.EnvVar{right, right}, allOf(secret, "", nil)), any: ok, vars: ok, grouped: ok},
		"OptionalVariable": {reason: "A required key must not be optional.", template: api([]corev1.EnvVar{optionally(fromSecret("DB_PASSWORD", secret, "DB_PASSWORD"))}, allOf(secret, "", nil)), any: optionalEnv, vars: optionalEnv, grouped: optionalEnv},
		"OptionalKey":      {reason: "An optional key may be.", template: api([]corev1.EnvVar{right, optionally(fromSecret("DB_OPTIONAL", secret, "DB_OPTIONAL"))}, allOf(secret, "", nil)), any: ok, vars: ok, grouped: ok},
		"OptionalGroup":    {reason: "Nor may the whole Secret be, for a required key.", template: api(nil, allOf(secret, "", ptr(true))), any: optionalGroup, vars: missing, grouped: optionalGroup},
		"OptionalRules":    {reason: "For optional keys alone it may.", rules: []contract.Rule{{Name: "A", Required: ptr(false)}}, template: api(nil, allOf(secret, "", ptr(true))), any: ok, vars: ok, grouped: ok},
		"OptionalNothing":  {reason: "Optional keys need not be taken, except where the whole Secret is asked for.", rules: []contract.Rule{{Name: "A", Required: ptr(false)}}, template: api(nil), any: ok, vars: ok, grouped: noGroup},
		"Prefix":           {reason: "A prefix changes all the names.", template: api(nil, allOf(secret, "X_", nil)), any: prefix, vars: missing, grouped: prefix},
		"LaterSource":      {reason: "A later source may have the same key.", template: api(nil, allOf(secret, "", nil), configMap("")), any: ambiguous, vars: missing, grouped: ambiguous},
		"LaterSecret":      {reason: "Whatever kind it is.", template: api(nil, allOf(secret, "", nil), allOf("other", "", nil)), any: ambiguous, vars: missing, grouped: ambiguous},
		"LaterPrefix":      {reason: "Also with a prefix that a key begins with.", template: api(nil, allOf(secret, "", nil), configMap("DB_")), any: ambiguous, vars: missing, grouped: ambiguous},
		"LaterSelf":        {reason: "Also the Secret itself, whose other keys then have this name.", template: api(nil, allOf(secret, "", nil), allOf(secret, "DB_", nil)), any: ambiguous, vars: missing, grouped: ambiguous},
		"LaterOther":       {reason: "A prefix that no key begins with is no danger.", template: api(nil, allOf(secret, "", nil), configMap("APP_")), any: ok, vars: missing, grouped: ok},
		"EarlierSource":    {reason: "An earlier source is overridden.", template: api(nil, configMap(""), allOf(secret, "", nil)), any: ok, vars: missing, grouped: ok},
		"LaterAgain":       {reason: "The Secret once more wins over what is between.", template: api(nil, allOf(secret, "", nil), configMap(""), allOf(secret, "", nil)), any: ok, vars: missing, grouped: ok},
		"LaterExplicit":    {reason: "An exact reference wins over every source; a key without one does not.", rules: testRules[:1], template: api([]corev1.EnvVar{right}, allOf(secret, "", nil), configMap("")), any: ok, vars: ok, grouped: ok},
		"EnvName":          {reason: "The rule may name the variable.", rules: []contract.Rule{{Name: "provider.json", EnvName: "CONFIG"}}, template: api([]corev1.EnvVar{fromSecret("CONFIG", secret, "provider.json")}, allOf(secret, "", nil)), any: ok, vars: ok, grouped: ok},
		"EnvNameInline":    {reason: "Then that one must not be set elsewhere.", rules: []contract.Rule{{Name: "provider.json", EnvName: "CONFIG"}}, template: api([]corev1.EnvVar{{Name: "CONFIG", Value: "hunter2"}}, allOf(secret, "", nil)), any: one(".env[CONFIG]", contract.ReasonEnvConflict), vars: one(".env[CONFIG]", contract.ReasonEnvConflict), grouped: one(".env[CONFIG]", contract.ReasonEnvConflict)},
		"EnvNameGroup":     {reason: "The whole Secret does not set it, but the one that is named as the key.", rules: []contract.Rule{{Name: "PASSWORD", EnvName: "DB"}}, template: api(nil, allOf(secret, "", nil)), any: one(".env[DB]", contract.ReasonRequiredReferenceMissing), vars: one(".env[DB]", contract.ReasonRequiredReferenceMissing), grouped: ok},
		"NotPortable":      {reason: "A key that is no portable variable may be dropped in silence.", rules: []contract.Rule{{Name: "tls.crt"}}, template: api(nil, allOf(secret, "", nil)), any: one(".envFrom[0][tls.crt]", contract.ReasonKeyNotPortable), vars: one(".env[tls.crt]", contract.ReasonRequiredReferenceMissing), grouped: one(".envFrom[0][tls.crt]", contract.ReasonKeyNotPortable)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.rules == nil {
				tc.rules = testRules
			}
			for mode, want := range map[contract.Consumption][]Finding{
				"": tc.any, contract.ConsumptionAny: tc.any, contract.ConsumptionEnvVars: tc.vars, contract.ConsumptionEnvFrom: tc.grouped,
			} {
				got := Check(&tc.template, Target{Secret: secret, Rules: tc.rules, Consumption: mode})
				if diff := cmp.Diff(want, got.Findings); diff != "" {
					t.Errorf("\n%s\nCheck(...) for %q: -want, +got:\n%s", tc.reason, mode, diff)
				}
				if got.Configured != (len(want) == 0) || got.FindingCount != len(want) {
					t.Errorf("\n%s\nCheck(...) for %q: flags do not agree with the findings: %+v", tc.reason, mode, got)
				}
				if text := fmt.Sprintf("%+v", got); strings.Contains(text, "hunter2") {
					t.Errorf("\n%s\nCheck(...) for %q: the inline value must not be shown", tc.reason, mode)
				}
			}
		})
	}
}

// TestCheckVolumeOnly: files are no variables, and nobody says that they were looked at.
func TestCheckVolumeOnly(t *testing.T) {
	template := api(nil)
	template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}}
	template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "other"}, {Name: "v"}}
	for mode, want := range map[contract.Consumption][]Finding{
		contract.ConsumptionAny:     {{"containers[api].volumeMounts[1]", contract.ReasonUnsupportedConsumptionMode}},
		contract.ConsumptionEnvFrom: {{"containers[api].volumeMounts[1]", contract.ReasonUnsupportedConsumptionMode}},
		contract.ConsumptionEnvVars: {{"containers[api].env[DB_PASSWORD]", contract.ReasonRequiredReferenceMissing}},
	} {
		got := Check(&template, Target{Secret: secret, Rules: testRules, Consumption: mode})
		if diff := cmp.Diff(want, got.Findings); diff != "" {
			t.Errorf("Check(...) for %q: -want, +got:\n%s", mode, diff)
		}
	}
}

func TestCheckContainers(t *testing.T) {
	good, bad := []corev1.EnvVar{fromSecret("DB_PASSWORD", secret, "DB_PASSWORD")}, []corev1.EnvVar(nil)
	pod := func(api, sidecar, init []corev1.EnvVar) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "api", Env: api}, {Name: "metrics", Env: sidecar}},
			InitContainers: []corev1.Container{{Name: "migrate", Env: init}},
		}}
	}
	many := corev1.PodTemplateSpec{}
	for i := range contract.MaxContainers + 1 {
		many.Spec.Containers = append(many.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%02d", i), Env: good})
	}
	most := many.DeepCopy()
	most.Spec.Containers = most.Spec.Containers[1:]
	miss := func(c string) Finding {
		return Finding{c + ".env[DB_PASSWORD]", contract.ReasonRequiredReferenceMissing}
	}

	cases := map[string]struct {
		reason   string
		template corev1.PodTemplateSpec
		target   Target
		want     []Finding
		checked  int
		stands   contract.Reason
	}{
		"AllRegular":    {reason: "Without a choice all regular containers are checked.", template: pod(good, bad, bad), want: []Finding{miss("containers[metrics]")}, checked: 2},
		"NotInit":       {reason: "And no init container.", template: pod(good, good, bad), want: []Finding{}, checked: 2},
		"WithInit":      {reason: "Unless it is asked for.", template: pod(good, good, bad), target: Target{IncludeInitContainers: true}, want: []Finding{miss("initContainers[migrate]")}, checked: 3},
		"Chosen":        {reason: "What is not chosen does not matter.", template: pod(good, bad, bad), target: Target{Containers: []string{"api"}}, want: []Finding{}, checked: 1},
		"Sidecar":       {reason: "A sidecar does not stand in for the application.", template: pod(bad, good, good), target: Target{Containers: []string{"api"}}, want: []Finding{miss("containers[api]")}, checked: 1},
		"EachChosen":    {reason: "Each of those chosen must consume it.", template: pod(good, bad, bad), target: Target{Containers: []string{"metrics", "api", "api"}}, want: []Finding{miss("containers[metrics]")}, checked: 2},
		"NotFound":      {reason: "What is chosen must exist, whatever the others do.", template: pod(good, good, good), target: Target{Containers: []string{"api", "web"}}, want: []Finding{{"containers[web]", contract.ReasonContainerNotFound}}, checked: 1},
		"InitNotChosen": {reason: "An init container is chosen only when they are included.", template: pod(good, good, good), target: Target{Containers: []string{"migrate"}}, want: []Finding{{"containers[migrate]", contract.ReasonContainerNotFound}}},
		"InitChosen":    {reason: "Then it is by name.", template: pod(bad, bad, good), target: Target{Containers: []string{"migrate"}, IncludeInitContainers: true}, want: []Finding{}, checked: 1},
		"None":          {reason: "A template without containers consumes nothing.", want: []Finding{{"containers", contract.ReasonContainerNotFound}}},
		"Most":          {reason: "16 containers are checked.", template: *most, want: []Finding{}, checked: contract.MaxContainers},
		"TooMany":       {reason: "17 are not, and it is not said that they were.", template: many, want: []Finding{{"containers", contract.ReasonEvaluationBudgetExceeded}}},
		"OddName":       {reason: "A name that is none is shown as a number.", template: pod(good, good, good), target: Target{Containers: []string{"hunter 2"}}, want: []Finding{{"containers[0]", contract.ReasonContainerNotFound}}},
		"Gravest":       {reason: "One reason stands for all.", template: pod(good, bad, bad), target: Target{Containers: []string{"metrics", "web"}}, want: []Finding{miss("containers[metrics]"), {"containers[web]", contract.ReasonContainerNotFound}}, checked: 1, stands: contract.ReasonContainerNotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.target.Secret, tc.target.Rules, tc.target.Consumption = secret, testRules, contract.ConsumptionEnvVars
			got := Check(&tc.template, tc.target)
			if diff := cmp.Diff(tc.want, got.Findings); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(got.Containers) != tc.checked || got.Configured != (len(tc.want) == 0) {
				t.Errorf("\n%s\nCheck(...): want %d containers, got %+v", tc.reason, tc.checked, got)
			}
			if tc.stands == contract.ReasonNone && len(tc.want) > 0 {
				tc.stands = tc.want[0].Reason
			}
			if len(tc.want) == 0 {
				tc.stands = contract.ReasonRulesSatisfied
			}
			if got.Reason != tc.stands {
				t.Errorf("\n%s\nCheck(...): want reason %s, got %s", tc.reason, tc.stands, got.Reason)
			}
		})
	}
}

// FuzzCheck puts arbitrary texts where the API server would let only some through. There must be no panic and no inline value in what
// comes out.
func FuzzCheck(f *testing.F) {
	f.Add("api", "DB_PASSWORD", "DB_", "a/b", uint8(3))
	f.Add("\xff", "", "", "../x", uint8(255))
	f.Fuzz(func(t *testing.T, name, key, prefix, subPath string, shape uint8) {
		const inline = "hunter2-inline-value"
		if strings.Contains(name+key, inline) {
			return
		}
		template := api([]corev1.EnvVar{{Name: key, Value: inline}, fromSecret(key, name, key)}, allOf(name, prefix, ptr(shape&1 > 0)), configMap(prefix), allOf(name, "", nil))
		template.Spec.Containers[0].Name = name
		template.Spec.Volumes = []corev1.Volume{{Name: key, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: name, Items: []corev1.KeyToPath{{Key: key, Path: subPath}},
		}}}}
		template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: key, SubPath: subPath}}
		target := Target{Secret: name, Rules: []contract.Rule{{Name: key, EnvName: prefix}, {Name: "x", Required: ptr(false)}}, Consumption: []contract.Consumption{"", contract.ConsumptionAny, contract.ConsumptionEnvFrom, contract.ConsumptionEnvVars}[shape>>1&3],
			DataKeys: []string{prefix}, IncludeInitContainers: shape&8 > 0}
		if shape&16 > 0 {
			target.Containers = []string{key}
		}
		before := template.DeepCopy()
		one, err := json.Marshal([]any{Check(&template, target), Uses(&template.Spec, target)})
		if err != nil {
			t.Fatal("a result must be encodable")
		}
		two, _ := json.Marshal([]any{Check(&template, target), Uses(&template.Spec, target)})
		if string(one) != string(two) {
			t.Error("the same input must have the same result")
		}
		if strings.Contains(string(one), inline) {
			t.Error("the result holds an inline value")
		}
		if !cmp.Equal(*before, template) {
			t.Error("the template was changed")
		}
	})
}
