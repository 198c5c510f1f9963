package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// TestH44ObservedStaysDesired runs with every set of composed resources that may be observed, in each state of each of them, and with
// required resources that nobody asked for: what is observed stays desired under its name, or the result is fatal.
func TestH44ObservedStaysDesired(t *testing.T) {
	unasked := map[string]map[string]*fnv1.Resources{
		"None":  nil,
		"Empty": {"config": {}, "store": {Items: []*fnv1.Resource{}}},
		"Broken": {"config": nil, "store": {Items: []*fnv1.Resource{
			nil, {}, {Resource: object(map[string]any{"kind": 5, "spec": nil, "status": "x"})},
		}}},
	}
	states := map[string][]mod{
		"Whole":          {},
		"WithoutStatus":  {without("status")},
		"NullStatus":     {with("status", nil)},
		"NoConditions":   {without("status.conditions")},
		"NoFacts":        {without("status.atProvider")},
		"BeingDeleted":   {with("metadata.deletionTimestamp", "2026-01-02T03:04:05Z")},
		"NoForProvider":  {without("spec.forProvider")},
		"NotReconciled":  {without("status"), without("metadata.generation")},
		"AnotherVersion": {with("apiVersion", "example.org/v9")},
		"ReadyUnknown":   {said("Ready", "Unknown", "InstanceUnreachable", "down", 1)},
	}
	kids := []string{"database", "credential", "external-secret"}
	for subset := range 1 << len(kids) {
		for state, mods := range states {
			for input, required := range unasked {
				observed := map[string]*structpb.Struct{}
				for i, kid := range kids {
					if subset&(1<<i) != 0 {
						observed[kid] = object(everything()[kid].AsMap(), mods...)
					}
				}
				name := fmt.Sprintf("%v/%s/%s", slices.Sorted(maps.Keys(observed)), state, input)
				req := request(xr(), observed)
				req.RequiredResources = required
				rsp := run(t, req)
				if fatal(rsp) != "" {
					if len(rsp.GetDesired().GetResources()) > 0 {
						t.Errorf("%s: a fatal result desires something", name)
					}
					continue
				}
				for kid, was := range observed {
					got := rsp.GetDesired().GetResources()[kid].GetResource()
					if got == nil {
						t.Errorf("%s: %s is not desired any more", name, kid)
						continue
					}
					if diff := cmp.Diff(identity(was), identity(got)); diff != "" {
						t.Errorf("%s: %s became another object: -want, +got:\n%s", name, kid, diff)
					}
				}
			}
		}
	}
}

// identity is what makes an object the one that it is.
func identity(s *structpb.Struct) string {
	m, _ := s.AsMap()["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v/%v", s.AsMap()["kind"], m["namespace"], m["name"])
}

// TestH45NothingIsRequired makes sure that all three answers that Crossplane can give about required resources are the same: nothing is
// asked for, so there is nothing to be late, absent or unwatched. When Crossplane asks again depends on readiness alone.
func TestH45NothingIsRequired(t *testing.T) {
	answers := map[string]map[string]*fnv1.Resources{
		"NotAskedYet": nil,
		"Absent":      {"anything": {}},
		"Found":       {"anything": {Items: []*fnv1.Resource{{Resource: object(map[string]any{"kind": "ConfigMap"})}}}},
	}
	cases := map[string]struct {
		observed map[string]*structpb.Struct
		ttl      time.Duration
	}{
		"FirstPass":  {ttl: 5 * time.Second},
		"OnItsWay":   {observed: everythingWith("external-secret", without("status")), ttl: 5 * time.Second},
		"Everything": {observed: everything(), ttl: 5 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := run(t, request(xr(), tc.observed))
			if got := want.GetMeta().GetTtl().AsDuration(); got != tc.ttl {
				t.Errorf("f.RunFunction(...): TTL: want %s, got %s", tc.ttl, got)
			}
			for answer, required := range answers {
				req := request(xr(), tc.observed)
				req.RequiredResources = required
				got := run(t, req)
				if got.GetRequirements() != nil {
					t.Errorf("%s: something is required: %v", answer, got.GetRequirements())
				}
				if !proto.Equal(want, got) {
					t.Errorf("%s: the response differs", answer)
				}
			}
		})
	}
}

// TestH47Names runs with the shortest and the longest names that a composite can have. What is composed has names of its own that are valid
// and at most 63 characters long, in the namespace of the composite, and the same once it is observed.
func TestH47Names(t *testing.T) {
	label := strings.Repeat("a", 63)
	cases := map[string]string{
		"Short":      "a",
		"63":         label,
		"63Dots":     strings.Repeat("a.", 31) + "a",
		"253":        strings.Join([]string{label, label, label, strings.Repeat("b", 61)}, "."),
		"253Dots":    strings.Repeat("a.", 126) + "b",
		"DashAtCut":  strings.Repeat("-a", 31)[1:] + "-" + "a",
		"DigitFirst": "0" + strings.Repeat("-", 61) + "9",
	}
	seen := map[string]string{}
	for name, composite := range cases {
		t.Run(name, func(t *testing.T) {
			mods := []mod{with("metadata.name", composite), with("metadata.uid", uid[:len(uid)-1]+name[:1])}
			first := run(t, request(xr(mods...), map[string]*structpb.Struct{
				"database":   observedDatabase(provisioned),
				"credential": observedCredential(stored),
			}))
			// From the beginning, so that no name is taken over from a fixture.
			fresh := run(t, request(xr(mods...), nil)).GetDesired().GetResources()["database"].GetResource()
			if msg := fatal(first); msg != "" {
				t.Fatal(msg)
			}
			objects := []*structpb.Struct{fresh, first.GetDesired().GetResources()["external-secret"].GetResource()}
			for _, o := range objects {
				m := o.AsMap()["metadata"].(map[string]any)
				n := m["name"].(string)
				if errs := validation.IsDNS1123Subdomain(n); len(errs) > 0 || len(n) > validation.DNS1123LabelMaxLength {
					t.Errorf("%s %q (%d characters): %v", o.AsMap()["kind"], n, len(n), errs)
				}
				if m["namespace"] != "shop" {
					t.Errorf("%s %q is composed into namespace %v", o.AsMap()["kind"], n, m["namespace"])
				}
				if other, taken := seen[n]; taken {
					t.Errorf("%s and %s both compose %q", name, other, n)
				}
				seen[n] = name
			}
			spec := fresh.AsMap()["spec"].(map[string]any)["forProvider"].(map[string]any)
			bao := spec["owner"].(map[string]any)["passwordFrom"].(map[string]any)["baoSecretRef"].(map[string]any)["name"].(string)
			if errs := validation.IsDNS1123Subdomain(bao); len(errs) > 0 || len(bao) > validation.DNS1123LabelMaxLength || seen[bao] != "" {
				t.Errorf("BaoSecret %q (%d characters): %v; taken by %q", bao, len(bao), errs, seen[bao])
			}
			seen[bao] = name
			secret := spec["loginCheck"].(map[string]any)["secretRef"].(map[string]any)["name"].(string)
			if errs := validation.IsDNS1123Subdomain(secret); len(errs) > 0 {
				t.Errorf("the Secret's name %q is not valid: %v", secret, errs)
			}
			if n := spec["database"].(string); n == "" || len(n) > 63 {
				t.Errorf("the database's name %q has %d bytes", n, len(n))
			}

			// Once it is there, it keeps its name.
			again := run(t, request(xr(mods...), map[string]*structpb.Struct{"database": fresh}))
			if diff := cmp.Diff(identity(fresh), identity(again.GetDesired().GetResources()["database"].GetResource())); diff != "" {
				t.Errorf("f.RunFunction(...): the PGDatabase is renamed: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestH47ParallelCalls runs different requests at the same time, each again and again, with one Function as in a running server.
func TestH47ParallelCalls(t *testing.T) {
	f := newFunction()
	var requests []*fnv1.RunFunctionRequest
	var want []*fnv1.RunFunctionResponse
	for i := range 8 {
		mods := []mod{with("metadata.name", fmt.Sprintf("tenant-%d", i)), with("spec.connectionLimit", i)}
		for _, observed := range []map[string]*structpb.Struct{nil, everything(), {"database": nil}} {
			req := request(xr(mods...), observed)
			rsp, err := f.RunFunction(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			requests, want = append(requests, req), append(want, rsp)
		}
	}
	before := make([]*fnv1.RunFunctionRequest, len(requests))
	for i := range requests {
		before[i] = proto.CloneOf(requests[i])
	}
	var wg sync.WaitGroup
	for range 4 {
		for i := range requests {
			wg.Go(func() {
				for range 20 {
					got, err := f.RunFunction(t.Context(), requests[i])
					if err != nil || !proto.Equal(want[i], got) {
						t.Errorf("request %d is answered differently beside others: %v", i, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	for i := range requests {
		if !proto.Equal(before[i], requests[i]) {
			t.Errorf("request %d was changed", i)
		}
	}
}

// TestH52SecretStays makes sure that whatever is said of the record, the store and the database, and whatever of the spec changes, the
// ExternalSecret stays desired, under its name, for the same Secret, and never as one that may remove it.
func TestH52SecretStays(t *testing.T) {
	failed := func(message string) map[string]*structpb.Struct {
		return everythingWith("external-secret", said("Ready", "False", "SecretSyncedError", message, 0))
	}
	record := func(status, reason string) map[string]*structpb.Struct {
		return everythingWith("credential", said("RecordReady", status, reason, "x", 1), said("Ready", status, reason, "x", 1), said("Synced", "False", "ReconcileError", "x", 1))
	}
	cases := map[string]struct {
		reason   string
		xr       []mod
		observed map[string]*structpb.Struct
	}{
		"StoreDown":       {reason: "External Secrets cannot read.", observed: failed("could not get secret data from provider")},
		"Unreachable":     {reason: "OpenBao does not answer.", observed: record("Unknown", "Unreachable")},
		"Sealed":          {reason: "OpenBao is sealed.", observed: record("Unknown", "Sealed")},
		"Denied":          {reason: "The provider may not read the record.", observed: record("Unknown", "PermissionDenied")},
		"SoftDeleted":     {reason: "The record's current version is deleted.", observed: record("False", "DataLost")},
		"VersionUnknown":  {reason: "The record's version is not known.", observed: everythingWith("credential", without("status"))},
		"NoRecordObject":  {reason: "The BaoSecret was deleted by hand.", observed: everythingWith("credential")},
		"DatabaseDown":    {reason: "PostgreSQL does not answer.", observed: everythingWith("database", said("DatabaseReady", "Unknown", "InstanceUnreachable", "down", 1))},
		"DatabaseLost":    {reason: "The database has vanished.", observed: everythingWith("database", said("DatabaseReady", "False", "DataLost", "gone", 1))},
		"NoDatabase":      {reason: "The PGDatabase was deleted by hand.", observed: everythingWith("database")},
		"Limit":           {reason: "An edit elsewhere.", xr: []mod{with("spec.connectionLimit", 7)}, observed: everything()},
		"Extensions":      {reason: "An edit elsewhere.", xr: []mod{with("spec.extensions", []any{map[string]any{"name": "hstore"}})}, observed: everything()},
		"Rotation":        {reason: "A new password.", xr: []mod{with("spec.rotation.trigger", "2026-11")}, observed: everything()},
		"DeletionPolicy":  {reason: "The Tenant's policy is about its data.", xr: []mod{with("spec.deletionPolicy", "Delete")}, observed: everything()},
		"Store":           {reason: "Another store.", xr: []mod{with("spec.secretStoreRef", map[string]any{"kind": "SecretStore", "name": "own"})}, observed: everything()},
		"EndpointChanges": {reason: "New values of the same keys.", observed: everythingWith("database", with("status.atProvider.consumer.host", "new.example.org"))},
	}
	want := wantExternalSecret().AsMap()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, request(xr(tc.xr...), tc.observed)).GetDesired().GetResources()["external-secret"].GetResource().AsMap()
			spec, _ := got["spec"].(map[string]any)
			wantSpec := want["spec"].(map[string]any)
			metadata, _ := got["metadata"].(map[string]any)
			if diff := cmp.Diff(
				[]any{secretName, wantSpec["target"], wantSpec["dataFrom"]},
				[]any{metadata["name"], spec["target"], spec["dataFrom"]},
			); diff != "" {
				t.Errorf("%s\nf.RunFunction(...): name, target and source: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
