package secretcheck

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

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

// TestH50UsesAreTold holds that whoever reads the status sees how the workload uses the Secret, in each form, and what is wrong with that; and
// that it does not count.
func TestH50UsesAreTold(t *testing.T) {
	yes := true
	d := deployment(envOf("orders-db"))
	pod := &d.Spec.Template.Spec
	pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "orders-db"}}
	pod.Volumes = []corev1.Volume{{Name: "files", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: "orders-db", Optional: &yes, Items: []corev1.KeyToPath{{Key: "username", Path: "user"}},
	}}}}
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "files", MountPath: "/etc/user", SubPath: "user"}}
	pod.InitContainers = []corev1.Container{{Name: "init", EnvFrom: []corev1.EnvFromSource{{
		Prefix: "x-", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "orders-db"}},
	}}}}

	mg := check(ofDeployment, func(c *v1alpha1.SecretCheck) {
		c.Spec.ForProvider.Policy = &v1alpha1.Policy{RequireWorkloadReference: true}
	})
	if err := newBench(t, secret(), d).look(t, mg); err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.WorkloadUse{
		{Path: "containers[api].volumeMounts[0]", Form: "SubPath", NeedsRestart: true, Reasons: []string{"KeyNotFound"}},
		{Path: "initContainers[init].envFrom[0]", Form: "EnvFrom", NeedsRestart: true, Reasons: []string{"KeyNotPortable"}},
		{Path: "volumes[files].secret", Form: "Volume", Reasons: []string{"KeyNotFound", "KeyNotProjected", "OptionalReferenceNotAllowed"}},
		{Path: "containers[api].env[password]", Form: "Env", NeedsRestart: true},
		{Path: "imagePullSecrets[0]", Form: "ImagePullSecret"},
	}
	w := mg.Status.AtProvider.WorkloadStatuses[0]
	if diff := cmp.Diff(want, w.Uses); diff != "" || w.UseCount != 5 {
		t.Errorf("%d uses: -want, +got:\n%s", w.UseCount, diff)
	}
	if got := says(mg, v1alpha1.TypeSatisfied); got != "True RulesSatisfied" {
		t.Errorf("Satisfied: got %s: uses tell, and do not count", got)
	}
	if mg.Status.AtProvider.Truncated {
		t.Error("nothing was cut")
	}

	// Without the Secret it is not known which keys it has.
	if err := newBench(t, d).look(t, mg); err != nil {
		t.Fatal(err)
	}
	for _, u := range mg.Status.AtProvider.WorkloadStatuses[0].Uses {
		if slices.Contains(u.Reasons, "KeyNotFound") {
			t.Errorf("%s is said to use a key that does not exist, without a Secret", u.Path)
		}
	}
}
