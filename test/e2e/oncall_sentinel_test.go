package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// TestNoOnCallSecretLeaks holds that no key of an on-call server, and no webhook's, stands anywhere but in the provider's own Secrets and in
// the integration's, in any form: while it is in use, after it was replaced, and after everything was deleted. There are two servers: one
// outside that repeats keys in its errors, with managed resources that people wrote, and one that a TerdutServer is composed of.
func TestNoOnCallSecretLeaks(t *testing.T) {
	t.Parallel()
	keys := &onCallKeys{}
	s, relay := newTalkativeServer(t, keys), newFunctionRelay(t, compositionOf("terdutservers"))
	ns, composed := namespace(t), namespace(t)
	watchKeys(t, keys, composed)
	server := relayedServer(composed, relay.composition)
	create(t, server)

	b, c, m := newBootstrap(ns, s.url), newOnCallConfig(ns), newTeam(ns, "ops", ns)
	policy, watchdog, alerts := newPolicy(ns, "ops"), newSwitch(ns, "ops", "watchdog"), newIntegration(ns, "ops", "alerts")
	for _, o := range []client.Object{b, c, m, watchdog, alerts} {
		create(t, o)
	}
	isReady(t, b)
	if _, err := s.AddUser(t.Context(), "alice", "alice@terdut.example"); err != nil {
		t.Fatal(err)
	}
	create(t, policy)
	isReady(t, m, policy, watchdog, alerts)

	// The server refuses every write, and repeats all keys that it knows.
	s.repeat(true)
	more := newIntegration(ns, "ops", "more")
	create(t, more)
	edit(t, b, func(o *oncallv1alpha1.Bootstrap) {
		o.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
	})
	edit(t, m, func(o *oncallv1alpha1.Team) { o.Spec.ForProvider.DisplayName = ptr.To("Operations") })
	edit(t, policy, func(o *oncallv1alpha1.EscalationPolicy) { o.Spec.ForProvider.RepeatCount = 2 })
	edit(t, watchdog, func(o *oncallv1alpha1.DeadmanSwitch) { o.Spec.ForProvider.Severity = "warning" })
	edit(t, alerts, func(o *oncallv1alpha1.Integration) { o.Spec.ForProvider.Name = ptr.To("renamed") })
	for _, o := range []conditioned{b, m, policy, watchdog, alerts, more} {
		becomes(t, o, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)
	}
	if n := len(s.refusals()); n < 6 {
		t.Errorf("%d different writes were refused, want one of each of 6 objects", n)
	}
	s.repeat(false)
	edit(t, m, func(o *oncallv1alpha1.Team) {
		o.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
	})
	keysRotated(t, b, m)
	isReady(t, b, m, policy, watchdog, alerts, more)

	onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, composed, "terdut")
	rotateComposed(t, composed)
	webhook(t, composed, "composed-webhook", "http://terdut."+composed+".svc:8080")

	inUse := map[string]keyKind{}
	for _, secret := range []string{ns + "/alerts-webhook", ns + "/more-webhook", composed + "/composed-webhook"} {
		inUse["secrets "+secret] = webhookKey
	}
	credentials := append(onCallSecrets(t, ns), onCallSecrets(t, composed)...)
	if len(credentials) != 4 {
		t.Errorf("there are %d credentials, want one of each Bootstrap and Team", len(credentials))
	}
	for i := range credentials {
		inUse["secrets "+local.SystemNamespace+"/"+credentials[i].Name] = accountKey
	}
	all := keys.all()
	// Of each server: its first user's, two of its account, two of its team, and that of each webhook.
	if len(all) < 11 {
		t.Errorf("%d keys were seen, want 11 or more", len(all))
	}
	noKeyBut(t, all, relay, inUse)

	for _, o := range []client.Object{server, policy, watchdog, alerts, more, m, c, b} {
		remove(t, o)
	}
	for _, o := range []client.Object{policy, watchdog, alerts, more, m, c, b} {
		isGone(t, o)
	}
	noneLeft(t, composed, append(serverKinds, terdutv1alpha1.TerdutServerGroupVersionKind)...)
	for _, n := range []string{ns, composed} {
		eventually(t, "the Secrets of namespace "+n+" to be gone", func(ctx context.Context) error {
			l := &corev1.SecretList{}
			if err := p.Client.List(ctx, l, client.InNamespace(n)); err != nil {
				return err
			}
			if len(l.Items) > 0 {
				return fmt.Errorf("there are %d", len(l.Items))
			}
			return nil
		})
		noCredentials(t, n)
	}
	noKeyBut(t, keys.all(), relay, nil)
}

// relayedServer has one team with one of everything, and forgets when it ends: it has no database, whose hashes of keys would be the server's
// own matter.
func relayedServer(ns, composition string) *unstructured.Unstructured {
	return serverWith(ns, composedWith(composition, map[string]any{
		"database": map[string]any{"dsn": "postgres://nobody@127.0.0.1/none"},
		"env":      []any{map[string]any{"name": "TERDUT_DATABASE_DSN", "value": ""}},
		"teams": []any{map[string]any{
			"name":            "platform",
			"escalation":      map[string]any{"levels": []any{map[string]any{"timeout": "5m", "targets": []any{map[string]any{"kind": "user", "username": "admin"}}}}},
			"deadmanSwitches": []any{map[string]any{"name": "watchdog", "matcher": "alertname=Watchdog", "timeout": "15m"}},
			"integrations":    []any{map[string]any{"name": "alertmanager", "secretName": "composed-webhook"}},
		}},
	}))
}

// rotateComposed rotates the keys of the Bootstrap and the Team that a TerdutServer is composed of. The function has no opinion on it.
func rotateComposed(t *testing.T, ns string) {
	t.Helper()
	bootstraps, teams := &oncallv1alpha1.BootstrapList{}, &oncallv1alpha1.TeamList{}
	for _, l := range []client.ObjectList{bootstraps, teams} {
		if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil {
			t.Fatalf("cannot list %T: %v", l, err)
		}
	}
	if len(bootstraps.Items) != 1 || len(teams.Items) != 1 {
		t.Fatalf("there are %d Bootstraps and %d Teams", len(bootstraps.Items), len(teams.Items))
	}
	b, m := &bootstraps.Items[0], &teams.Items[0]
	edit(t, b, func(o *oncallv1alpha1.Bootstrap) {
		o.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
	})
	edit(t, m, func(o *oncallv1alpha1.Team) {
		o.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
	})
	keysRotated(t, b, m)
}

// keysRotated waits until both keys are those of the second rotation.
func keysRotated(t *testing.T, b *oncallv1alpha1.Bootstrap, m *oncallv1alpha1.Team) {
	t.Helper()
	eventually(t, "keys to be rotated", func(ctx context.Context) error {
		for _, o := range []client.Object{b, m} {
			if err := p.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
		}
		if b.Status.AtProvider.KeyRotationTrigger != "2" || m.Status.AtProvider.KeyRotationTrigger != "2" {
			return errors.New("they are not")
		}
		return nil
	})
}

// noKeyBut fails when a key stands anywhere but in some Secrets, or when one of those holds none, which would say that nothing is found.
func noKeyBut(t *testing.T, keys map[string]onCallKey, relay *functionRelay, holders map[string]keyKind) {
	t.Helper()
	readable, secrets := places(t)
	readable["metrics of "+product.FunctionTerdutServer] = []byte(metrics(t, product.FunctionTerdutServer))
	requests, responses := relay.said()
	if len(requests) == 0 || len(responses) == 0 || !strings.Contains(string(slices.Concat(requests...)), "ghcr.io/ryuvia/terdut-server") {
		t.Errorf("%d requests to the function and %d responses were kept, or nothing is found in them", len(requests), len(responses))
	}
	readable["requests to the function"], readable["responses of the function"] = slices.Concat(requests...), slices.Concat(responses...)
	for _, log := range []string{"log " + product.Provider + ".log", "log " + product.FunctionTerdutServer + ".log", "log crossplane.log"} {
		if len(readable[log]) == 0 {
			t.Errorf("there is no %s", log)
		}
	}
	stored := map[string][]byte{}
	for key, value := range etcdKeys(t) {
		place, secret := "etcd "+key, strings.HasPrefix(key, "/registry/secrets/")
		if secret {
			place = "secrets " + strings.TrimPrefix(key, "/registry/secrets/")
		}
		stored[place] = append([]byte(key+"\n"), value...)
	}

	held := map[string]bool{}
	for value, key := range keys {
		forms := newSentinel(value)
		for where, texts := range map[string]map[string][]byte{"what is readable": readable, "the Secrets": secrets, "etcd": stored} {
			for place, text := range texts {
				found := forms.in(text)
				switch {
				case len(found) == 0:
				case where != "what is readable" && holders[place] == key.kind:
					held[where+" "+place] = true
				default:
					t.Errorf("a key of %s, which %s, is in %s at %s as %q", key.kind, key.seen, where, place, found)
				}
			}
		}
	}
	for place := range holders {
		for _, where := range []string{"the Secrets", "etcd"} {
			if !held[where+" "+place] {
				t.Errorf("no key is found in %s of %s: this test proves nothing", place, where)
			}
		}
	}
}
