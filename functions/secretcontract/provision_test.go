package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// TestProvisionComposes holds what makes the Secret, and that its check is told.
func TestProvisionComposes(t *testing.T) {
	got := composes(t, object(t, asking), map[string]*structpb.Struct{"check": looked(t, free), "credential": stored(t)}).GetDesired().GetResources()
	if diff := cmp.Diff(wantRecord(t), got["credential"].GetResource(), protocmp.Transform()); diff != "" {
		t.Errorf("BaoSecret: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(wantDelivery(t), got["external-secret"].GetResource(), protocmp.Transform()); diff != "" {
		t.Errorf("ExternalSecret: -want, +got:\n%s", diff)
	}
	want := object(t, `
secretRef: {name: orders-db}
requiredKeys:
- {name: password, required: true, nonEmpty: true, minLength: 16, format: None}
- {name: host, required: true, nonEmpty: true, format: None}
contractGeneration: 4
policy: {requireWorkloadReference: false, requireExternalSecretReady: true}
`, set(map[string]any{"apiVersion": "external-secrets.io/v1", "name": deliveryName}, "externalSecretRef"))
	check := got["check"].GetResource().GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue()
	if diff := cmp.Diff(want, check, protocmp.Transform()); diff != "" {
		t.Errorf("SecretCheck: -want, +got:\n%s", diff)
	}
}

// TestProvisionSteps holds what is composed at each step, and what the contract says of it.
func TestProvisionSteps(t *testing.T) {
	const advice = `It tries again. If that does not help, the events of ExternalSecret "NAME" say why: the store must be Ready and read from the server, ` +
		`namespace and mount of ClusterProviderConfig "default", with a role that may read this path.`
	check, both, all := []string{"check"}, []string{"check", "credential"}, []string{"check", "credential", "external-secret"}
	cases := map[string]struct {
		reason   string
		observed map[string]*structpb.Struct
		composed []string
		want     string
	}{
		"Nothing": {
			"Nobody has looked whether the name is free.", nil, check,
			"FALSE Waiting The Secret is made once the SecretCheck has found that there is none of its name.",
		},
		"OldLook": {
			"What was found for an older contract, of perhaps another Secret, says nothing.",
			map[string]*structpb.Struct{"check": looked(t, free, set(3.0, "status", "atProvider", "contractGeneration"))}, check,
			"FALSE Waiting The Secret is made once the SecretCheck has found that there is none of its name.",
		},
		"NotApproved": {
			"A check that may not look has found nothing.",
			map[string]*structpb.Struct{"check": looked(t, verdict("SecretExists", "Unknown", "AccessNotApproved", 9), verdict("Satisfied", "False", "AccessNotApproved", 9))},
			check, "FALSE Waiting The Secret is made once the SecretCheck has found that there is none of its name.",
		},
		"Foreign": {
			"A Secret that was there before is not touched, and nothing is written outside for it.", map[string]*structpb.Struct{"check": looked(t, foreign)}, check,
			`FALSE Conflict Secret "orders-db" exists and was not delivered for this contract: remove it, or let a new contract name another.`,
		},
		"Free": {
			"The record comes first.", map[string]*structpb.Struct{"check": looked(t, free)}, both, "FALSE Waiting The Secret is delivered once its record is stored.",
		},
		"NotStored": {
			"Nothing is delivered from a record that is not there, or not this contract's.",
			map[string]*structpb.Struct{"check": looked(t, free), "credential": stored(t, func(m map[string]any) {
				c := m["status"].(map[string]any)["conditions"].([]any)
				for _, ct := range c[:2] {
					ct.(map[string]any)["status"], ct.(map[string]any)["reason"], ct.(map[string]any)["message"] = "False", "Conflict", "a record is there"
				}
			})}, both, "FALSE Conflict a record is there",
		},
		"OlderRecord": {
			"An answer about an older record says nothing.",
			map[string]*structpb.Struct{"check": looked(t, free), "credential": stored(t, set(3.0, "metadata", "generation"))}, both,
			`FALSE Waiting BaoSecret "RECORD" has not said whether it is RecordReady with its current spec yet.`,
		},
		"OtherRecord": {
			"A record that does not hold the desired keys is not ready.",
			map[string]*structpb.Struct{"check": looked(t, free), "credential": stored(t, set([]any{}, "spec", "forProvider", "data"))}, both,
			`FALSE Waiting BaoSecret "RECORD" does not have the desired spec yet.`,
		},
		"ForeignMeanwhile": {
			"A Secret that came while the record was stored is not touched either.", map[string]*structpb.Struct{"check": looked(t, foreign), "credential": stored(t)}, both,
			`FALSE Conflict Secret "orders-db" exists and was not delivered for this contract: remove it, or let a new contract name another.`,
		},
		"Stored": {
			"Then it is delivered.", map[string]*structpb.Struct{"check": looked(t, free), "credential": stored(t)}, all,
			"FALSE Waiting The Secret is delivered once its record is stored.",
		},
		"NotDelivered": {
			"External Secrets has said nothing yet.",
			map[string]*structpb.Struct{"check": looked(t, free), "credential": stored(t), "external-secret": wantDelivery(t)}, all,
			`FALSE Waiting External Secrets has not delivered ExternalSecret "NAME" with its current spec yet.`,
		},
		"CannotRead": {
			"The next step is said.",
			map[string]*structpb.Struct{"check": looked(t), "credential": stored(t), "external-secret": delivered(t, failing("could not get secret data from provider"))}, all,
			`FALSE SyncFailed ClusterSecretStore "openbao" cannot read the record "contracts/shop/orders" now. ` + advice,
		},
		"Owned": {
			"Somebody came in between.",
			map[string]*structpb.Struct{"check": looked(t), "credential": stored(t), "external-secret": delivered(t, failing("target is owned by another ExternalSecret"))}, all,
			`FALSE Conflict Secret "orders-db" belongs to something else: remove the other owner, or let a new contract name another Secret.`,
		},
		"Immutable": {
			"The message says what helps.",
			map[string]*structpb.Struct{"check": looked(t), "credential": stored(t), "external-secret": delivered(t, failing("could not update secret, target is immutable"))}, all,
			`FALSE SecretImmutable Secret "orders-db" is immutable: delete it, and External Secrets makes it anew.`,
		},
		"OlderVersion": {
			"The Secret is of the version of before.",
			map[string]*structpb.Struct{"check": looked(t), "credential": stored(t, set(4.0, "status", "atProvider", "version")), "external-secret": delivered(t)}, all,
			`FALSE Waiting External Secrets has not delivered ExternalSecret "NAME" with its current spec yet.`,
		},
		"Delivered": {"Done.", map[string]*structpb.Struct{"check": looked(t), "credential": stored(t), "external-secret": delivered(t)}, all, "TRUE Available"},
		"TheirKeys": {
			"What somebody else adds to the BaoSecret is theirs.",
			map[string]*structpb.Struct{"check": looked(t), "credential": stored(t, func(m map[string]any) {
				p := m["spec"].(map[string]any)["forProvider"].(map[string]any)
				p["data"] = append([]any{map[string]any{"key": "extra", "value": "x"}}, p["data"].([]any)...)
			}), "external-secret": delivered(t)}, all, "TRUE Available",
		},
		"Staying": {
			"What was composed stays while nobody has looked, as after each change of the contract.",
			map[string]*structpb.Struct{"credential": stored(t), "external-secret": delivered(t)}, all, "TRUE Available",
		},
		"VersionNotWritten": {
			"External Secrets speaks of the version of before.",
			map[string]*structpb.Struct{"check": looked(t), "credential": stored(t), "external-secret": delivered(t, set(2.0, "metadata", "generation"))}, all,
			`FALSE Waiting External Secrets has not delivered ExternalSecret "NAME" with its current spec yet.`,
		},
		"RecordObjectGone": {
			"A BaoSecret that was deleted by hand comes back: its Secret is this contract's.", map[string]*structpb.Struct{"check": looked(t), "external-secret": delivered(t)}, all,
			"FALSE Waiting The Secret is delivered once its record is stored.",
		},
		"NotListed": {
			"The Secret is this contract's though nothing that made it is observed: all is composed anew, under the same names.",
			map[string]*structpb.Struct{"check": looked(t), "credential": stored(t)}, all,
			"FALSE Waiting The Secret is delivered once its record is stored.",
		},
		"AnotherTarget": {
			"An ExternalSecret for another Secret is not pointed at this one unless that is free.",
			map[string]*structpb.Struct{"check": looked(t, foreign), "credential": stored(t), "external-secret": delivered(t, set("other", "spec", "target", "name"))}, both,
			`FALSE Conflict Secret "orders-db" exists and was not delivered for this contract: remove it, or let a new contract name another.`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := composes(t, object(t, asking), tc.observed)
			var composed []string
			for n := range rsp.GetDesired().GetResources() {
				composed = append(composed, n)
			}
			slices.Sort(composed)
			if diff := cmp.Diff(tc.composed, composed); diff != "" {
				t.Errorf("\n%s\ncomposed: -want, +got:\n%s", tc.reason, diff)
			}
			want := strings.NewReplacer("NAME", deliveryName, "RECORD", recordName).Replace(tc.want)
			if diff := cmp.Diff(want, said(rsp, "Provisioned")); diff != "" {
				t.Errorf("\n%s\nProvisioned: -want, +got:\n%s", tc.reason, diff)
			}
			ready := rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_TRUE
			if satisfied := strings.HasPrefix(said(rsp, "Satisfied"), "TRUE"); ready != satisfied {
				t.Errorf("\n%s\nready is %t beside Satisfied %t", tc.reason, ready, satisfied)
			}
			if ready && tc.want != "TRUE Available" {
				t.Errorf("\n%s\nready, with %s", tc.reason, tc.want)
			}
		})
	}
}

// TestProvisionCounts holds that a Secret that is as its rules say is not enough while it is not the one that is asked for, and that the verdict
// says why.
func TestProvisionCounts(t *testing.T) {
	observed := map[string]*structpb.Struct{"check": looked(t), "credential": stored(t), "external-secret": delivered(t, failing("could not update secret, target is immutable"))}
	rsp := composes(t, object(t, asking), observed)
	if got, want := said(rsp, "Satisfied"), strings.Replace(said(rsp, "Provisioned"), "Provisioned", "Satisfied", 1); got != want || !strings.HasPrefix(got, "FALSE SecretImmutable") {
		t.Errorf("Satisfied: got %q, want %q", got, want)
	}
	// Nor is it the ExternalSecret's name, which the contract does not have, that helps somebody.
	taken := map[string]*structpb.Struct{"check": looked(t, foreign, verdict("Satisfied", "False", "ExternalSecretNotFound", 9))}
	if got := said(composes(t, object(t, asking), taken), "Satisfied"); !strings.HasPrefix(got, "FALSE Conflict Secret") {
		t.Errorf("Satisfied: got %q, want Conflict", got)
	}
	// What is wrong with the values is said first.
	observed["check"] = looked(t, verdict("Satisfied", "False", "TooShort", 9))
	if got := said(composes(t, object(t, asking), observed), "Satisfied"); got != "FALSE TooShort" {
		t.Errorf("Satisfied: got %q, want TooShort", got)
	}
	status := composes(t, object(t, asking), observed).GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
	if got := status["kvURL"].GetStringValue(); got != "https://bao.example.org/v1/kv/data/contracts/shop/orders" {
		t.Errorf("kvURL: got %q", got)
	}
}

// TestProvisionEnds holds that what made the Secret goes when the contract does not ask for it any more.
func TestProvisionEnds(t *testing.T) {
	rsp := composes(t, object(t, xr), map[string]*structpb.Struct{"check": looked(t), "credential": stored(t), "external-secret": delivered(t)})
	if n := len(rsp.GetDesired().GetResources()); n != 1 {
		t.Errorf("%d resources are composed, want 1", n)
	}
	if got := said(rsp, "Provisioned"); got != "TRUE NotConfigured" {
		t.Errorf("Provisioned: got %q", got)
	}
}

// TestProvisionNames holds that a path is among those of the contract's namespace, whatever the contract says, and that a path of before stays.
func TestProvisionNames(t *testing.T) {
	path := func(contract *structpb.Struct, observed map[string]*structpb.Struct) string {
		c := composes(t, contract, observed).GetDesired().GetResources()["credential"].GetResource()
		return c.GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().GetFields()["path"].GetStringValue()
	}
	isFree := map[string]*structpb.Struct{"check": looked(t, free)}
	if got := path(object(t, asking), isFree); got != "contracts/shop/orders" {
		t.Errorf("path: got %q", got)
	}
	if got := path(object(t, asking, set("smtp/web", "spec", "provision", "path")), isFree); got != "contracts/shop/smtp/web" {
		t.Errorf("path: got %q", got)
	}
	older := stored(t, set("before/orders", "spec", "forProvider", "path"))
	if got := path(object(t, asking), map[string]*structpb.Struct{"credential": older}); got != "before/orders" {
		t.Errorf("path: got %q", got)
	}
}

// FuzzProvision: whatever is asked for and observed, there is an answer and no panic.
func FuzzProvision(f *testing.F) {
	f.Add([]byte(`{"metadata":{"namespace":"a","name":"b","uid":"c"},"spec":{"secretRef":{"name":"s"},"requiredKeys":[{"name":"k"}],"provision":{"keys":[{"name":"k","generate":{}}]}}}`),
		[]byte(`{"kind":"BaoSecret","metadata":{"namespace":"a","name":"r"}}`), []byte(`{"kind":"ExternalSecret","metadata":{"namespace":"a","name":"e"},"spec":{"target":{"name":"s"},"dataFrom":[{"extract":{"key":"p"}}]}}`))
	f.Fuzz(func(t *testing.T, contract, record, delivery []byte) {
		x, c, e := &structpb.Struct{}, &structpb.Struct{}, &structpb.Struct{}
		if protojson.Unmarshal(contract, x) != nil || protojson.Unmarshal(record, c) != nil || protojson.Unmarshal(delivery, e) != nil {
			return
		}
		r := request(x, nil)
		r.Observed.Resources["credential"], r.Observed.Resources["external-secret"] = &fnv1.Resource{Resource: c}, &fnv1.Resource{Resource: e}
		once(t, r)
	})
}

// TestProvisionInput holds that what is not understood is fatal and repeats no value.
func TestProvisionInput(t *testing.T) {
	const prefix = "cannot compose contract: "
	for name, tc := range map[string]struct {
		contract *structpb.Struct
		want     string
	}{
		"Unknown":   {object(t, asking, set("x", "spec", "provision", "password")), "spec.provision.password: unknown field"},
		"WrongType": {object(t, asking, set("x", "spec", "provision", "keys")), "spec.provision.keys: must be an array, not string"},
		"NoKeys":    {object(t, asking, set([]any{}, "spec", "provision", "keys")), "spec.provision.keys: required"},
		"NotNamed": {
			object(t, asking, set([]any{map[string]any{"name": "token", "value": "sentinel"}}, "spec", "provision", "keys")),
			"spec.provision.keys[0].name: must be one of requiredKeys",
		},
		"Both": {
			object(t, asking, set([]any{map[string]any{"name": "host", "value": "sentinel", "generate": map[string]any{"length": 32.0}}}, "spec", "provision", "keys")),
			"spec.provision.keys[0]: set exactly one of value and generate",
		},
		"Neither": {object(t, asking, set([]any{map[string]any{"name": "host"}}, "spec", "provision", "keys")), "spec.provision.keys[0]: set exactly one of value and generate"},
		"OtherStore": {
			object(t, asking, set(map[string]any{"kind": "Vault", "name": "x"}, "spec", "provision", "secretStoreRef")),
			"spec.provision.secretStoreRef.kind: must be ClusterSecretStore or SecretStore",
		},
		"TwoDeliveries": {
			object(t, asking, set(map[string]any{"name": "x"}, "spec", "externalSecretRef")),
			"spec.externalSecretRef: must not be set beside provision, which makes the ExternalSecret",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(tc.contract, nil))
			if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL {
				t.Fatalf("results: got %v, want one that is fatal", rsp.GetResults())
			}
			if diff := cmp.Diff(prefix+tc.want, rsp.GetResults()[0].GetMessage()); diff != "" {
				t.Errorf("message: -want, +got:\n%s", diff)
			}
		})
	}
}
