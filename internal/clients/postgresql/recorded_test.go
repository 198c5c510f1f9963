package postgresql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRecorded holds that the databases of a holder are found by its uid alone, also before they are made, and none where there is no registry.
func TestRecorded(t *testing.T) {
	ctx := testContext(t)
	i := open(t, server(t, ends[0]).managers[admins], func(c *Config) { c.RegistryDatabase = "recorded registry" })
	if got, err := i.Recorded(ctx, "plane", "holder"); err != nil || len(got) > 0 {
		t.Fatalf("without a registry: got %v, %v", got, err)
	}
	a, b, other := claim("recorded_a"), claim("recorded_b"), claim("recorded_other")
	for _, c := range []*Claim{&a, &b, &other} {
		c.Owner.ControlPlane, c.Owner.Holder = "plane", "holder"
	}
	other.Owner.Holder = "else"
	for _, c := range []Claim{b, a, other} {
		_, err := i.Reserve(ctx, c)
		must(t, "reserve", err)
	}
	for _, tc := range []struct {
		controlPlane, holder string
		want                 []string
	}{
		{"plane", "holder", []string{"recorded_a", "recorded_b"}},
		{"plane", "else", []string{"recorded_other"}},
		{"another", "holder", nil},
		{"plane", "", nil},
	} {
		got, err := i.Recorded(ctx, tc.controlPlane, tc.holder)
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s of %s: %v, -want, +got:\n%s", tc.holder, tc.controlPlane, err, diff)
		}
	}
}
