package local

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

func TestRenderChart(t *testing.T) {
	module, err := toolchain.ModuleDir(t.Context(), toolchain.CrossplaneModule)
	if err != nil {
		t.Fatal(err)
	}
	chart, err := renderChart(filepath.Join(module, "cluster", "charts", "crossplane"))
	if err != nil {
		t.Fatalf("renderChart(...): %v", err)
	}
	objects, err := parse(chart)
	if err != nil {
		t.Fatalf("parse(...): %v", err)
	}
	got := map[string]string{}
	for _, o := range objects {
		got[o.GetKind()+" "+o.GetName()] = o.GetNamespace()
	}
	want := map[string]string{
		"ServiceAccount crossplane":                             SystemNamespace,
		"ServiceAccount rbac-manager":                           SystemNamespace,
		"Secret crossplane-root-ca":                             SystemNamespace,
		"Secret crossplane-tls-client":                          SystemNamespace,
		"Secret crossplane-tls-server":                          SystemNamespace,
		"ClusterRole crossplane":                                "",
		"ClusterRole crossplane:system:aggregate-to-crossplane": "",
		"ClusterRole crossplane-rbac-manager":                   "",
		"ClusterRole crossplane:allowed-provider-permissions":   "",
		"ClusterRoleBinding crossplane":                         "",
		"ClusterRoleBinding crossplane-rbac-manager":            "",
	}
	aggregated := func(name, _ string) bool { _, ok := want[name]; return !ok }
	if diff := cmp.Diff(want, got, cmpopts.IgnoreMapEntries(aggregated)); diff != "" {
		t.Errorf("renderChart(...): objects of Crossplane's own identities: -want, +got:\n%s", diff)
	}
}

func TestRenderChartErrors(t *testing.T) {
	if _, err := renderChart(t.TempDir()); err == nil {
		t.Error("renderChart(...): want an error for a folder without a chart")
	}
}
