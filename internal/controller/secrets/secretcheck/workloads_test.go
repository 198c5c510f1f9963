package secretcheck

import (
	"fmt"
	"testing"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
)

// ofDeployment makes a check look at Deployment api.
func ofDeployment(c *v1alpha1.SecretCheck) {
	c.Spec.ForProvider.WorkloadRefs = []v1alpha1.WorkloadReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "api"}}
}

// TestFindingsAreCounted holds that a list that is cut says so.
func TestFindingsAreCounted(t *testing.T) {
	for name, n := range map[string]int{"Whole": maxWorkloadFindings, "Cut": maxWorkloadFindings + 1} {
		t.Run(name, func(t *testing.T) {
			mg := check(ofDeployment, func(c *v1alpha1.SecretCheck) {
				c.Spec.ForProvider.RequiredKeys = nil
				for i := range n {
					c.Spec.ForProvider.RequiredKeys = append(c.Spec.ForProvider.RequiredKeys, v1alpha1.KeyRule{Name: fmt.Sprintf("key%d", i)})
				}
			})
			if err := newBench(t, secret(), deployment()).look(t, mg); err != nil {
				t.Fatal(err)
			}
			o := mg.Status.AtProvider
			if w := o.WorkloadStatuses[0]; int(w.FindingCount) != n || len(w.Findings) != maxWorkloadFindings || o.Truncated != (n > maxWorkloadFindings) {
				t.Errorf("%d findings of %d are listed, truncated: %t; there are %d", len(w.Findings), w.FindingCount, o.Truncated, n)
			}
		})
	}
}
