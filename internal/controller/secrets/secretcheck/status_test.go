package secretcheck

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
)

// TestNoNews holds that a status moves only when something has changed that matters, and events come only with a new verdict.
func TestNoNews(t *testing.T) {
	mg := check()
	b := newBench(t, secret())
	look := func() {
		t.Helper()
		if err := b.look(t, mg); err != nil {
			t.Fatal(err)
		}
	}
	look()
	if mg.Status.AtProvider.CheckRequest != "please" || mg.Status.AtProvider.ContractGeneration != 7 {
		t.Errorf("request and generation are not echoed: %+v", mg.Status.AtProvider)
	}
	first := mg.Status.DeepCopy()
	for range 3 {
		b.at = b.at.Add(time.Hour)
		look()
	}
	if diff := cmp.Diff(*first, mg.Status); diff != "" {
		t.Errorf("nothing has changed: -want, +got:\n%s", diff)
	}

	// Another version of the Secret with the same findings is shown, but not each of many.
	s := &corev1.Secret{}
	touch := func(data map[string][]byte) {
		t.Helper()
		if err := b.kube.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: "orders-db"}, s); err != nil {
			t.Fatal(err)
		}
		s.Data = data
		if err := b.kube.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		look()
	}
	shown := func() string { return mg.Status.AtProvider.ObservedSecret.ResourceVersion }
	touch(map[string][]byte{"password": []byte("b")})
	if shown() != s.ResourceVersion {
		t.Errorf("the Secret's version is %s, shown is %s", s.ResourceVersion, shown())
	}
	before := shown()
	touch(map[string][]byte{"password": []byte("c")})
	if shown() != before {
		t.Error("a second change at once was shown at once")
	}
	if d := nextCheck(func() time.Time { return b.at })(mg, time.Minute); d != quiet {
		t.Errorf("it is looked at again after %s, want %s", d, quiet)
	}
	b.at = b.at.Add(quiet)
	look()
	if shown() != s.ResourceVersion {
		t.Error("the last change was never shown")
	}
	// What is found counts at once.
	touch(map[string][]byte{"other": []byte("c")})
	if got := says(mg, v1alpha1.TypeSatisfied); got != "False MissingRequiredKey" || mg.Status.AtProvider.MissingKeyCount != 1 {
		t.Errorf("after the key went: %s, %d missing", got, mg.Status.AtProvider.MissingKeyCount)
	}

	var reasons []string
	for _, e := range b.events.list {
		reasons = append(reasons, string(e.Reason))
	}
	if diff := cmp.Diff([]string{"ContractReady", "SecretValidationFailed"}, reasons); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestErrorAnswersNothing holds that an evaluation that was not finished keeps what was found, confirms nothing, and echoes no request.
func TestErrorAnswersNothing(t *testing.T) {
	mg := check()
	b := newBench(t, secret())
	if err := b.look(t, mg); err != nil {
		t.Fatal(err)
	}
	mg.Spec.ForProvider.CheckRequest = "again"
	b.fail = func(string) error { return errTimeout }
	if err := b.look(t, mg); err == nil {
		t.Fatal("the API server's fault was swallowed")
	}
	if got := mg.Status.AtProvider.CheckRequest; got != "please" {
		t.Errorf("request %q is said to be answered", got)
	}
	if got := says(mg, v1alpha1.TypeSatisfied); got != "Unknown Unknown" {
		t.Errorf("the verdict is %s", got)
	}
}

// TestGrants holds that without a grant that covers all of it a contract learns nothing, and that what it learnt goes with the grant.
func TestGrants(t *testing.T) {
	yes := true
	grant := func(mods ...func(*v1alpha1.SecretAccessGrant)) *v1alpha1.SecretAccessGrant {
		g := &v1alpha1.SecretAccessGrant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "grant"}}
		g.Spec = v1alpha1.SecretAccessGrantSpec{
			ContractRef: v1alpha1.ContractReference{Name: "orders", UID: "check-uid"}, SecretName: "orders-db", RuleTypes: []string{"required", "nonEmpty"},
		}
		for _, m := range mods {
			m(g)
		}
		return g
	}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.SecretCheck
		grant  *v1alpha1.SecretAccessGrant
		want   string
	}{
		"Granted":     {"It covers all.", check(), grant(), "True RulesSatisfied"},
		"None":        {"There is none.", check(), nil, "False AccessNotApproved"},
		"Recreated":   {"A contract of the same name is another one.", check(func(c *v1alpha1.SecretCheck) { c.UID = "other" }), grant(), "False AccessNotApproved"},
		"OtherSecret": {"It is about another Secret.", check(), grant(func(g *v1alpha1.SecretAccessGrant) { g.Spec.SecretName = "billing-db" }), "False AccessNotApproved"},
		"MoreRules":   {"A pattern would tell more.", check(func(c *v1alpha1.SecretCheck) { c.Spec.ForProvider.RequiredKeys[0].Pattern = "^S" }), grant(), "False AccessNotApproved"},
		"MoreWorkload": {"A workload was not granted.", check(func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.WorkloadRefs = []v1alpha1.WorkloadReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "api"}}
		}), grant(), "False AccessNotApproved"},
		"OtherNamespace": {"It is of another namespace.", check(), grant(func(g *v1alpha1.SecretAccessGrant) { g.Namespace = "billing" }), "False AccessNotApproved"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{secret()}
			if tc.grant != nil {
				objects = append(objects, tc.grant)
			}
			b := newBench(t, objects...)
			b.grants = true
			if err := b.look(t, tc.mg); err != nil {
				t.Fatal(err)
			}
			if got := says(tc.mg, v1alpha1.TypeSatisfied); got != tc.want {
				t.Errorf("\n%s\nSatisfied: got %s, want %s", tc.reason, got, tc.want)
			}
			if tc.want == "False AccessNotApproved" && b.gets > 0 {
				t.Errorf("\n%s\nthe Secret was read %d times", tc.reason, b.gets)
			}
		})
	}

	t.Run("Revoked", func(t *testing.T) {
		mg := check(func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.RequiredKeys = append(c.Spec.ForProvider.RequiredKeys, v1alpha1.KeyRule{Name: "username", Required: &yes})
		})
		g := grant()
		b := newBench(t, secret(), g)
		b.grants = true
		if err := b.look(t, mg); err != nil {
			t.Fatal(err)
		}
		if len(mg.Status.AtProvider.Violations) != 1 {
			t.Fatalf("got %+v, want one violation", mg.Status.AtProvider)
		}
		if err := b.kube.Delete(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if err := b.look(t, mg); err != nil {
			t.Fatal(err)
		}
		if o := mg.Status.AtProvider; len(o.Violations) != 0 || o.MissingKeyCount != 0 || o.ObservedSecret != nil || len(o.MissingKeys) != 0 {
			t.Errorf("findings of before are still shown: %+v", o)
		}
	})

	t.Run("Borrowed", func(t *testing.T) {
		// An owner reference can be written by anybody; a composite that does not compose the check is not behind it.
		mg := check(func(c *v1alpha1.SecretCheck) {
			c.UID = "other"
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "secrets.terdut.ryuvia.com/v1alpha1", Kind: "SecretCheck", Name: "orders", UID: "check-uid", Controller: &yes}}
		})
		b := newBench(t, secret(), grant(), check())
		b.grants = true
		if err := b.look(t, mg); err == nil && says(mg, v1alpha1.TypeSatisfied) != "False AccessNotApproved" {
			t.Errorf("a forged owner reference borrowed a grant: %s", says(mg, v1alpha1.TypeSatisfied))
		}
		if b.gets > 0 {
			t.Errorf("the Secret was read %d times", b.gets)
		}
	})
}
