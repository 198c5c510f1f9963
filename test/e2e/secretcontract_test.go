package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// contract applies a SecretContract for the Secret orders-db.
func contract(t *testing.T, ns, spec string) *unstructured.Unstructured {
	t.Helper()
	manifest := fmt.Sprintf("apiVersion: terdut.ryuvia.com/v1alpha1\nkind: SecretContract\nmetadata: {name: orders, namespace: %s}\nspec:\n  secretRef: {name: orders-db}\n%s", ns, spec)
	if err := p.Apply(t.Context(), []byte(manifest)); err != nil {
		t.Fatalf("cannot apply contract: %v", err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(terdutv1alpha1.SecretContractGroupVersionKind)
	u.SetNamespace(ns)
	u.SetName("orders")
	return u
}

// verdictOf a contract as status and reason.
func verdictOf(u *unstructured.Unstructured, ct string) string {
	c := condition(u, ct)
	return fmt.Sprint(c["status"], " ", c["reason"])
}

// says waits until a condition of a contract is as wanted for its current generation, and Ready is True exactly when Satisfied is.
func says(t *testing.T, u *unstructured.Unstructured, ct, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s %s of contract %s/%s", ct, want, u.GetNamespace(), u.GetName()), func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		got := verdictOf(u, ct)
		generation, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
		if got != want || generation != u.GetGeneration() {
			return fmt.Errorf("it is %s of generation %d, at generation %d", got, generation, u.GetGeneration())
		}
		// What was found follows the conditions.
		if _, seen, _ := unstructured.NestedString(u.Object, "status", "observedSecret", "uid"); strings.HasPrefix(want, "True Rules") && !seen {
			return fmt.Errorf("no Secret was observed")
		}
		satisfied, ready := verdictOf(u, "Satisfied"), verdictOf(u, "Ready")
		if strings.HasPrefix(satisfied, "True") != strings.HasPrefix(ready, "True") {
			return fmt.Errorf("Ready is %s beside Satisfied %s", ready, satisfied)
		}
		return nil
	})
}

// shows waits until a field of a contract's status, which follows the conditions, has a value.
func shows(t *testing.T, u *unstructured.Unstructured, want any, fields ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s of contract %s/%s", strings.Join(fields, "."), u.GetNamespace(), u.GetName()), func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		got, _, _ := unstructured.NestedFieldNoCopy(u.Object, append([]string{"status"}, fields...)...)
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("-want, +got:\n%s", diff)
		}
		return nil
	})
}

func writeSecret(t *testing.T, ns string, data map[string]string, annotations map[string]string) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-db"}}
	err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(s), s)
	s.Annotations, s.Data = annotations, map[string][]byte{}
	for k, v := range data {
		s.Data[k] = []byte(v)
	}
	if kerrors.IsNotFound(err) {
		err = p.Client.Create(t.Context(), s)
	} else if err == nil {
		err = p.Client.Update(t.Context(), s)
	}
	if err != nil {
		t.Fatalf("cannot write Secret: %v", err)
	}
	return s
}

// TestSecretContract goes through the life of a Secret, and looks at what its contract says of it: nothing else is touched.
func TestSecretContract(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	u := contract(t, ns, "  requiredKeys:\n  - {name: username}\n  - {name: password, minLength: 16, plainText: true}\n  checkRequest: one\n")
	says(t, u, "Satisfied", "False SecretNotFound")

	writeSecret(t, ns, map[string]string{"username": "shop"}, nil)
	says(t, u, "Satisfied", "False MissingRequiredKey")
	shows(t, u, []any{"password"}, "missingKeys")
	writeSecret(t, ns, map[string]string{"username": "shop", "password": "short"}, nil)
	says(t, u, "KeysValid", "False TooShort")
	writeSecret(t, ns, map[string]string{"username": "shop", "password": "long-enough-for-everybody\n"}, nil)
	says(t, u, "KeysValid", "False TrailingNewline")
	s := writeSecret(t, ns, map[string]string{"username": "shop", "password": "long-enough-for-everybody"}, nil)
	says(t, u, "Satisfied", "True RulesSatisfied")
	shows(t, u, string(s.UID), "observedSecret", "uid")
	shows(t, u, "one", "checkRequest")

	// Made anew it is another Secret.
	if err := p.Client.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	says(t, u, "SecretExists", "False SecretNotFound")
	s = writeSecret(t, ns, map[string]string{"username": "shop", "password": "long-enough-for-everybody"}, nil)
	says(t, u, "Satisfied", "True RulesSatisfied")
	shows(t, u, string(s.UID), "observedSecret", "uid")

	// A changed contract is answered anew, and never with the old answer: says looks at the generation.
	contract(t, ns, "  requiredKeys:\n  - {name: username}\n  - {name: password, pattern: '('}\n  checkRequest: two\n")
	says(t, u, "Satisfied", "False InvalidSpec")
	contract(t, ns, "  requiredKeys:\n  - {name: username, pattern: '\\Ashop\\z'}\n  checkRequest: three\n")
	says(t, u, "Satisfied", "True RulesSatisfied")

	// Deleting it leaves the Secret as it is.
	if err := p.Client.Delete(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	isGone(t, u)
	after := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(s), after); err != nil {
		t.Fatal(err)
	}
	if after.ResourceVersion != s.ResourceVersion {
		t.Error("the Secret was written")
	}
}

// TestContractWorkload holds that a contract sees what a pod template takes from its Secret, as soon as that changes.
func TestContractWorkload(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	writeSecret(t, ns, map[string]string{"password": "x"}, nil)
	u := contract(t, ns, "  requiredKeys: [{name: password}]\n  workloadRefs: [{kind: Deployment, name: api, containers: [api]}]\n  policy: {requireWorkloadReference: true}\n")
	says(t, u, "Satisfied", "False WorkloadNotFound")

	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "api"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "api", Image: "api", Env: []corev1.EnvVar{{Name: "password", Value: "inline-sentinel"}}}, {Name: "sidecar", Image: "sidecar"},
	}
	if err := p.Client.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	says(t, u, "WorkloadsConfigured", "False EnvConflict")
	if j, err := u.MarshalJSON(); err != nil || strings.Contains(string(j), "inline-sentinel") {
		t.Errorf("the inline value is shown (error %v)", err)
	}
	change(t, client.ObjectKeyFromObject(d), d, func() {
		d.Spec.Template.Spec.Containers[0].Env = nil
		d.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "orders-db"}}}}
	})
	says(t, u, "Satisfied", "True RulesSatisfied")
	if err := p.Client.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	says(t, u, "Satisfied", "False WorkloadNotFound")
}

// TestContractRotation holds that a Secret becomes too old when its time has come, without any object changing.
func TestContractRotation(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	const age = time.Hour
	deadline := time.Now().Add(8 * time.Second).Truncate(time.Second)
	s := writeSecret(t, ns, map[string]string{"password": "x"}, map[string]string{"terdut.ryuvia.com/rotated-at": deadline.Add(-age).Format(time.RFC3339)})
	u := contract(t, ns, "  requiredKeys: [{name: password}]\n  rotation: {maxAge: 1h}\n  policy: {requireRotationPolicy: true}\n")
	if time.Until(deadline) > 3*time.Second {
		says(t, u, "Satisfied", "True RulesSatisfied")
	}
	says(t, u, "Satisfied", "False SecretTooOld")
	if time.Now().Before(deadline) {
		t.Errorf("the Secret was too old before %s", deadline)
	}
	now := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(s), now); err != nil || now.ResourceVersion != s.ResourceVersion {
		t.Errorf("the Secret was touched (error %v)", err)
	}
	writeSecret(t, ns, map[string]string{"password": "x"}, map[string]string{"terdut.ryuvia.com/rotated-at": time.Now().Format(time.RFC3339)})
	says(t, u, "Satisfied", "True RulesSatisfied")
}

// TestH48ExternalSecretIsReadyAndWrong holds that a contract believes no ExternalSecret that is Ready while the Secret is not what it should be.
func TestH48ExternalSecretIsReadyAndWrong(t *testing.T) {
	t.Parallel()
	ns, name := namespace(t), "orders"
	create(t, newTenant(ns, name, nil))
	tenantReady(t, ns, name)
	es := externalSecretOf(t, ns, name)
	u := contract(t, ns, fmt.Sprintf("  requiredKeys: [{name: password}, {name: uri, format: URI}]\n  externalSecretRef: {name: %s}\n  policy: {requireExternalSecretReady: true}\n", es.GetName()))
	says(t, u, "Satisfied", "True RulesSatisfied")

	// A second writer of the same Secret.
	second := es.DeepCopy()
	second.Object["metadata"] = map[string]any{"namespace": ns, "name": "second"}
	delete(second.Object, "status")
	if err := p.Client.Create(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	says(t, u, "ExternalSecretReady", "False ExternalSecretTargetContested")
	if err := p.Client.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	says(t, u, "Satisfied", "True RulesSatisfied")

	// One that is Ready and writes something else.
	contract(t, ns, "  requiredKeys: [{name: password}]\n  externalSecretRef: {name: nowhere}\n  policy: {requireExternalSecretReady: true}\n")
	says(t, u, "Satisfied", "False ExternalSecretNotFound")
}

// checkPasses waits until the provider has looked n more times at each SecretCheck, as many as there are.
func checkPasses(t *testing.T, n int) {
	t.Helper()
	const checks = "secretcheck.secrets.terdut.ryuvia.com" // As the provider's controller is named.
	l := &secretsv1alpha1.SecretCheckList{}
	if err := p.Client.List(t.Context(), l); err != nil {
		t.Fatalf("cannot list SecretChecks: %v", err)
	}
	until := reconciles(t, checks) + n*len(l.Items)
	eventually(t, fmt.Sprintf("%d passes over SecretChecks", n), func(context.Context) error {
		if now := reconciles(t, checks); now < until {
			return fmt.Errorf("%d passes are missing", until-now)
		}
		return nil
	})
}

// TestContractAtRest holds that nothing is written while nothing changes.
func TestContractAtRest(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	writeSecret(t, ns, map[string]string{"password": "x"}, nil)
	u := contract(t, ns, "  requiredKeys: [{name: password}, {name: absent}]\n")
	says(t, u, "Satisfied", "False MissingRequiredKey")
	l := &secretsv1alpha1.SecretCheckList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil || len(l.Items) != 1 {
		t.Fatalf("got %d SecretChecks (error %v), want 1", len(l.Items), err)
	}
	c := &l.Items[0]
	eventually(t, "contract and check to rest", func(ctx context.Context) error {
		was, wasCheck := u.GetResourceVersion(), c.ResourceVersion
		checkPasses(t, 3)
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if u.GetResourceVersion() != was || c.ResourceVersion != wasCheck {
			return fmt.Errorf("one was written")
		}
		return nil
	})
	was, wasCheck := u.GetResourceVersion(), c.ResourceVersion
	checkPasses(t, 20)
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		t.Fatal(err)
	}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
		t.Fatal(err)
	}
	if u.GetResourceVersion() != was || c.ResourceVersion != wasCheck {
		t.Errorf("over 20 polls contract and check were written: versions %s and %s, now %s and %s", was, wasCheck, u.GetResourceVersion(), c.ResourceVersion)
	}
}
