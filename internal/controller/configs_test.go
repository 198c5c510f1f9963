package controller

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ryuvia/provider-terdut/apis"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao"
	"github.com/ryuvia/provider-terdut/internal/controller/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// TestConfigKinds holds for all groups that both kinds of provider config count the same managed resources: all those of their group. A
// config that does not see a user would go while it is used.
func TestConfigKinds(t *testing.T) {
	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	// These work with a key that the provider was given, and refer to no config.
	withoutConfig := map[schema.GroupVersionKind]bool{
		oncallv1alpha1.BootstrapGroupVersionKind:        true,
		oncallv1alpha1.EscalationPolicyGroupVersionKind: true,
		oncallv1alpha1.DeadmanSwitchGroupVersionKind:    true,
		oncallv1alpha1.IntegrationGroupVersionKind:      true,
	}
	// managed are the kinds of managed resource of each group that has provider configs, by the scheme.
	managed := map[string][]string{}
	withConfigs := map[string]bool{}
	for gvk, typ := range s.AllKnownTypes() {
		o := reflect.New(typ).Interface()
		if _, ok := o.(resource.ModernManaged); ok && !withoutConfig[gvk] {
			// What gives access refers to the configs of the server that it is on.
			group := strings.TrimPrefix(gvk.Group, "access.")
			managed[group] = append(managed[group], gvk.Kind)
		}
		if _, ok := o.(resource.ProviderConfig); ok {
			withConfigs[gvk.Group] = true
		}
	}

	groups := map[string]func(setup.Options) []setup.ProviderConfigKind{
		"oncall.terdut.ryuvia.com": func(o setup.Options) []setup.ProviderConfigKind {
			return oncall.ConfigKinds(nil, o)
		},
		"openbao.terdut.ryuvia.com":    openbao.ConfigKinds,
		"postgresql.terdut.ryuvia.com": postgresql.ConfigKinds,
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(withConfigs)), slices.Sorted(maps.Keys(groups))); diff != "" {
		t.Errorf("groups with provider configs: -scheme, +tested:\n%s", diff)
	}
	kindOf := func(o any) schema.GroupVersionKind {
		t.Helper()
		gvks, _, err := s.ObjectKinds(o.(runtime.Object))
		if err != nil || len(gvks) != 1 {
			t.Fatalf("%T: %v %v", o, gvks, err)
		}
		return gvks[0]
	}
	for group, kinds := range groups {
		slices.Sort(managed[group])
		var names []string
		for _, k := range kinds(setup.Options{}) {
			names = append(names, k.GVK.Kind)
			where := fmt.Sprintf("%s of %s", k.GVK.Kind, group)

			if got := kindOf(k.New()); got != k.GVK || k.GVK.Group != group {
				t.Errorf("%s: New() makes a %s", where, got)
			}
			if got := kindOf(k.NewList()); got.Kind != k.GVK.Kind+"List" || got.Group != group {
				t.Errorf("%s: NewList() makes a %s", where, got)
			}
			var counted, watched []string
			for _, l := range k.Users {
				counted = append(counted, strings.TrimSuffix(kindOf(l).Kind, "List"))
			}
			for _, o := range k.UserKinds {
				watched = append(watched, kindOf(o).Kind)
			}
			slices.Sort(counted)
			slices.Sort(watched)
			if diff := cmp.Diff(managed[group], counted); diff != "" {
				t.Errorf("%s: kinds that are counted: -want, +got:\n%s", where, diff)
			}
			if diff := cmp.Diff(managed[group], watched); diff != "" {
				t.Errorf("%s: kinds that are watched: -want, +got:\n%s", where, diff)
			}
			if k.Secrets == nil || k.Probe == nil || k.Forget == nil {
				t.Errorf("%s: something is not set", where)
			}
		}
		if diff := cmp.Diff([]string{connect.KindProviderConfig, connect.KindClusterProviderConfig}, names); diff != "" {
			t.Errorf("kinds of provider config of %s: -want, +got:\n%s", group, diff)
		}
	}
}

// TestGate holds that the controllers wait for every kind that they and their configs read.
func TestGate(t *testing.T) {
	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	want := map[schema.GroupVersionKind]bool{}
	for gvk, typ := range s.AllKnownTypes() {
		o := reflect.New(typ).Interface()
		_, isManaged := o.(resource.ModernManaged)
		_, isConfig := o.(resource.ProviderConfig)
		_, isUsage := o.(resource.ProviderConfigUsage)
		if isManaged || isConfig || isUsage {
			want[gvk] = true
		}
	}
	got := map[schema.GroupVersionKind]bool{}
	for _, k := range slices.Concat(kinds(), oncallKinds(), checkKinds()) {
		got[k] = true
	}
	// No managed resource, and needed all the same.
	want[secretsv1alpha1.SecretAccessGrantGroupVersionKind] = true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
