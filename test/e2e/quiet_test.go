package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// In a namespace that is deleted, credentials may go before what needs them, also when no process has them in memory any more. What cannot be
// deleted outside then is let go, and told.
func TestH39CredentialsWentFirst(t *testing.T) {
	ns := namespace(t)
	newManager(t, ns)
	passwordSecret(t, ns, "password")
	pc := &postgresqlv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "own"}}
	pc.Spec.ServerSpec = server(ns)
	pc.Spec.Credentials.SecretRef.Name = "admin"
	create(t, pc)
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, postgresqlv1alpha1.ReasonProbed)
	db := newDatabase(ns, "orders", named(ns))
	db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	db.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	create(t, db)
	bothReady(t, db)
	before := world(t, named(ns), "none")

	// The Secret goes, then the process that remembers what was in it.
	remove(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "admin"}})
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionFalse, postgresqlv1alpha1.ReasonConfigNotReady)
	kill(t)
	// In a namespace that stays, the object stays too, and says why.
	remove(t, db)
	message := becomes(t, db, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)
	if message == "" {
		t.Error("the condition says nothing")
	}
	deleteNamespace(t, ns)
	same(t, "after the release", before, world(t, named(ns), "none"), "database/oid", "role/oid", "role/rolpassword")
}

// The status of an object that was deleted and made anew under the same name is a conflict on a real API server: the reconciler looks again.
func TestStatusOfAnotherObject(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	c := setup.NewClient(p.Client)
	make1 := func() *openbaov1alpha1.BaoSecret {
		s := newRecord(ns, "orders", "another/"+ns)
		pause(s)
		create(t, s)
		return s
	}
	old := make1()
	remove(t, old)
	isGone(t, old.DeepCopy())
	report := func() error {
		s := old.DeepCopy()
		s.Status.AtProvider.Version = 7
		return c.Status().Update(t.Context(), s)
	}
	if err := report(); !kerrors.IsConflict(err) {
		t.Errorf("the status of an object that is gone: %v", err)
	}
	anew := make1()
	if err := report(); !kerrors.IsConflict(err) {
		t.Errorf("the status of an object that was made anew: %v", err)
	}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: "orders"}, anew); err != nil || anew.Status.AtProvider.Version != 0 {
		t.Errorf("it was written: version %d, %v", anew.Status.AtProvider.Version, err)
	}
	invalid := anew.DeepCopy()
	invalid.Status.AtProvider.Version = 7
	invalid.Status.Conditions = []xpv2.Condition{{Type: "Ready"}}
	if err := c.Status().Update(t.Context(), invalid); err == nil || kerrors.IsConflict(err) {
		t.Errorf("a status that the API server refuses: %v", err)
	}
	anew.Status.AtProvider.Version = 8
	if err := c.Status().Update(t.Context(), anew); err != nil {
		t.Errorf("the status of the object itself: %v", err)
	}
}
