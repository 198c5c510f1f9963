package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAccessImpossible says what stands in the way, and delivers through no other store instead.
func TestAccessImpossible(t *testing.T) {
	cases := map[string]struct {
		reason string
		record []mod
		policy mod
		want   string
		phase  string
	}{
		"NotConfigured": {"The admin has not said where roles are made.", []mod{with("status.atProvider.mount", "kv"), with("status.atProvider.path", "tenants/shop/orders")},
			nil, "FALSE AccessNotConfigured", "Failed"},
		"Glob":     {"A mount that ends a policy's path early would mean others.", []mod{withAccess("Shared"), with("status.atProvider.mount", "k+v")}, nil, "FALSE PathNotExact", "Failed"},
		"Quote":    {"A path that ends the policy's text.", []mod{withAccess("Shared"), with("status.atProvider.path", `a" { }`)}, nil, "FALSE PathNotExact", "Failed"},
		"Template": {"A path that OpenBao fills in.", []mod{withAccess("Shared"), with("status.atProvider.path", "{{identity.entity.id}}")}, nil, "FALSE PathNotExact", "Failed"},
		"Conflict": {"The policy is somebody else's.", []mod{withAccess("Shared")}, said("Ready", "False", "Conflict", "taken", 1), "FALSE Conflict", "Conflict"},
		"Denied":   {"The provider may not write policies.", []mod{withAccess("Shared")}, said("Ready", "Unknown", "PermissionDenied", "denied", 1), "UNKNOWN PermissionDenied", "Failed"},
		"Create": {"OpenBao refuses the policy, which the Policy tells in Synced alone.", []mod{withAccess("Shared")}, func(obj map[string]any) {
			said("Ready", "False", "Creating", "", 1)(obj)
			said("Synced", "False", "ReconcileError", "refused", 1)(obj)
		}, "FALSE ReconcileError", "DatabaseCreated"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := &plane{t: t, observed: everything()}
			delete(p.observed, "external-secret")
			p.says("credential", tc.record...)
			p.run(xr(kubernetes))
			if tc.policy != nil {
				p.says("policy", tc.policy)
			}
			p.run(xr(kubernetes))
			if got := p.condition("AccessReady"); got != tc.want {
				t.Errorf("\n%s\nAccessReady is %s, want %s", tc.reason, got, tc.want)
			}
			if got := p.rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["phase"].GetStringValue(); got != tc.phase {
				t.Errorf("\n%s\nphase is %s, want %s", tc.reason, got, tc.phase)
			}
			if slices.Contains(p.names(), "external-secret") {
				t.Errorf("\n%s\nthe Secret is delivered", tc.reason)
			}
		})
	}
}

// TestAccessUnknown holds that access stays as it is while nothing is known of the record: a status that was lost changes nothing.
func TestAccessUnknown(t *testing.T) {
	p := ownAccess(t)
	p.says("credential", without("status"))
	p.run(xr())
	p.run(xr())
	if diff := cmp.Diff(all, p.names()); diff != "" {
		t.Errorf("composed: -want, +got:\n%s", diff)
	}
	if p.store() != "SecretStore" {
		t.Errorf("the ExternalSecret reads through a %s", p.store())
	}
}

// TestAccessDeleted holds that what delivers a Secret stays when somebody deletes what it depends on while OpenBao cannot be asked.
func TestAccessDeleted(t *testing.T) {
	cases := map[string]struct {
		reason          string
		deleted, absent []string
	}{
		"Policy":         {"It is made anew once the credential is there.", []string{"policy"}, []string{"policy"}},
		"PolicyAndRole":  {"The role waits for the policy.", []string{"policy", "auth-role"}, []string{"policy", "auth-role"}},
		"Role":           {"It is made anew at once.", []string{"auth-role"}, nil},
		"Store":          {"So is the store.", []string{"secret-store"}, nil},
		"ServiceAccount": {"And who logs in.", []string{"service-account"}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := ownAccess(t)
			p.says("credential", said("Ready", "Unknown", "Sealed", "sealed", 1))
			for _, name := range tc.deleted {
				delete(p.observed, name)
			}
			p.run(xr())
			p.run(xr())
			want := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(tc.absent, name) })
			if diff := cmp.Diff(want, p.names()); diff != "" {
				t.Errorf("\n%s\ncomposed: -want, +got:\n%s", tc.reason, diff)
			}
			if p.store() != "SecretStore" {
				t.Errorf("\n%s\nthe ExternalSecret reads through a %s", tc.reason, p.store())
			}
		})
	}
}
