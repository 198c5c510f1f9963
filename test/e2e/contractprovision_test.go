package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// provisioned is a contract that has its Secret made, with a constant and a rotation trigger.
func provisioned(issuer, trigger string) string {
	return `  requiredKeys: [{name: session-key, minLength: 32, plainText: true}, {name: issuer, format: URI}]
  provision:
    keys: [{name: session-key, generate: {length: 64}}, {name: issuer, value: "` + issuer + `"}]
    rotation: {trigger: "` + trigger + `"}
`
}

// contractPath is the path of the record of a contract's Secret below the mount.
func contractPath(u *unstructured.Unstructured) string {
	return "contracts/" + u.GetNamespace() + "/" + u.GetName()
}

// fits checks that the Secret holds what provisioned asks for, and returns the generated value, which must not be printed.
func fits(t *testing.T, ns, issuer string) []byte {
	t.Helper()
	data := secretData(t, ns, "orders-db")
	if len(data) != 2 || len(data["session-key"]) != 64 || string(data["issuer"]) != issuer {
		t.Fatalf("the Secret of %s does not hold what its contract asks for: %v", ns, slices.Sorted(maps.Keys(data)))
	}
	return data["session-key"]
}

// composesOnly waits until nothing is left in a namespace of what makes Secrets, but for Secrets of these names.
func composesOnly(t *testing.T, ns string, secrets ...string) {
	t.Helper()
	eventually(t, "what made the Secret of "+ns+" to be gone", func(ctx context.Context) error {
		left, err := composed(ctx, ns)
		if err != nil {
			return err
		}
		var want []string
		for _, s := range secrets {
			want = append(want, "Secret/"+s)
		}
		if !cmp.Equal(left, want) {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
}

// TestProvisionedContract goes through the life of a Secret that is made for a contract, and of the record that outlives both.
func TestProvisionedContract(t *testing.T) {
	ns := namespace(t)
	const issuer, other = "https://a.example.org", "https://b.example.org"
	u := contract(t, ns, provisioned(issuer, "one"))
	says(t, u, "Satisfied", "True RulesSatisfied")
	says(t, u, "Provisioned", "True Available")
	says(t, u, "ExternalSecretReady", "True RulesSatisfied")
	first := fits(t, ns, issuer)
	if got := verdictOf(heard(t, u), "Responsive"); !strings.HasPrefix(got, "True") {
		t.Errorf("making the Secret is more than Crossplane listens to: Responsive is %s", got)
	}
	if url := status(u, "kvURL"); !strings.HasSuffix(url, "/data/"+contractPath(u)) {
		t.Errorf("the record is at %q", url)
	}

	// A constant and the generated values change each for themselves; the contract is satisfied again once they are delivered.
	u = contract(t, ns, provisioned(other, "one"))
	says(t, u, "Satisfied", "True RulesSatisfied")
	if !bytes.Equal(first, fits(t, ns, other)) {
		t.Error("another constant has changed the generated value")
	}
	u = contract(t, ns, provisioned(other, "two"))
	says(t, u, "Satisfied", "True RulesSatisfied")
	rotated := fits(t, ns, other)
	if bytes.Equal(first, rotated) {
		t.Error("the trigger has not changed the generated value")
	}

	// The Secret goes with the contract, the record stays.
	remove(t, u)
	isGone(t, u)
	composesOnly(t, ns)
	custom, _ := kvMetadata(t, contractPath(u))["custom_metadata"].(map[string]any)
	if custom["terdut-retained"] != "true" {
		t.Fatalf("the record is not retained: %v", custom)
	}

	// Another contract of the same name is another one, until an admin says otherwise.
	again := contract(t, ns, provisioned(other, "two"))
	says(t, again, "Provisioned", "False Conflict")
	if m := fmt.Sprint(condition(again, "Provisioned")["message"]); !strings.Contains(m, string(u.GetUID())) {
		t.Errorf("it does not say who is recorded: %s", m)
	}
	composesSecret(t, ns, false)
	bao := &openbaov1alpha1.ClusterProviderConfig{}
	change(t, types.NamespacedName{Name: "default"}, bao, func() {
		bao.Spec.Adoptions = append(bao.Spec.Adoptions, openbaov1alpha1.Adoption{
			Path:           openbao.Mount + "/" + contractPath(u),
			AdoptionTarget: commonv1alpha1.AdoptionTarget{From: string(u.GetUID()), To: ns + "/" + u.GetName()},
		})
	})
	t.Cleanup(func() { change(t, types.NamespacedName{Name: "default"}, bao, func() { bao.Spec.Adoptions = nil }) })
	says(t, again, "Satisfied", "True RulesSatisfied")
	if !bytes.Equal(rotated, fits(t, ns, other)) {
		t.Error("the contract that was made anew got another value than the record has")
	}
}

// composesSecret tells whether there is an ExternalSecret or the Secret in a namespace.
func composesSecret(t *testing.T, ns string, want bool) {
	t.Helper()
	left, err := composed(t.Context(), ns)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Contains(strings.Join(left, " "), "Secret/orders-db"); got != want {
		t.Errorf("the Secret is there: %t, want %t: %v", got, want, left)
	}
}

// TestProvisionTouchesNothingForeign holds that a Secret that is there before is left alone, though it is all that the rules ask for, and that
// nothing is written outside for it.
func TestProvisionTouchesNothingForeign(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	const issuer = "https://a.example.org"
	s := writeSecret(t, ns, map[string]string{"session-key": strings.Repeat("x", 64), "issuer": issuer}, nil)
	before := secretFacts(t, ns, s.Name)
	u := contract(t, ns, provisioned(issuer, "one"))
	says(t, u, "Provisioned", "False Conflict")
	says(t, u, "Satisfied", "False Conflict")
	says(t, u, "KeysValid", "True RulesSatisfied")
	checkPasses(t, 3)
	if changes := before.changes(secretFacts(t, ns, s.Name)); len(changes) > 0 {
		t.Errorf("the Secret was touched: %v", changes)
	}
	composesOnly(t, ns, s.Name)
	if kvMetadata(t, contractPath(u)) != nil {
		t.Error("a record was written")
	}

	// Once it is gone, the contract gets its own.
	remove(t, s)
	says(t, u, "Satisfied", "True RulesSatisfied")
	value := fits(t, ns, issuer)

	// A contract that does not ask for its Secret any more lets it go. The record is still its own.
	change(t, client.ObjectKeyFromObject(u), u, func() { unstructured.RemoveNestedField(u.Object, "spec", "provision") })
	says(t, u, "Satisfied", "False SecretNotFound")
	says(t, u, "Provisioned", "True NotConfigured")
	composesOnly(t, ns)
	u = contract(t, ns, provisioned(issuer, "one"))
	says(t, u, "Satisfied", "True RulesSatisfied")
	if !bytes.Equal(value, fits(t, ns, issuer)) {
		t.Error("the Secret that was made again has another value than the record")
	}
}

// TestProvisionedByHand holds that whatever is deleted by hand of what makes a Secret comes back with the same values.
func TestProvisionedByHand(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	const issuer = "https://a.example.org"
	u := contract(t, ns, provisioned(issuer, "one"))
	says(t, u, "Satisfied", "True RulesSatisfied")
	value := fits(t, ns, issuer)
	for _, kind := range []string{"BaoSecret", "ExternalSecret", "Secret"} {
		for _, gvk := range composedKinds {
			if gvk.Kind != kind {
				continue
			}
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(gvk)
			if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil || len(l.Items) != 1 {
				t.Fatalf("%d of kind %s (error %v), want 1", len(l.Items), kind, err)
			}
			old := &l.Items[0]
			remove(t, old)
			eventually(t, kind+" to be made anew", func(ctx context.Context) error {
				now := &unstructured.Unstructured{}
				now.SetGroupVersionKind(gvk)
				if err := p.Client.Get(ctx, client.ObjectKeyFromObject(old), now); err != nil {
					return err
				}
				if now.GetUID() == old.GetUID() {
					return fmt.Errorf("it is the one of before")
				}
				return nil
			})
			says(t, u, "Satisfied", "True RulesSatisfied")
			eventually(t, "the Secret to be there after "+kind, func(ctx context.Context) error {
				s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-db"}}
				return p.Client.Get(ctx, client.ObjectKeyFromObject(s), s)
			})
			if !bytes.Equal(value, fits(t, ns, issuer)) {
				t.Errorf("the value has changed after %s was deleted", kind)
			}
		}
	}
}

// TestProvisionKeyOfOthers holds that a value that nobody can generate gets into the Secret by way of the record, and stays there.
func TestProvisionKeyOfOthers(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	spec := func(issuer string) string {
		return strings.Replace(provisioned(issuer, "one"), "requiredKeys: [", "requiredKeys: [{name: api-token, minLength: 20}, ", 1)
	}
	u := contract(t, ns, spec("https://a.example.org"))
	says(t, u, "Provisioned", "True Available")
	says(t, u, "Satisfied", "False MissingRequiredKey")

	token := rand.Text()
	kv := p.Plane.OpenBao.Root().KVv2(openbao.Mount)
	if _, err := kv.Patch(t.Context(), contractPath(u), map[string]any{"api-token": token}); err != nil {
		t.Fatalf("cannot add a key to the record: %v", err)
	}
	says(t, u, "Satisfied", "True RulesSatisfied")
	u = contract(t, ns, spec("https://b.example.org"))
	says(t, u, "Satisfied", "True RulesSatisfied")
	data := secretData(t, ns, "orders-db")
	if string(data["api-token"]) != token || string(data["issuer"]) != "https://b.example.org" {
		t.Error("the Secret does not hold what is in the record")
	}
}
