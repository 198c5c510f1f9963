package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// oncallKinds are the managed resources that a TerdutServer is composed of.
var oncallKinds = []schema.GroupVersionKind{
	oncallv1alpha1.BootstrapGroupVersionKind, oncallv1alpha1.TeamGroupVersionKind, oncallv1alpha1.EscalationPolicyGroupVersionKind,
	oncallv1alpha1.DeadmanSwitchGroupVersionKind, oncallv1alpha1.IntegrationGroupVersionKind,
}

const (
	// serverRole owns the databases of the servers, each of which has one of its own, and connects to it once.
	serverRole = "bench_oncall"
	// serverSecret holds its password, at serverKey.
	serverSecret = "bench-oncall"
	serverKey    = "password"
)

// perSecond is how many managed resources are polled each second while they are measured at rest.
const perSecond = 40

// onCallServers applies TerdutServers at once, measures them at rest, and deletes them again.
func (b *bench) onCallServers(ctx context.Context) error {
	progressf("Making %d databases.", b.Servers)
	if err := b.namespace(ctx, namespaceServers); err != nil {
		return err
	}
	if err := b.serverDatabases(ctx); err != nil {
		return err
	}
	r, err := b.watchResponsive(ctx)
	if err != nil {
		return err
	}
	defer r.stop()

	what := fmt.Sprintf("%d TerdutServers of %d teams with 5 children each", b.Servers, b.Teams)
	progressf("Applying %s at once.", what)
	servers := make([]client.Object, b.Servers)
	for i := range servers {
		servers[i] = b.newServer(i)
	}
	from, err := b.countRequests(ctx)
	if err != nil {
		return err
	}
	took, together, err := b.apply(ctx, terdutv1alpha1.TerdutServerGroupVersionKind, namespaceServers, servers)
	if err != nil {
		return err
	}
	if len(took) == 0 {
		return nil
	}
	b.table.rowf(what+" at once, from apply until all are Ready", "%s (median of one: %s)", seconds(together), seconds(median(took)))
	if err := b.serversMade(ctx, from); err != nil {
		return err
	}
	if err := b.serversAtRest(ctx); err != nil {
		return err
	}
	if err := b.deleteServers(ctx, what); err != nil {
		return err
	}
	r.report(&b.table)
	return nil
}

func serverName(i int) string { return fmt.Sprintf("server-%02d", i) }

func databaseOf(i int) string { return fmt.Sprintf("bench_oncall_%02d", i) }

// serverDatabases makes the servers' databases: by hand, so that nothing is measured but the servers.
func (b *bench) serverDatabases(ctx context.Context) error {
	password := rand.Text()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceServers, Name: serverSecret}, StringData: map[string]string{serverKey: password}}
	if err := b.p.Client.Create(ctx, s); err != nil {
		return fmt.Errorf("cannot create Secret: %w", err)
	}
	conn, err := b.p.Plane.Postgres.Connect(ctx, "postgres")
	if err != nil {
		return fmt.Errorf("cannot connect to PostgreSQL as superuser: %w", err)
	}
	defer conn.Close(ctx) // Nothing is left to do with it.
	if _, err := conn.Exec(ctx, "CREATE ROLE "+serverRole+" LOGIN PASSWORD '"+password+"'"); err != nil {
		return fmt.Errorf("cannot create role %q: %w", serverRole, err)
	}
	for i := range b.Servers {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+databaseOf(i)+" OWNER "+serverRole); err != nil {
			return fmt.Errorf("cannot create database %q: %w", databaseOf(i), err)
		}
	}
	return nil
}

// newServer has teams with a policy, two switches and two integrations each. Its deletion takes the provider's account with it.
func (b *bench) newServer(i int) client.Object {
	name := serverName(i)
	teams := make([]any, b.Teams)
	for j := range teams {
		team := fmt.Sprintf("team-%d", j)
		integration := func(n string) any {
			return map[string]any{"name": n, "secretName": strings.Join([]string{name, team, n}, "-")}
		}
		deadman := func(n string) any {
			return map[string]any{"name": n, "matcher": "alertname=Watchdog,cluster=" + n, "timeout": "15m", "severity": "critical"}
		}
		teams[j] = map[string]any{
			"name": team,
			"escalation": map[string]any{"repeatCount": int64(1), "levels": []any{
				map[string]any{"timeout": "5m", "targets": []any{map[string]any{"kind": "oncall"}}},
				map[string]any{"timeout": "15m", "targets": []any{map[string]any{"kind": "oncall"}, map[string]any{"kind": "user", "username": "admin"}}},
			}},
			"deadmanSwitches": []any{deadman("first"), deadman("second")},
			"integrations":    []any{integration("alerts"), integration("probes")},
		}
	}
	pg := b.p.Plane.Postgres
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"image": map[string]any{"repository": "ghcr.io/ryuvia/terdut-server", "tag": "v0.33.0"},
		"admin": map[string]any{"username": "admin", "email": "admin@example.org"},
		"database": map[string]any{
			"dsn":               fmt.Sprintf("postgres://%s@%s/%s?sslmode=require", serverRole, net.JoinHostPort(pg.HostAddr, strconv.Itoa(pg.Port)), databaseOf(i)),
			"passwordSecretRef": map[string]any{"name": serverSecret, "key": serverKey},
		},
		"teams":          teams,
		"deletionPolicy": "Delete",
	}}}
	u.SetGroupVersionKind(terdutv1alpha1.TerdutServerGroupVersionKind)
	u.SetNamespace(namespaceServers)
	u.SetName(name)
	return u
}

// serversMade counts what it took to make everything. What is made first is looked at again before the last is there.
func (b *bench) serversMade(ctx context.Context, from counts) error {
	calls, err := b.calls(ctx)
	if err != nil {
		return err
	}
	to, err := b.countRequests(ctx)
	if err != nil {
		return err
	}
	objects := map[schema.GroupVersionKind]float64{}
	for _, gvk := range oncallKinds {
		l, err := b.list(ctx, gvk, client.InNamespace(namespaceServers))
		if err != nil {
			return err
		}
		objects[gvk] = float64(len(l.Items))
	}
	b.table.rowf("  calls to the servers per object until then (writes; reconciles)", "%s", byKind(func(gvk schema.GroupVersionKind) string {
		n, c := objects[gvk], calls[gvk]
		return fmt.Sprintf("%s (%s; %s)", per(float64(c.calls), n), per(float64(c.writes), n), per(to.observes[gvk]-from.observes[gvk], n))
	}))
	return nil
}

// serversAtRest counts what is asked and written while nothing changes.
func (b *bench) serversAtRest(ctx context.Context) error {
	progressf("Waiting until nothing changes.")
	// At the default interval: Crossplane is to have forgotten the events of the creation when the next change of all objects comes.
	if err := b.settle(ctx, 2, oncallKinds); err != nil {
		return err
	}
	managed := b.Servers * (1 + b.Teams*6)
	objects, err := b.setPoll(ctx, max(restPoll, time.Second*time.Duration(managed/perSecond)).String(), oncallKinds)
	if err != nil {
		return err
	}
	if err := b.settle(ctx, 1, oncallKinds); err != nil {
		return err
	}
	n := 0
	for _, k := range objects {
		n += k
	}
	progressf("Counting %d polls of %d managed resources at rest.", b.Polls, n)
	before, err := b.versions(ctx)
	if err != nil {
		return err
	}
	if err := b.forgetCalls(ctx); err != nil {
		return err
	}
	from, err := b.countRequests(ctx)
	if err != nil {
		return err
	}
	if err := b.polls(ctx, b.Polls, oncallKinds); err != nil {
		return err
	}
	calls, err := b.calls(ctx)
	if err != nil {
		return err
	}
	to, err := b.countRequests(ctx)
	if err != nil {
		return err
	}
	after, err := b.versions(ctx)
	if err != nil {
		return err
	}
	b.table.rowf(fmt.Sprintf("at rest, %d polls of %d managed resources: calls to the servers per Observe", b.Polls, n), "%s",
		byKind(func(gvk schema.GroupVersionKind) string {
			return per(float64(calls[gvk].calls), to.observes[gvk]-from.observes[gvk])
		}))
	writes := 0
	for _, t := range calls {
		writes += t.writes
	}
	b.table.rowf("  writes to the servers", "%d", writes)
	b.table.rowf("  objects of ours, of which changed their resourceVersion", "%d, %d", len(after), moved(before, after))
	b.table.rowf("  writes to the API server by the provider", "%.0f", to.writes()-from.writes())
	b.table.rowf("  requests by anyone to write kinds of ours, those without effect included", "%.0f", to.serverWrites-from.serverWrites)
	return nil
}
