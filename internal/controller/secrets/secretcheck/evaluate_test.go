package secretcheck

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
)

func externalSecretObject(mods ...func(map[string]any)) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": esV1, "kind": kindExternalSecret,
		"metadata": map[string]any{"namespace": namespace, "name": "source", "uid": "es-uid", "generation": int64(2)},
		"spec":     map[string]any{"target": map[string]any{"name": "orders-db", "creationPolicy": "Owner"}},
		"status": map[string]any{
			"syncedResourceVersion": "2-abc",
			"conditions":            []any{map[string]any{"type": "Ready", "status": "True"}},
		},
	}}
	for _, m := range mods {
		m(u.Object)
	}
	return u
}

// writing makes an ExternalSecret write an object of some kind, as the versions from 1.0 on can.
func writing(kind string) func(map[string]any) {
	return func(o map[string]any) {
		o["spec"].(map[string]any)["target"].(map[string]any)["manifest"] = map[string]any{"apiVersion": "v1", "kind": kind}
	}
}

func deployment(env ...corev1.EnvVar) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "api"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "api", Env: env}}
	return d
}

func envOf(name string) corev1.EnvVar {
	return corev1.EnvVar{Name: "password", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "password",
	}}}
}

// TestObserve holds which condition each thing that can be wrong shows in, and that what was not looked at is not said to be in order.
func TestObserve(t *testing.T) {
	yes, age := true, "24h"
	owned := secret(func(s *corev1.Secret) {
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: esV1, Kind: kindExternalSecret, Name: "source", UID: "es-uid", Controller: &yes}}
	})
	rotated := func(at time.Time) *corev1.Secret {
		return secret(func(s *corev1.Secret) { s.Annotations = map[string]string{declared.RotatedAt: at.Format(time.RFC3339)} })
	}
	withES := func(c *v1alpha1.SecretCheck) {
		c.Spec.ForProvider.ExternalSecretRef = &v1alpha1.ExternalSecretReference{Name: "source", APIVersion: esV1}
		c.Spec.ForProvider.Policy = &v1alpha1.Policy{RequireExternalSecretReady: true}
	}
	withWorkload := func(c *v1alpha1.SecretCheck) {
		c.Spec.ForProvider.WorkloadRefs = []v1alpha1.WorkloadReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "api", Consumption: "Any"}}
		c.Spec.ForProvider.Policy = &v1alpha1.Policy{RequireWorkloadReference: true}
	}
	withAge := func(c *v1alpha1.SecretCheck) {
		c.Spec.ForProvider.Rotation = &v1alpha1.RotationPolicy{MaxAge: &age}
		c.Spec.ForProvider.Policy = &v1alpha1.Policy{RequireRotationPolicy: true}
	}
	unwanted := func(c *v1alpha1.SecretCheck) { c.Spec.ForProvider.Policy = nil }
	noKind := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "external-secrets.io", Kind: kindExternalSecret}}

	const (
		es, wl, rot = v1alpha1.TypeExternalSecretReady, v1alpha1.TypeWorkloadsConfigured, v1alpha1.TypeRotationPolicySatisfied
		exists, val = v1alpha1.TypeSecretExists, v1alpha1.TypeKeysValid
	)
	cases := map[string]struct {
		reason  string
		mg      *v1alpha1.SecretCheck
		objects []client.Object
		fail    func(string) error
		want    map[xpv2.ConditionType]string // Beside Satisfied and Ready.
		verdict string
		err     bool
	}{
		"Satisfied": {
			reason: "All is there.", mg: check(), objects: []client.Object{secret()}, verdict: "True RulesSatisfied",
			want: map[xpv2.ConditionType]string{
				exists: "True RulesSatisfied", val: "True RulesSatisfied", es: "True NotConfigured", wl: "True NotConfigured", rot: "True NotConfigured",
			},
		},
		"NoSecret": {
			reason: "A missing Secret is said to be missing; its keys are not known.", mg: check(), verdict: "False SecretNotFound",
			want: map[xpv2.ConditionType]string{exists: "False SecretNotFound", val: "Unknown SecretNotFound"},
		},
		"Forbidden": {
			reason: "What must not be read is not said to be missing.", mg: check(), objects: []client.Object{secret()}, fail: forbidden("Secret"),
			verdict: "Unknown SecretAccessDenied", want: map[xpv2.ConditionType]string{exists: "Unknown SecretAccessDenied"},
		},
		"Timeout": {
			reason: "A fault of the API server is an error, and confirms nothing.", mg: check(), objects: []client.Object{secret()}, err: true,
			fail:    timeout("Secret"),
			verdict: "Unknown Unknown", want: map[xpv2.ConditionType]string{exists: "Unknown Unknown", val: "Unknown Unknown"},
		},
		"MissingKey": {
			reason: "A required key is missing.", mg: check(func(c *v1alpha1.SecretCheck) {
				c.Spec.ForProvider.RequiredKeys = append(c.Spec.ForProvider.RequiredKeys, v1alpha1.KeyRule{Name: "username"})
			}), objects: []client.Object{secret()}, verdict: "False MissingRequiredKey", want: map[xpv2.ConditionType]string{exists: "True RulesSatisfied", val: "False MissingRequiredKey"},
		},
		"InvalidPattern": {
			reason: "Rules that make no sense are the author's to mend, and the Secret is not read.", mg: check(func(c *v1alpha1.SecretCheck) {
				c.Spec.ForProvider.RequiredKeys[0].Pattern = "("
			}), objects: []client.Object{secret()}, verdict: "False InvalidSpec", want: map[xpv2.ConditionType]string{val: "Unknown InvalidSpec"},
		},
		"Injection": {
			reason: "What is not built is not pretended.", mg: check(func(c *v1alpha1.SecretCheck) {
				c.Spec.ForProvider.Injection = &v1alpha1.Injection{Mode: "EnvVars"}
			}), objects: []client.Object{secret()}, verdict: "False FeatureNotEnabled",
		},
		"ExternalSecret": {
			reason: "It delivers this Secret, and is ready.", mg: check(withES), objects: []client.Object{owned, externalSecretObject()},
			verdict: "True RulesSatisfied", want: map[xpv2.ConditionType]string{es: "True RulesSatisfied"},
		},
		"H48NoStatus": {
			reason: "Without a status nothing was delivered.", mg: check(withES),
			objects: []client.Object{owned, externalSecretObject(func(o map[string]any) { delete(o, "status") })},
			verdict: "False ExternalSecretNotReady", want: map[xpv2.ConditionType]string{val: "True RulesSatisfied"},
		},
		"H48OlderGeneration": {
			reason: "It is ready for an older spec.", mg: check(withES),
			objects: []client.Object{owned, externalSecretObject(func(o map[string]any) { o["metadata"].(map[string]any)["generation"] = int64(3) })},
			verdict: "False ExternalSecretNotReady",
		},
		"H48OtherTarget": {
			reason: "It writes another Secret.", mg: check(withES),
			objects: []client.Object{owned, externalSecretObject(func(o map[string]any) { delete(o["spec"].(map[string]any), "target") })},
			verdict: "False ExternalSecretTargetMismatch",
		},
		"H48NotOwner": {
			reason: "The Secret is not the one that it made.", mg: check(withES), objects: []client.Object{secret(), externalSecretObject()},
			verdict: "False ExternalSecretNotOwner",
		},
		"H48TwoWriters": {
			reason: "Another one writes the same Secret.", mg: check(withES),
			objects: []client.Object{owned, externalSecretObject(), externalSecretObject(func(o map[string]any) { o["metadata"].(map[string]any)["name"] = "other" })},
			verdict: "False ExternalSecretTargetContested",
		},
		"H48OtherKind": {
			reason: "Another one of this name writes a ConfigMap.", mg: check(withES),
			objects: []client.Object{owned, externalSecretObject(), externalSecretObject(writing("ConfigMap"), func(o map[string]any) { o["metadata"].(map[string]any)["name"] = "other" })},
			verdict: "True RulesSatisfied",
		},
		"H48WritesOtherKind": {
			reason: "It writes a ConfigMap of the Secret's name.", mg: check(withES), objects: []client.Object{owned, externalSecretObject(writing("ConfigMap"))},
			verdict: "False ExternalSecretTargetMismatch",
		},
		"H48WritesSecret": {
			reason: "A Secret by its manifest is a Secret.", mg: check(withES), objects: []client.Object{owned, externalSecretObject(writing("Secret"))},
			verdict: "True RulesSatisfied",
		},
		"H48SecretDeleted": {
			reason: "It is ready and the Secret is gone.", mg: check(withES), objects: []client.Object{externalSecretObject()},
			verdict: "False SecretNotFound", want: map[xpv2.ConditionType]string{exists: "False SecretNotFound"},
		},
		"OddSchema": {
			reason: "A shape that is not known is not taken for a good one.", mg: check(withES),
			objects: []client.Object{owned, externalSecretObject(func(o map[string]any) { o["status"] = map[string]any{"conditions": "all is well"} })},
			verdict: "False UnsupportedExternalSecretSchema",
		},
		"NoExternalSecret": {
			reason: "It does not exist.", mg: check(withES), objects: []client.Object{owned}, verdict: "False ExternalSecretNotFound",
		},
		"NoExternalSecretsAPI": {
			reason: "External Secrets is not installed.", mg: check(withES), objects: []client.Object{owned}, verdict: "Unknown ExternalSecretAPINotAvailable",
			fail: func(k string) error {
				if k == kindExternalSecret {
					return noKind
				}
				return nil
			},
		},
		"ExternalSecretForbidden": {
			reason: "What must not be read is not said to be missing.", mg: check(withES), objects: []client.Object{owned, externalSecretObject()},
			fail: forbidden(kindExternalSecret), verdict: "Unknown ExternalSecretAccessDenied",
		},
		"OthersForbidden": {
			reason: "Whether there is a second writer must not be looked at.", mg: check(withES), objects: []client.Object{owned, externalSecretObject()},
			fail: forbidden(kindExternalSecret + "List"), verdict: "Unknown ExternalSecretAccessDenied",
		},
		"ExternalSecretTimeout": {
			reason: "A fault beside the Secret is a finding of its own.", mg: check(withES), objects: []client.Object{owned, externalSecretObject()},
			fail: timeout(kindExternalSecret), verdict: "Unknown ExternalSecretReadFailed", want: map[xpv2.ConditionType]string{val: "True RulesSatisfied"},
		},
		"OthersTimeout": {
			reason: "Also when it comes last.", mg: check(withES), objects: []client.Object{owned, externalSecretObject()},
			fail: timeout(kindExternalSecret + "List"), verdict: "Unknown ExternalSecretReadFailed",
		},
		"NotRequired": {
			reason: "What the policy does not require is told, and does not count.", mg: check(withES, unwanted), objects: []client.Object{secret()},
			verdict: "True RulesSatisfied", want: map[xpv2.ConditionType]string{es: "False ExternalSecretNotFound"},
		},
		"Workload": {
			reason: "The template takes the key from this Secret.", mg: check(withWorkload), objects: []client.Object{secret(), deployment(envOf("orders-db"))},
			verdict: "True RulesSatisfied", want: map[xpv2.ConditionType]string{wl: "True RulesSatisfied"},
		},
		"OtherSecret": {
			reason: "The template takes it from another one.", mg: check(withWorkload), objects: []client.Object{secret(), deployment(envOf("orders-db-old"))},
			verdict: "False EnvConflict", want: map[xpv2.ConditionType]string{wl: "False EnvConflict"},
		},
		"InlineValue": {
			reason: "An inline value is a conflict, and is not shown.", mg: check(withWorkload),
			objects: []client.Object{secret(), deployment(corev1.EnvVar{Name: "password", Value: sentinel})}, verdict: "False EnvConflict",
		},
		"NoWorkload": {reason: "It does not exist.", mg: check(withWorkload), objects: []client.Object{secret()}, verdict: "False WorkloadNotFound"},
		"WorkloadForbidden": {
			reason: "What must not be read is not said to be missing.", mg: check(withWorkload), objects: []client.Object{secret(), deployment()},
			fail: forbidden("Deployment"), verdict: "Unknown WorkloadAccessDenied",
		},
		"Fresh":   {reason: "It was rotated lately.", mg: check(withAge), objects: []client.Object{rotated(noon.Add(-time.Hour))}, verdict: "True RulesSatisfied"},
		"TooOld":  {reason: "It was rotated too long ago.", mg: check(withAge), objects: []client.Object{rotated(noon.Add(-25 * time.Hour))}, verdict: "False SecretTooOld"},
		"NoClaim": {reason: "Nobody says when.", mg: check(withAge), objects: []client.Object{secret()}, verdict: "False RotationTimestampMissing"},
		"Future":  {reason: "It claims to be from the future.", mg: check(withAge), objects: []client.Object{rotated(noon.Add(time.Hour))}, verdict: "False RotationTimestampInFuture"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.objects...)
			b.fail = tc.fail
			if err := b.look(t, tc.mg); (err != nil) != tc.err {
				t.Fatalf("\n%s\nObserve(...): got error %v, want one: %t", tc.reason, err, tc.err)
			}
			got := map[xpv2.ConditionType]string{v1alpha1.TypeSatisfied: says(tc.mg, v1alpha1.TypeSatisfied)}
			want := map[xpv2.ConditionType]string{v1alpha1.TypeSatisfied: tc.verdict}
			for ct, w := range tc.want {
				want[ct], got[ct] = w, says(tc.mg, ct)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nconditions: -want, +got:\n%s", tc.reason, diff)
			}
			if ready := tc.mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue; ready != (tc.verdict == "True RulesSatisfied") {
				t.Errorf("\n%s\nReady is %t beside Satisfied %s", tc.reason, ready, tc.verdict)
			}
			for _, c := range tc.mg.Status.Conditions {
				if c.Status != corev1.ConditionTrue && c.Message == "" {
					t.Errorf("\n%s\n%s is %s with reason %s and does not say what to do", tc.reason, c.Type, c.Status, c.Reason)
				}
			}
			if g := tc.mg.GetCondition(v1alpha1.TypeSatisfied).ObservedGeneration; g != tc.mg.Generation {
				t.Errorf("the verdict is about generation %d, want %d", g, tc.mg.Generation)
			}
			if name == "InvalidPattern" && b.gets > 0 {
				t.Errorf("the Secret was read %d times for rules that make no sense", b.gets)
			}
		})
	}
}

// TestDeadlines holds that a finding that time alone changes is looked at when it does.
func TestDeadlines(t *testing.T) {
	age := "24h"
	mg := check(func(c *v1alpha1.SecretCheck) { c.Spec.ForProvider.Rotation = &v1alpha1.RotationPolicy{MaxAge: &age} })
	b := newBench(t, secret(func(s *corev1.Secret) {
		s.Annotations = map[string]string{declared.RotatedAt: noon.Add(-24*time.Hour + 30*time.Second).Format(time.RFC3339)}
	}))
	if err := b.look(t, mg); err != nil {
		t.Fatal(err)
	}
	hook := nextCheck(func() time.Time { return b.at })
	if got := hook(mg, time.Minute); got != 30*time.Second {
		t.Errorf("the next look is in %s, want 30s: that is when the Secret becomes too old", got)
	}
	b.at = noon.Add(30 * time.Second)
	if err := b.look(t, mg); err != nil {
		t.Fatal(err)
	}
	if got := says(mg, v1alpha1.TypeRotationPolicySatisfied); got != "False SecretTooOld" {
		t.Errorf("at the deadline: got %s", got)
	}
	if got := hook(mg, time.Minute); got < time.Minute {
		t.Errorf("the next look is in %s: there is nothing to wait for", got)
	}
}
