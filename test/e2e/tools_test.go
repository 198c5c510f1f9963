package e2e

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// TestTools holds that what people look at claims with is of use: kubectl get, wait, explain and delete --cascade=foreground, and
// crossplane resource trace.
func TestTools(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	kubectl, trace := tool(t, toolchain.Kubectl, "-n", ns), tool(t, toolchain.CrossplaneCLI, "resource", "trace", "-n", ns)
	applyServerExample(t, "tenant.yaml", ns, ns)
	applyServerExample(t, "terdutserver.yaml", ns, ns)
	create(t, newTenant(ns, "bills", byKubernetes(map[string]any{}))) // Its Secret is bills-db; the contract's is another one.
	writeSecret(t, ns, map[string]string{"username": "shop"}, nil)
	says(t, contract(t, ns, "  requiredKeys: [{name: username}]"), "Satisfied", "True RulesSatisfied")

	kubectl("wait", "--for=condition=Ready", "--timeout=5m", "tenant/bills", "secretcontract/orders", "terdutserver/terdut")
	for _, kind := range append([]string{"tenants", "terdutservers", "secretcontracts"}, managedResources...) {
		for _, condition := range []string{"Ready", "Synced"} {
			kubectl("wait", "--for=condition="+condition, "--timeout=4m", "--all", kind)
		}
	}

	// At a glance: all that there is, each Ready and Synced.
	glance := kubectl("get", "managed,terdut", "--no-headers")
	for _, kind := range append([]string{"tenant.terdut", "terdutserver.terdut", "secretcontract.terdut"}, managedResources...) {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(kind) + `\.?.*ryuvia\.com/\S+\s.*$`).FindString(glance)
		if len(regexp.MustCompile(`\bTrue\b`).FindAllString(line, -1)) < 2 {
			t.Errorf("kubectl get managed,terdut does not show that %s is Ready and Synced:\n%s", kind, glance)
		}
	}
	if strings.Contains(glance, "<unknown>") || strings.Contains(glance, "<invalid>") {
		t.Errorf("columns of kubectl get managed,terdut lead nowhere:\n%s", glance)
	}

	// The tree of each claim: what it is composed of, below it.
	for claim, parts := range map[string][]string{
		"tenant.terdut.ryuvia.com/bills":  {"PGDatabase/", "BaoSecret/", "ExternalSecret/", "Policy/", "KubernetesAuthRole/", "SecretStore/", "ServiceAccount/"},
		"tenant.terdut.ryuvia.com/terdut": {"PGDatabase/", "BaoSecret/", "ExternalSecret/"},
		"terdutserver.terdut.ryuvia.com/terdut": {
			"Deployment/", "Service/", "ProviderConfig/", "SecretCheck/", "Bootstrap/", "Team/", "EscalationPolicy/", "DeadmanSwitch/", "Integration/",
		},
		"secretcontract.terdut.ryuvia.com/orders": {"SecretCheck/"},
	} {
		parts = append(parts, behindInTrees(claim)...)
		tree := trace(claim)
		lines := strings.Split(strings.TrimSpace(tree), "\n")
		for _, part := range parts {
			i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, part) })
			says := strings.Contains(lines[max(i, 0)], "True") || slices.Contains(silentInTrees, part)
			if i < 0 || !strings.ContainsAny(lines[i], "├└") || !says {
				t.Errorf("crossplane resource trace %s does not show %s below it:\n%s", claim, part, tree)
			}
		}
		if len(lines) != 2+len(parts) || strings.Contains(tree, "Error") {
			t.Errorf("crossplane resource trace %s shows more than there is, or errors:\n%s", claim, tree)
		}
	}

	for _, field := range []string{
		"tenant.spec.database", "tenant.spec.access", "terdutserver.spec.teams", "secretcontract.spec.requiredKeys", "pgdatabase.spec.forProvider",
		"baosecret.status.atProvider.path", "policies.access.openbao.terdut.ryuvia.com.spec.forProvider",
	} {
		if said := kubectl("explain", field); !regexp.MustCompile(`(?s)DESCRIPTION:\s+\w`).MatchString(said) || strings.Contains(said, "<empty>") {
			t.Errorf("kubectl explain %s explains nothing:\n%s", field, said)
		}
	}

	kubectl("delete", "--cascade=foreground", "--timeout=4m", "terdutserver/terdut")
	kubectl("delete", "--cascade=foreground", "--timeout=4m", "tenant/bills", "tenant/terdut", "secretcontract/orders")
	noneLeft(t, ns, terdutv1alpha1.TenantGroupVersionKind, terdutv1alpha1.TerdutServerGroupVersionKind, postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind, externalSecretKind)
}

// managedResources are the kinds that the claims of TestTools are made of, as kubectl get prints them.
var managedResources = []string{
	"pgdatabase.postgresql", "baosecret.openbao", "secretcheck.secrets", "policy.access.openbao", "kubernetesauthrole.access.openbao",
	"bootstrap.oncall", "team.oncall", "escalationpolicy.oncall", "deadmanswitch.oncall", "integration.oncall",
}

// silentInTrees are parts that have no conditions of the names that a tree shows.
var silentInTrees = []string{"Deployment/", "Service/", "ProviderConfig/", "ServiceAccount/"}

// tool runs an executable as an administrator of the plane, with arguments that are always the same and others, and returns what it prints.
func tool(t *testing.T, name string, always ...string) func(args ...string) string {
	t.Helper()
	path, err := toolchain.Binary(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return func(args ...string) string {
		t.Helper()
		cmd := osexec.CommandContext(t.Context(), path, append(slices.Clone(always), args...)...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+p.Plane.Kubeconfig, "HOME="+home)
		stderr := &bytes.Buffer{}
		cmd.Stderr = stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s%s", filepath.Base(path), strings.Join(args, " "), err, out, stderr)
		}
		return string(out)
	}
}
