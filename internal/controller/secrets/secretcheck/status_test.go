package secretcheck

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
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
	b.fail = timeout("Secret")
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

// TestOneFaultHidesNothing holds that what cannot be looked at beside the Secret keeps nothing from being looked at and answered, and is
// looked at again soon although nothing depends on it.
func TestOneFaultHidesNothing(t *testing.T) {
	mg := check(func(c *v1alpha1.SecretCheck) {
		c.Spec.ForProvider.RequiredKeys = append(c.Spec.ForProvider.RequiredKeys, v1alpha1.KeyRule{Name: "username"})
		c.Spec.ForProvider.ExternalSecretRef = &v1alpha1.ExternalSecretReference{Name: "source", APIVersion: esV1}
		c.Spec.ForProvider.WorkloadRefs = []v1alpha1.WorkloadReference{
			{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db"}, {APIVersion: "apps/v1", Kind: "Deployment", Name: "api"},
		}
	})
	b := newBench(t, secret(), deployment(envOf("orders-db-old")))
	b.fail = func(kind string) error {
		if kind == kindExternalSecret || kind == "StatefulSet" {
			return errTimeout
		}
		return nil
	}
	if err := b.look(t, mg); err != nil {
		t.Fatal(err)
	}
	o := mg.Status.AtProvider
	if o.CheckRequest != "please" || o.ObservedSecret == nil || o.ViolationCount != 1 || len(o.WorkloadStatuses) != 2 {
		t.Errorf("the pass was not answered: %+v", o)
	}
	want := map[xpv2.ConditionType]string{
		v1alpha1.TypeSatisfied:           "False MissingRequiredKey",
		v1alpha1.TypeExternalSecretReady: "Unknown ExternalSecretReadFailed",
		v1alpha1.TypeWorkloadsConfigured: "False EnvConflict",
	}
	got := map[xpv2.ConditionType]string{}
	for ct := range want {
		got[ct] = says(mg, ct)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions: -want, +got:\n%s", diff)
	}
	if d := nextCheck(func() time.Time { return b.at })(mg, time.Minute); d > retryUnknown {
		t.Errorf("it is looked at again after %s, want %s at most", d, retryUnknown)
	}
}

// TestStoredIsTheSame holds that a status which has been stored and read again is written no more, whatever moment is next in it: the API
// holds times in whole seconds.
func TestStoredIsTheSame(t *testing.T) {
	age := "24h"
	pair := func(s *corev1.Secret) {
		s.Data = map[string][]byte{}
		s.Data["tls.crt"], s.Data["tls.key"] = selfSigned(t, noon.Add(-time.Hour), noon.Add(time.Hour))
	}
	rotated := func(s *corev1.Secret) {
		s.Annotations = map[string]string{declared.RotatedAt: noon.Add(-time.Hour - 300*time.Millisecond).Format(time.RFC3339Nano)}
	}
	for name, tc := range map[string]struct {
		mg     *v1alpha1.SecretCheck
		secret *corev1.Secret
		next   time.Time
	}{
		"TLS": {
			check(func(c *v1alpha1.SecretCheck) {
				c.Spec.ForProvider.RequiredKeys = []v1alpha1.KeyRule{{Name: "tls.crt", Format: "TLS"}}
			}),
			secret(pair), noon.Add(time.Hour + time.Second),
		},
		"FractionOfASecond": {
			check(func(c *v1alpha1.SecretCheck) { c.Spec.ForProvider.Rotation = &v1alpha1.RotationPolicy{MaxAge: &age} }),
			secret(rotated), noon.Add(23 * time.Hour),
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.secret)
			if err := b.look(t, tc.mg); err != nil {
				t.Fatal(err)
			}
			if got := tc.mg.Status.AtProvider.NextCheckTime; got == nil || !got.Time.Equal(tc.next) {
				t.Errorf("next check: got %v, want %v", got, tc.next)
			}
			stored, err := json.Marshal(tc.mg)
			if err != nil {
				t.Fatal(err)
			}
			read := &v1alpha1.SecretCheck{}
			if err := json.Unmarshal(stored, read); err != nil {
				t.Fatal(err)
			}
			was := read.DeepCopy()
			b.at = b.at.Add(time.Minute)
			if err := b.look(t, read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was.Status.AtProvider, read.Status.AtProvider); diff != "" {
				t.Errorf("nothing has changed: -stored, +now:\n%s", diff)
			}
		})
	}
}

// TestDeadlineComesFirst holds that a Secret which changes all the time does not keep a deadline from being looked at.
func TestDeadlineComesFirst(t *testing.T) {
	age := "24h"
	mg := check(func(c *v1alpha1.SecretCheck) { c.Spec.ForProvider.Rotation = &v1alpha1.RotationPolicy{MaxAge: &age} })
	b := newBench(t, secret(func(s *corev1.Secret) {
		s.Annotations = map[string]string{declared.RotatedAt: noon.Add(3*time.Second - 24*time.Hour).Format(time.RFC3339)}
	}))
	for i := range 2 {
		s := &corev1.Secret{}
		if err := b.kube.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: "orders-db"}, s); err != nil {
			t.Fatal(err)
		}
		s.Data["password"] = []byte{byte(i)}
		if err := b.kube.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if err := b.look(t, mg); err != nil {
			t.Fatal(err)
		}
		if d := nextCheck(func() time.Time { return b.at })(mg, time.Minute); d != 3*time.Second {
			t.Errorf("look %d: the next is after %s, want 3s: that is when the Secret becomes too old", i, d)
		}
	}
}
