package child

import (
	"slices"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// TestSiblingsOf holds which objects are woken when another one of their kind goes or changes: those that may get what it had.
func TestSiblingsOf(t *testing.T) {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	policy := func(namespace, name, team string, c ...xpv2.Condition) *v1alpha1.EscalationPolicy {
		o := &v1alpha1.EscalationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name)}}
		o.Spec.ForProvider.TeamRef = &v1alpha1.TeamReference{Name: team}
		if team == "" {
			o.Spec.ForProvider.TeamParameters = v1alpha1.TeamParameters{TeamSelector: &v1alpha1.TeamSelector{}}
		}
		o.SetConditions(c...)
		return o
	}
	goes := policy("shop", "goes", "ops")
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(
		goes, policy("shop", "waits", "ops"), policy("shop", "has", "ops", xpv2.Available()), policy("shop", "other-team", "dev"),
		policy("shop", "selects", ""), policy("bank", "elsewhere", "ops"),
	).Build()
	list := func() resource.ManagedList { return &v1alpha1.EscalationPolicyList{} }
	for name, tc := range map[string]struct {
		o    *v1alpha1.EscalationPolicy
		want []string
	}{
		"ByName":   {o: goes, want: []string{"selects", "waits"}},
		"ByLabels": {o: policy("shop", "new", ""), want: []string{"goes", "other-team", "selects", "waits"}},
	} {
		var got []string
		for _, r := range siblingsOf(kube, list)(t.Context(), tc.o) {
			got = append(got, r.Name)
		}
		if slices.Sort(got); !slices.Equal(got, tc.want) {
			t.Errorf("%s: woken are %v, want %v", name, got, tc.want)
		}
	}
}
