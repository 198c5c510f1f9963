package main

import (
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
)

// judge prints what is found of a contract, and returns the exit code. What only a cluster knows, its ExternalSecret and workloads, is not
// looked at, and that is said.
func judge(out io.Writer, c *v1alpha1.SecretContract, secrets map[types.NamespacedName]*corev1.Secret, now time.Time) int {
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, "%s/%s: "+format+"\n", append([]any{c.Namespace, c.Name}, args...)...)
	}
	p := c.Spec.ContractParameters
	versions := []string{}
	if r := p.ExternalSecretRef; r != nil {
		// Which ones are supported is the installation's to say. Default: as in the schema.
		if r.APIVersion == "" {
			r.APIVersion = "external-secrets.io/v1"
		}
		versions = append(versions, r.APIVersion)
	}
	for i := range p.WorkloadRefs {
		if p.WorkloadRefs[i].APIVersion == "" {
			p.WorkloadRefs[i].APIVersion = "apps/v1"
		}
	}
	spec := declared.Spec(p, versions)
	if r := spec.Check(); !r.SpecValid {
		for _, v := range r.Violations {
			say("%s %s", subject(v), v.Reason)
		}
		return exitInvalid
	}
	secret, ok := secrets[types.NamespacedName{Namespace: c.Namespace, Name: spec.Secret}]
	if !ok {
		say("Secret %q: %s", spec.Secret, contract.ReasonSecretNotFound)
		return exitViolated
	}

	code := exitValid
	r := contract.Evaluate(spec.Rules, secret.Data, now)
	for _, v := range r.Violations {
		say("%s %s", subject(v), v.Reason)
		code = exitViolated
	}
	for _, v := range r.Warnings {
		say("%s %s (warning)", subject(v), v.Reason)
	}
	if spec.MaxAge != nil {
		at, there := secret.Annotations[spec.RotatedAtAnnotation]
		if reason, _ := contract.Rotation(at, there, *spec.MaxAge, now); reason != contract.ReasonNone {
			counts := ""
			if spec.Policy.RequireRotationPolicy {
				code = exitViolated
			} else {
				counts = " (not required)"
			}
			say("annotation %q %s%s", spec.RotatedAtAnnotation, reason, counts)
		}
	}
	if spec.ExternalSecret != "" || len(spec.Workloads) > 0 {
		say("ExternalSecret and workloads are not looked at without a cluster")
	}
	if code == exitValid {
		say("%s", contract.ReasonRulesSatisfied)
	}
	return code
}

// subject is what a finding is about.
func subject(v contract.Violation) string {
	if v.Key == "" {
		return fmt.Sprintf("rule %s:", v.Rule)
	}
	return fmt.Sprintf("key %q, rule %s:", v.Key, v.Rule)
}
