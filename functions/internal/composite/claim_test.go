package composite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/types"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/claimtest"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// object of a map, with fields changed.
func object(t *testing.T, obj map[string]any, mods ...func(map[string]any)) *structpb.Struct {
	t.Helper()
	for _, m := range mods {
		m(obj)
	}
	s, err := structpb.NewStruct(obj)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// set a field of a section of an object.
func set(section, field string, value any) func(map[string]any) {
	return func(obj map[string]any) {
		if obj[section] == nil {
			obj[section] = map[string]any{}
		}
		obj[section].(map[string]any)[field] = value
	}
}

// bound is a claim's reference to a composite.
func bound(apiVersion, kind, name string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "name": name}
}

func unset(section, field string) func(map[string]any) {
	return func(obj map[string]any) { delete(obj[section].(map[string]any), field) }
}

// thing is a namespaced composite of generation 7.
func thing(t *testing.T) *structpb.Struct {
	t.Helper()
	return object(t, map[string]any{
		"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "Tenant",
		"metadata": map[string]any{"namespace": "shop", "name": "orders", "uid": "claim-uid", "generation": 7},
		"spec":     map[string]any{"crossplane": map[string]any{}, "database": "shop"},
	})
}

// TestAskForClaim holds that the claim is required of a composite of cluster scope, and nothing is said before it is known.
func TestAskForClaim(t *testing.T) {
	type mod = func(*fnv1.RunFunctionRequest)
	composites := func(mods ...func(map[string]any)) mod {
		return func(r *fnv1.RunFunctionRequest) {
			r.Observed.Composite.Resource = object(t, r.GetObserved().GetComposite().GetResource().AsMap(), mods...)
		}
	}
	namespaced := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: thing(t)}}}
	type want struct {
		known, asked bool
		err          string
	}
	cases := map[string]struct {
		reason string
		req    *fnv1.RunFunctionRequest
		mod    mod
		want   want
	}{
		"Namespaced": {reason: "It is no claim's.", req: namespaced, want: want{known: true}},
		"First": {
			reason: "Crossplane has not been asked yet.", req: claimtest.Request(namespaced),
			mod: func(r *fnv1.RunFunctionRequest) { r.RequiredResources = nil }, want: want{asked: true},
		},
		"Known":  {reason: "Crossplane has found it.", req: claimtest.Request(namespaced), want: want{known: true, asked: true}},
		"Absent": {reason: "That there is none is an answer.", req: claimtest.Request(namespaced), mod: func(r *fnv1.RunFunctionRequest) { r.RequiredResources["claim"] = nil }, want: want{known: true, asked: true}},
		"NoClaim": {
			reason: "Nothing says where to compose.", req: claimtest.Request(namespaced), mod: composites(unset("spec", "claimRef")),
			want: want{err: "metadata.namespace: required, because a composite of cluster scope has no namespace to compose into unless spec.claimRef names its claim"},
		},
		"HalfAClaim": {
			reason: "Nothing can be asked for.", req: claimtest.Request(namespaced), mod: composites(set("spec", "claimRef", map[string]any{"name": "orders"})),
			want: want{err: "spec.claimRef: must have apiVersion, kind, namespace and name"},
		},
		"OtherGroup": {
			reason: "A Secret is no claim, and nobody shall be asked for one.", req: claimtest.Request(namespaced),
			mod:  composites(set("spec", "claimRef", map[string]any{"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "orders-db"})),
			want: want{err: "spec.claimRef.apiVersion: must be of the composite's API group"},
		},
		"Old": {
			reason: "Crossplane would take the question for an answer that composes nothing.", req: claimtest.Request(namespaced),
			mod:  func(r *fnv1.RunFunctionRequest) { r.Meta.Capabilities = nil },
			want: want{err: "this Crossplane does not fetch required resources, and the claim is one"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.mod != nil {
				tc.mod(tc.req)
			}
			rsp := &fnv1.RunFunctionResponse{}
			known, err := composite.AskForClaim(tc.req, rsp)
			got := want{known: known}
			if err != nil {
				got.err = err.Error()
			}
			if s := rsp.GetRequirements().GetResources()["claim"]; s != nil {
				got.asked = true
				if diff := cmp.Diff([]string{"terdut.ryuvia.com/v1alpha1", "Tenant", "shop", "orders"}, []string{s.GetApiVersion(), s.GetKind(), s.GetNamespace(), s.GetMatchName()}); diff != "" {
					t.Errorf("%s\nrequirement: -want, +got:\n%s", tc.reason, diff)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\nAskForClaim(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSubjectBehindClaim holds that a composite speaks for its claim, for that alone which refers back to it, and for a generation of it only
// when both say the same.
func TestSubjectBehindClaim(t *testing.T) {
	type want struct {
		name       types.NamespacedName
		uid, xr    types.UID
		generation int64
		earlier    int64 // Of a status that claims generation 9.
		err        string
	}
	orders := types.NamespacedName{Namespace: "shop", Name: "orders"}
	cases := map[string]struct {
		reason  string
		xr      []func(map[string]any)
		claim   []func(map[string]any)
		noClaim bool
		want    want
	}{
		"Agree": {
			reason: "Name, uid and generation are the claim's; what controls is the composite.",
			want:   want{name: orders, uid: "claim-uid", xr: claimtest.UID, generation: 7, earlier: 9},
		},
		"Newer": {
			reason: "The claim has changed, and its composite has not followed.", claim: []func(map[string]any){set("spec", "database", "other"), set("metadata", "generation", 12)},
			want: want{name: orders, uid: "claim-uid", xr: claimtest.UID, earlier: 9},
		},
		"Edited": {
			reason: "Somebody has changed the composite: no answer is about the claim's generation.", xr: []func(map[string]any){set("spec", "database", "other")},
			want: want{name: orders, uid: "claim-uid", xr: claimtest.UID, earlier: 0},
		},
		"Machinery": {
			reason: "What Crossplane writes into either is no difference.",
			xr:     []func(map[string]any){set("spec", "resourceRefs", []any{map[string]any{"name": "x"}}), set("spec", "compositionRevisionRef", map[string]any{"name": "r-1"})},
			claim:  []func(map[string]any){set("spec", "compositeDeletePolicy", "Background"), set("spec", "writeConnectionSecretToRef", map[string]any{"name": "x"})},
			want:   want{name: orders, uid: "claim-uid", xr: claimtest.UID, generation: 7, earlier: 9},
		},
		"Gone":  {reason: "There is no claim.", noClaim: true, want: want{err: `there is no Tenant "orders" in namespace "shop", which spec.claimRef names`}},
		"Other": {reason: "It is another object.", claim: []func(map[string]any){set("metadata", "namespace", "bank")}, want: want{err: "claim: it is not the one that spec.claimRef names"}},
		"Unbound": {
			reason: "The claim of this name is not bound to this composite.", claim: []func(map[string]any){set("spec", "resourceRef", bound("terdut.ryuvia.com/v1alpha1", "XTenant", "orders-other"))},
			want: want{err: `claim: its spec.resourceRef does not name this composite, "orders-x7k2p"`},
		},
		"OtherKind": {
			reason: "The claim is bound to a composite of another kind.", claim: []func(map[string]any){set("spec", "resourceRef", bound("terdut.ryuvia.com/v1alpha1", "XThing", "orders-x7k2p"))},
			want: want{err: `claim: its spec.resourceRef does not name this composite, "orders-x7k2p"`},
		},
		"OtherGroup": {
			reason: "The claim is bound to a composite of another group.", claim: []func(map[string]any){set("spec", "resourceRef", bound("example.org/v1alpha1", "XTenant", "orders-x7k2p"))},
			want: want{err: `claim: its spec.resourceRef does not name this composite, "orders-x7k2p"`},
		},
		"OtherVersion": {
			reason: "It is the same composite in another version.", claim: []func(map[string]any){set("spec", "resourceRef", bound("terdut.ryuvia.com/v1beta1", "XTenant", "orders-x7k2p"))},
			want: want{name: orders, uid: "claim-uid", xr: claimtest.UID, generation: 7, earlier: 9},
		},
		"NeverBound": {
			reason: "A claim that is made anew is bound to nothing yet.", claim: []func(map[string]any){unset("spec", "resourceRef")},
			want: want{err: `claim: its spec.resourceRef does not name this composite, "orders-x7k2p"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			xr, claim := claimtest.Behind(thing(t))
			xr = object(t, xr.AsMap(), tc.xr...)
			required := map[string][]*structpb.Struct{"claim": {object(t, claim.AsMap(), tc.claim...)}}
			if tc.noClaim {
				required["claim"] = nil
			}
			s, err := composite.SubjectOf(xr, required)
			got := want{name: s.NamespacedName, uid: s.UID, xr: s.Composite, generation: s.Generation}
			if err != nil {
				got.err = err.Error()
			} else {
				got.earlier = s.Earlier(9)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\nSubjectOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObserveElsewhere holds that nobody is told of, or given the names of, what was composed for a claim of another namespace: one that takes a
// composite over finds that observed first.
func TestObserveElsewhere(t *testing.T) {
	xr, claim := claimtest.Behind(thing(t))
	s, err := composite.SubjectOf(xr, map[string][]*structpb.Struct{"claim": {claim}})
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]string{
		"shop": "", "bank": `observed resource "database": metadata.namespace: must be "shop"`, "": `observed resource "database": metadata.namespace: must be "shop"`,
	} {
		database := object(t, map[string]any{"kind": "PGDatabase", "metadata": map[string]any{"name": "orders", "namespace": namespace}})
		o, err := composite.Observe[struct{}, struct{}](s, map[string]*structpb.Struct{"database": database}, "database", "PGDatabase")
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || (o != nil) != (want == "") {
			t.Errorf("of namespace %q: want error %q, got %q and %v", namespace, want, got, o)
		}
	}
}

// TestAnsweredGenerationBehindClaim holds that a status never claims a generation of the claim that its composite's spec is not of.
func TestAnsweredGenerationBehindClaim(t *testing.T) {
	ready := []any{map[string]any{"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2026-01-02T03:04:05Z"}}
	cases := map[string]struct {
		reason  string
		claim   []func(map[string]any)
		claimed int
		ready   bool
		want    int64
	}{
		"Ready":    {reason: "The answer is about what the claim says.", ready: true, want: 7},
		"NotReady": {reason: "So is that something is missing.", want: 7},
		"ClaimReady": {
			reason: "The claim would be Ready with its newest generation for a moment: Crossplane writes that first, and then that it is not.",
			claim:  []func(map[string]any){set("status", "conditions", ready)}, claimed: 6, want: 6,
		},
		"ClaimReadyAgain":   {reason: "It is Ready with it.", claim: []func(map[string]any){set("status", "conditions", ready)}, claimed: 6, ready: true, want: 7},
		"ClaimReadyAtFirst": {reason: "It was never said what it is Ready with.", claim: []func(map[string]any){set("status", "conditions", ready)}, want: 7},
		"Newer":             {reason: "The answer is about the generation before.", claim: []func(map[string]any){set("spec", "database", "other"), set("metadata", "generation", 8)}, claimed: 7, ready: true, want: 7},
		"Unknown":           {reason: "Nothing was ever claimed, and nothing is known.", claim: []func(map[string]any){set("spec", "database", "other")}, ready: true},
		"Anew": {
			reason: "A claim that was made anew counts from the start: what was claimed of another is not claimed of it.",
			claim:  []func(map[string]any){set("spec", "database", "other"), set("metadata", "generation", 3)}, claimed: 7, ready: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			xr, claim := claimtest.Behind(thing(t))
			xr = object(t, xr.AsMap(), set("status", "observedGeneration", tc.claimed))
			s, err := composite.SubjectOf(xr, map[string][]*structpb.Struct{"claim": {object(t, claim.AsMap(), tc.claim...)}})
			if err != nil {
				t.Fatal(err)
			}
			if got := composite.AnsweredGeneration(xr, s, tc.ready); got != tc.want {
				t.Errorf("%s\nAnsweredGeneration(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
