package grants

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// namespace makes a namespace of the test's own.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "grants-"}}
	if err := p.Client.Create(t.Context(), ns); err != nil {
		t.Fatalf("cannot create namespace: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Client.Delete(context.Background(), ns); err != nil {
			t.Errorf("cannot delete namespace: %v", err)
		}
	})
	return ns.Name
}

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.WaitFor(ctx, what, check); err != nil {
		t.Fatal(err)
	}
}

func apply(t *testing.T, format string, args ...any) {
	t.Helper()
	if err := p.Apply(t.Context(), fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatalf("cannot apply: %v", err)
	}
}

// contract applies a SecretContract named orders for the Secret orders-db, and returns its uid.
func contract(t *testing.T, ns, spec string) types.UID {
	t.Helper()
	apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: SecretContract\nmetadata: {name: orders, namespace: %s}\nspec: {secretRef: {name: orders-db}, %s}", ns, spec)
	c := &terdutv1alpha1.SecretContract{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: "orders"}, c); err != nil {
		t.Fatal(err)
	}
	return c.UID
}

// verdict waits for the verdict on a contract's current generation, and returns its status.
func verdict(t *testing.T, ns, want string) terdutv1alpha1.SecretContractStatus {
	t.Helper()
	out := terdutv1alpha1.SecretContractStatus{}
	eventually(t, "contract of "+ns+" to be "+want, func(ctx context.Context) error {
		u := struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Status   struct {
				terdutv1alpha1.SecretContractStatus `json:",inline"`
				xpv2.ConditionedStatus              `json:",inline"`
			} `json:"status"`
		}{}
		if err := read(ctx, ns, &u); err != nil {
			return err
		}
		c := u.Status.GetCondition(secretsv1alpha1.TypeSatisfied)
		if got := string(c.Status) + " " + string(c.Reason); got != want || u.Status.ObservedGeneration != u.Metadata.Generation {
			return fmt.Errorf("it is %s of generation %d, at generation %d", got, u.Status.ObservedGeneration, u.Metadata.Generation)
		}
		out = u.Status.SecretContractStatus
		return nil
	})
	return out
}

// read the contract of a namespace into a Go value that also has what Crossplane adds.
func read(ctx context.Context, ns string, into any) error {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(terdutv1alpha1.SecretContractGroupVersionKind)
	if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: "orders"}, u); err != nil {
		return err
	}
	b, err := u.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// grant lets the contract of a uid look at orders-db with these types of rules.
func grant(t *testing.T, ns, name string, uid types.UID, ruleTypes ...string) *secretsv1alpha1.SecretAccessGrant {
	t.Helper()
	g := &secretsv1alpha1.SecretAccessGrant{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "grant-"}}
	g.Spec = secretsv1alpha1.SecretAccessGrantSpec{
		ContractRef: secretsv1alpha1.ContractReference{Name: name, UID: string(uid)}, SecretName: "orders-db", RuleTypes: ruleTypes,
	}
	if err := p.Client.Create(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	return g
}

// An auditEvent is what is read of one line of the audit log.
type auditEvent struct {
	Verb      string `json:"verb"`
	ObjectRef struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"objectRef"`
	ResponseObject struct {
		Kind string `json:"kind"`
	} `json:"responseObject"`
}

// audited returns what the provider asked of Secrets.
func audited(t *testing.T) []auditEvent {
	t.Helper()
	b, err := os.ReadFile(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	var out []auditEvent
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		e := auditEvent{}
		if err := json.Unmarshal(s.Bytes(), &e); err == nil {
			out = append(out, e)
		}
	}
	return out
}

// reads counts how often the provider read the Secret of a namespace.
func reads(t *testing.T, ns string) int {
	t.Helper()
	n := 0
	for _, e := range audited(t) {
		if e.Verb == "get" && e.ObjectRef.Namespace == ns && e.ObjectRef.Name == "orders-db" {
			n++
		}
	}
	return n
}

func secret(t *testing.T, ns string, data map[string]string) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-db"}, StringData: data}
	if err := p.Client.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}
