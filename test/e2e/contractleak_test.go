package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// TestContractLeak holds that a Secret's value is nowhere but in the Secret, whatever its contract finds.
func TestContractLeak(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	// Not JSON, no URI, no PEM, with characters that each encoding writes in its own way, and a line's end that is found as a fault.
	value := "S3ntinel " + ns + "/{\"not\" json%zz&<é>\n"
	writeSecret(t, ns, map[string]string{"a": value, "b": value, "c": value, "d": value, "e": value, "f": value}, map[string]string{"terdut.ryuvia.com/rotated-at": "not a time"})
	u := contract(t, ns, `  requiredKeys:
  - {name: a, format: JSON}
  - {name: b, format: URI}
  - {name: c, format: PEM, plainText: true}
  - {name: d, pattern: '\Anever\z', minLength: 1000, maxLength: 2000}
  - {name: e, format: TLS}
  - {name: f, maxLength: 1}
  - {name: missing}
  rotation: {maxAge: 1h}
`)
	says(t, u, "KeysValid", "False MissingRequiredKey")
	says(t, u, "RotationPolicySatisfied", "False RotationTimestampInvalid")
	readable, _ := places(t)
	stored := etcdKeys(t)

	// What is looked at has what it should have, or it would prove nothing.
	for place, has := range map[string]string{
		"metrics of " + product.Provider:         fmt.Sprintf(`secret_contract_violations{contract="orders",namespace=%q}`, ns),
		"metrics of " + product.FunctionContract: "grpc_server_handled_total",
		"log " + product.Provider + ".log":       ns,
	} {
		if !strings.Contains(string(readable[place]), has) {
			t.Errorf("%s has no %s: it was not looked at rightly", place, has)
		}
	}
	holder := "/registry/secrets/" + ns + "/orders-db"
	// A digest is of the whole value, or of what people take it to be.
	for what, mark := range map[string]sentinel{"the value": newSentinel(value), "the value without its line's end": newSentinel(strings.TrimSpace(value))} {
		for place, text := range readable {
			if forms := mark.in(text); len(forms) > 0 {
				t.Errorf("%s is in %s as %v", what, place, forms)
			}
		}
		if !slices.Contains(mark.in(stored[holder]), "raw") {
			t.Errorf("%s is not found in %s: it was not looked for rightly", what, holder)
		}
		// As etcd stores it: managed fields and what no API shows are in there too.
		for key, text := range stored {
			if forms := mark.in(append([]byte(key+"\n"), text...)); key != holder && len(forms) > 0 {
				t.Errorf("%s is in etcd under %s as %v", what, key, forms)
			}
		}
	}
}
