package e2e

import (
	"encoding/json"
	"io"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// printedCommands runs what make run prints for people who want to look at the example's on-call server.
func printedCommands(t *testing.T, ns, shop string, server *unstructured.Unstructured) {
	t.Helper()
	tools, err := toolchain.Ensure(t.Context(), []string{toolchain.Kubectl}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	shell := func(command string) string {
		cmd := osexec.CommandContext(t.Context(), "sh", "-c", "kubectl() { \"$TEST_KUBECTL\" \"$@\"; }\n"+command)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+p.Plane.Kubeconfig, "TEST_KUBECTL="+tools[toolchain.Kubectl])
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err) // What it wrote could hold a key.
		}
		return string(out)
	}
	endpoint := status(server, "endpoint")
	var teams []terdutserver.Team
	if err := json.Unmarshal([]byte(shell(p.ListTeams(status(server, "credentialsSecretRef", "name"), endpoint))), &teams); err != nil {
		t.Fatal("what lists the teams shows no list")
	}
	for _, want := range []string{"Platform", "Shop"} {
		if !slices.ContainsFunc(teams, func(is terdutserver.Team) bool { return is.Name == want }) {
			t.Errorf("team %q is not among those that are listed: %v", want, teams)
		}
	}
	for n, secret := range map[string]string{ns: "platform-webhook", shop: "shop-webhook"} {
		if !strings.HasPrefix(shell(product.ShowWebhook(n, secret)), endpoint+"/") {
			t.Errorf("what shows the webhook in Secret %q shows no URL of the server", secret)
		}
	}
}
