package e2e

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// gate runs the script of the examples and returns its exit code and what it said.
func gate(t *testing.T, ns, name, seconds string) (int, string) {
	t.Helper()
	tools, err := toolchain.Ensure(t.Context(), []string{toolchain.Kubectl}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	c := osexec.CommandContext(t.Context(), filepath.Join("..", "..", "examples", "gates", "wait-for-contract.sh"), ns, name, seconds)
	bin := t.TempDir()
	if err := os.Symlink(tools[toolchain.Kubectl], filepath.Join(bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	c.Env = append(os.Environ(), "KUBECONFIG="+p.Plane.Kubeconfig, "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if exit := (*osexec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), string(out)
	} else if err != nil {
		t.Fatal(err)
	}
	return 0, string(out)
}

// workload that names a contract.
func workload(ns, contract string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "api-", Labels: map[string]string{"terdut.ryuvia.com/contract": contract}}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "api", Image: "api"}}
	return d
}

// TestContractGates holds that neither the script nor the admission policy of the examples lets anything in by an answer that is not about
// the contract as it is now.
func TestContractGates(t *testing.T) {
	t.Parallel()
	ns, empty := namespace(t), namespace(t)
	if err := p.ApplyFile(t.Context(), "examples/gates/admission-policy.yaml"); err != nil {
		t.Fatal(err)
	}
	admitted := func(ns string) error {
		err := p.Client.Create(context.Background(), workload(ns, "orders"), client.DryRunAll)
		if err != nil && !strings.Contains(err.Error(), "terdut-contract") {
			t.Fatalf("refused for another reason: %v", err)
		}
		return err
	}

	const rules = "  requiredKeys: [{name: password, minLength: 4}]\n"
	u := contract(t, ns, rules)
	says(t, u, "Satisfied", "False SecretNotFound")
	eventually(t, "the policy to be in force", func(context.Context) error {
		if admitted(ns) == nil {
			return errors.New("a workload was let in whose contract has no Secret")
		}
		if p.Client.Create(context.Background(), workload(ns, "odrers"), client.DryRunAll) == nil {
			return errors.New("a workload was let in that names no contract, by a typing error")
		}
		return nil
	})
	if err := admitted(empty); err == nil {
		t.Error("a workload was let in where nobody has a contract")
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "job-", Labels: workload(ns, "orders").Labels}}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "job", Image: "job"}}}
	if err := p.Client.Create(t.Context(), job, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "terdut-contract") {
		t.Errorf("a Job whose contract has no Secret: got error %v, want a refusal", err)
	}
	if code, said := gate(t, ns, "orders", "20"); code != 1 || !strings.Contains(said, "SecretNotFound") {
		t.Errorf("gate without a Secret: got exit code %d and %q, want 1 and the reason", code, said)
	}
	if code, said := gate(t, ns, "nobody", "3"); code != 2 {
		t.Errorf("gate of no contract: got exit code %d and %q, want 2", code, said)
	}

	writeSecret(t, ns, map[string]string{"password": "long-enough"}, nil)
	if code, said := gate(t, ns, "orders", "120"); code != 0 {
		t.Errorf("gate of a satisfied contract: got exit code %d and %q, want 0", code, said)
	}
	says(t, u, "Satisfied", "True RulesSatisfied")
	if err := admitted(ns); err != nil {
		t.Errorf("a workload was refused whose contract is satisfied: %v", err)
	}

	running := workload(ns, "orders")
	if err := p.Client.Create(t.Context(), running); err != nil {
		t.Fatal(err)
	}

	// While nobody answers, the answer of before is not taken for one about the contract as it is now.
	l := &secretsv1alpha1.SecretCheckList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil || len(l.Items) != 1 {
		t.Fatalf("got %d SecretChecks (error %v), want 1", len(l.Items), err)
	}
	c := &l.Items[0]
	pause := func(v string) {
		t.Helper()
		change(t, client.ObjectKeyFromObject(c), c, func() { metav1.SetMetaDataAnnotation(&c.ObjectMeta, "crossplane.io/paused", v) })
	}
	pause("true")
	contract(t, ns, "  requiredKeys: [{name: password, minLength: 5}]\n")
	// The API server finds the contract in a cache of its own, which may be an instant old.
	eventually(t, "workloads to be refused", func(ctx context.Context) error {
		if admitted(ns) == nil {
			return errors.New("a workload was let in by an answer about an older contract")
		}
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(running), running); err != nil {
			return err
		}
		running.Labels = nil
		err := p.Client.Update(ctx, running, client.DryRunAll)
		if err == nil {
			return errors.New("a workload got rid of its contract by its label")
		}
		if !strings.Contains(err.Error(), "terdut-contract") {
			return err
		}
		return nil
	})
	if code, said := gate(t, ns, "orders", "5"); code != 1 {
		t.Errorf("gate while nobody answers: got exit code %d and %q, want 1", code, said)
	}

	// A contract that is changed while it is waited for is another one: the gate says so at once.
	requested := func() string {
		t.Helper()
		if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
			t.Fatal(err)
		}
		r, _, _ := unstructured.NestedString(u.Object, "spec", "checkRequest")
		return r
	}
	before := requested()
	done := make(chan string)
	go func() {
		code, said := gate(t, ns, "orders", "200")
		done <- strconv.Itoa(code) + " " + said
	}()
	eventually(t, "the gate to ask", func(context.Context) error {
		if requested() == before {
			return errors.New("it has not asked")
		}
		return nil
	})
	contract(t, ns, "  requiredKeys: [{name: password, minLength: 6}]\n")
	if said := <-done; !strings.HasPrefix(said, "1 ") || !strings.Contains(said, "was changed") {
		t.Errorf("gate of a contract that changes: got %q, want exit code 1 and what happened", said)
	}
	// Two pipelines that wait for one contract both get their answer.
	both := make(chan string)
	for range 2 {
		before := requested()
		go func() {
			code, said := gate(t, ns, "orders", "200")
			both <- strconv.Itoa(code) + " " + said
		}()
		eventually(t, "the gate to ask", func(context.Context) error {
			if requested() == before {
				return errors.New("it has not asked")
			}
			return nil
		})
	}
	pause("false")
	for range 2 {
		if said := <-both; !strings.HasPrefix(said, "0 ") {
			t.Errorf("gate with an answer, one of two: got %q, want exit code 0", said)
		}
	}
	if err := admitted(ns); err != nil {
		t.Errorf("a workload was refused whose contract is satisfied: %v", err)
	}
}
