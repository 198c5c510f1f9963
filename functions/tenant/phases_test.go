package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// order of the phases while a Tenant is created. Conflict and Failed stand beside it.
var order = []v1alpha1.TenantPhase{
	v1alpha1.PhasePlanned, v1alpha1.PhaseCredentialCreated, v1alpha1.PhaseRoleCreated, v1alpha1.PhaseDatabaseCreated,
	v1alpha1.PhaseExternalSecretCreated, v1alpha1.PhaseCredentialProjected, v1alpha1.PhaseReady,
}

// A world stands for the API server, the controllers of the composed resources and what they create outside.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	limit   int // The Tenant's connectionLimit, which its spec's changes go through.
	objects map[string]map[string]any
	gen     map[string]int // By composition resource name.
	seen    map[string]int // The generation that the object's controller has reconciled.

	// Facts. They come one after the other and stay.
	known, free, written, role, db, ext, delivered, login bool
	// Troubles come and go.
	serverDown, baoDown, storeDown, denied bool
}

// step of the world: whatever happens next, at random.
func (w *world) step() {
	_, credential := w.objects["credential"]
	_, secret := w.objects["external-secret"]
	yes := func(f *bool, possible bool) { *f = *f || possible }
	toggle := func(f *bool) { *f = !*f }

	switch w.rand.IntN(16) {
	case 0:
		yes(&w.known, true)
	case 1:
		yes(&w.free, w.known && !w.serverDown)
	case 2:
		yes(&w.written, credential && !w.baoDown)
	case 3:
		yes(&w.role, w.written && !w.serverDown && !w.baoDown)
	case 4:
		yes(&w.db, w.role && !w.serverDown)
	case 5:
		yes(&w.ext, w.db && !w.serverDown)
	case 6:
		yes(&w.delivered, secret && !w.storeDown)
	case 7:
		yes(&w.login, w.delivered && !w.serverDown)
	case 8:
		toggle(&w.serverDown)
	case 9:
		toggle(&w.baoDown)
	case 10:
		toggle(&w.storeDown)
	case 11:
		toggle(&w.denied)
	case 12:
		w.limit++
	default:
		w.seen = maps.Clone(w.gen)
	}
}

// heal everything, so that the Tenant has to become Ready.
func (w *world) heal() {
	w.serverDown, w.baoDown, w.storeDown, w.denied = false, false, false, false
	_, credential := w.objects["credential"]
	_, secret := w.objects["external-secret"]
	w.known, w.free, w.written = true, true, credential
	w.role, w.db, w.ext = credential, credential, credential
	w.delivered, w.login = secret, secret
	w.seen = maps.Clone(w.gen)
}

// observed composed resources with the status that their controllers gave them.
func (w *world) observed() map[string]*structpb.Struct {
	out := map[string]*structpb.Struct{}
	for name, obj := range w.objects {
		mods := []mod{with("metadata.generation", w.gen[name]), without("status")}
		if seen := w.seen[name]; seen > 0 {
			mods = append(mods, map[string]func(int) []mod{
				"database": w.databaseStatus, "credential": w.credentialStatus, "external-secret": w.secretStatus,
				"policy": w.accessStatus, "auth-role": w.accessStatus, "service-account": func(int) []mod { return nil }, "secret-store": w.storeStatus,
			}[name](seen)...)
		}
		s, err := structpb.NewStruct(obj)
		if err != nil {
			w.t.Fatal(err)
		}
		out[name] = object(s.AsMap(), mods...)
	}
	return out
}

func (w *world) databaseStatus(gen int) []mod {
	var mods []mod
	if w.known {
		mods = append(mods, consumer)
	}
	if w.role {
		mods = append(mods, with("status.atProvider.credentialVersion", "1"))
	}
	if w.db {
		mods = append(mods, with("status.atProvider.databaseOID", 16384))
	}
	if w.ext {
		mods = append(mods, with("status.atProvider.extensions", []any{map[string]any{"name": "pgcrypto"}}))
	}
	facts := map[string]bool{
		"PreflightPassed": w.free, "RoleReady": w.role, "DatabaseReady": w.db, "ExtensionsReady": w.ext, "LoginVerified": w.login,
		"Ready": w.login, "Synced": true,
	}
	for _, ct := range slices.Sorted(maps.Keys(facts)) {
		switch {
		case w.serverDown:
			mods = append(mods, said(ct, "Unknown", "InstanceUnreachable", "down", gen))
		case facts[ct]:
			mods = append(mods, yes(gen, ct))
		default:
			mods = append(mods, said(ct, "False", "Pending", "not yet", gen))
		}
	}
	return mods
}

func (w *world) credentialStatus(gen int) []mod {
	var mods []mod
	if w.written {
		mods = append(mods, with("status.atProvider.version", 1))
	}
	mods = append(mods, withAccess("Shared"))
	for _, ct := range []string{"RecordReady", "Ready", "Synced"} {
		switch {
		case w.denied:
			mods = append(mods, said(ct, "False", "PermissionDenied", "denied", gen))
		case w.baoDown:
			mods = append(mods, said(ct, "Unknown", "Unreachable", "down", gen))
		case w.written:
			mods = append(mods, yes(gen, ct))
		default:
			mods = append(mods, said(ct, "False", "Creating", "", gen))
		}
	}
	return mods
}

func (w *world) accessStatus(gen int) []mod {
	switch {
	case w.denied:
		return []mod{said("Ready", "Unknown", "PermissionDenied", "denied", gen), said("Synced", "False", "ReconcileError", "denied", gen)}
	case w.baoDown:
		return []mod{said("Ready", "Unknown", "Unreachable", "down", gen), said("Synced", "False", "ReconcileError", "down", gen)}
	}
	return []mod{yes(gen, "Ready", "Synced")}
}

func (w *world) storeStatus(int) []mod {
	if w.baoDown || w.storeDown {
		return []mod{said("Ready", "False", "ValidationFailed", "unable to validate store", 0)}
	}
	return []mod{said("Ready", "True", "Valid", "store validated", 0)}
}

func (w *world) secretStatus(gen int) []mod {
	var mods []mod
	if w.delivered {
		mods = append(mods, projected, with("status.syncedResourceVersion", fmt.Sprintf("%d-0123", gen)))
	}
	if w.storeDown {
		mods = append(mods, said("Ready", "False", "SecretSyncedError", "could not get secret data from provider", 0))
	}
	return mods
}

// apply what a response desires.
func (w *world) apply(name string, desired map[string]any) {
	old, ok := w.objects[name]
	if !ok || !equal(old["spec"], desired["spec"]) {
		w.gen[name]++
	}
	if ok && !equal(old["metadata"].(map[string]any)["name"], desired["metadata"].(map[string]any)["name"]) {
		w.t.Errorf("%s was renamed", name)
	}
	w.objects[name] = desired
}

func equal(a, b any) bool {
	left, _ := structpb.NewValue(a)
	right, _ := structpb.NewValue(b)
	return left.String() == right.String()
}

// TestPhaseNeverGoesBack walks through many random histories of a Tenant's creation, with servers that come and go, controllers that
// lag behind and a spec that changes.
func TestPhaseNeverGoesBack(t *testing.T) {
	reached := map[v1alpha1.TenantPhase]bool{}
	for seed := range uint64(30) {
		w := &world{
			t: t, rand: rand.New(rand.NewPCG(seed, 1)), objects: map[string]map[string]any{}, gen: map[string]int{}, seen: map[string]int{},
		}
		highest := 0
		var last *fnv1.RunFunctionResponse
		for i := range 150 {
			if i > 120 {
				w.heal()
			} else {
				w.step()
			}
			mods := []mod{with("spec.connectionLimit", w.limit), with("metadata.generation", w.limit+1)}
			if seed%2 == 1 {
				mods = append(mods, kubernetes)
			}
			if last != nil {
				mods = append(mods, answered(last))
			}
			ask := once
			if seed%10 == 0 {
				ask = run
			}
			rsp := ask(t, request(xr(mods...), w.observed()))
			if msg := fatal(rsp); msg != "" {
				t.Fatalf("seed %d, step %d: %s", seed, i, msg)
			}
			for name := range w.objects {
				if rsp.GetDesired().GetResources()[name] == nil {
					t.Fatalf("seed %d, step %d: %s is not desired any more", seed, i, name)
				}
			}
			for name, r := range rsp.GetDesired().GetResources() {
				w.apply(name, r.GetResource().AsMap())
			}

			last = rsp
			phase := v1alpha1.TenantPhase(verdictOf(rsp).Phase)
			reached[phase] = true
			at := slices.Index(order, phase)
			if at < 0 {
				continue // Conflict or Failed.
			}
			if at < highest {
				t.Fatalf("seed %d, step %d: phase went back from %s to %s", seed, i, order[highest], phase)
			}
			highest = at
			if phase == v1alpha1.PhaseReady {
				break
			}
		}
		if order[highest] != v1alpha1.PhaseReady {
			t.Errorf("seed %d: the Tenant ended %s", seed, order[highest])
		}
	}
	for _, p := range append(order, v1alpha1.PhaseFailed) {
		if !reached[p] {
			t.Errorf("no history reached %s", p)
		}
	}
}

// answered is the status that Crossplane made of a response.
func answered(rsp *fnv1.RunFunctionResponse, mods ...mod) mod {
	return func(obj map[string]any) {
		obj["status"] = rsp.GetDesired().GetComposite().GetResource().AsMap()["status"]
		for _, c := range rsp.GetConditions() {
			s := map[fnv1.Status]string{fnv1.Status_STATUS_CONDITION_TRUE: "True", fnv1.Status_STATUS_CONDITION_FALSE: "False", fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown"}
			said(c.GetType(), s[c.GetStatus()], c.GetReason(), c.GetMessage(), 1)(obj)
		}
		for _, m := range mods {
			m(obj)
		}
	}
}
