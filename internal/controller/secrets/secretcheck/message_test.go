package secretcheck

import (
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
)

// TestEveryReasonIsExplained holds that whatever is not in order has a message, in a condition and in an event.
func TestEveryReasonIsExplained(t *testing.T) {
	mg := check(ofDeployment, func(c *v1alpha1.SecretCheck) {
		c.Spec.ForProvider.ExternalSecretRef = &v1alpha1.ExternalSecretReference{Name: "source", APIVersion: esV1}
	})
	for r := contract.ReasonNone; r == contract.ReasonNone || r.String() != ""; r++ {
		got := verdict{}.message(mg, r)
		inOrder := r == contract.ReasonRulesSatisfied || r == contract.ReasonNotConfigured
		if (got == "") != inOrder || strings.Contains(got, "%!") {
			t.Errorf("message of reason %q: got %q", r, got)
		}
	}
}
