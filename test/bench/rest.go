package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

// restPoll is the poll interval while the product is measured at rest.
const restPoll = 5 * time.Second

// Methods of HTTP that write, as clients count them, and verbs as the API server counts them, which tells server-side apply apart.
var (
	methods    = []string{"POST", "PUT", "PATCH", "DELETE"}
	writeVerbs = append([]string{"APPLY", "DELETECOLLECTION"}, methods...)
)

// counts of everything that is counted at rest, since the start of whatever counts.
type counts struct {
	databases, secrets float64 // Observes of PGDatabases and BaoSecrets.
	reconciles         float64 // Of all the provider's controllers.
	requests           map[string]float64
	serverWrites       float64
	sql                sqlCounts
	kv                 map[call]float64
}

// atRest counts what the product does while nothing changes.
func (b *bench) atRest(ctx context.Context) error {
	progressf("Preparing to count at rest.")
	px, err := startProxy(b.p.Plane.OpenBao.Address)
	if err != nil {
		return err
	}
	defer px.stop()
	st, err := countStatements(ctx, b.p.Plane.Postgres)
	if err != nil {
		return err
	}
	defer st.close(ctx)
	if err := b.useAddress(ctx, px.address); err != nil {
		return err
	}
	// Whatever follows, the provider must not be left with the address of a proxy that is gone.
	defer func() {
		if err := b.useAddress(ctx, b.p.Plane.OpenBao.Address); err != nil && ctx.Err() == nil {
			progressf("  %v", err)
		}
	}()
	objects, err := b.setPoll(ctx, restPoll.String())
	if err != nil {
		return err
	}
	if err := b.settle(ctx, 2); err != nil {
		return err
	}

	progressf("Counting %d polls of %d PGDatabases and BaoSecrets at rest.", b.Polls, objects)
	before, err := b.versions(ctx)
	if err != nil {
		return err
	}
	from, err := b.count(ctx, st, px)
	if err != nil {
		return err
	}
	if err := b.polls(ctx, b.Polls); err != nil {
		return err
	}
	to, err := b.count(ctx, st, px)
	if err != nil {
		return err
	}
	after, err := b.versions(ctx)
	if err != nil {
		return err
	}
	b.reportRest(from, to, st.counted)
	b.table.rowf("  objects of ours, of which changed their resourceVersion", "%d, %d", len(after), moved(before, after))
	_, err = b.setPoll(ctx, "")
	return err
}

// reportRest writes rows from what was counted before and after.
func (b *bench) reportRest(from, to counts, sql bool) {
	databases, secrets := to.databases-from.databases, to.secrets-from.secrets
	b.table.rowf(fmt.Sprintf("at rest, %d polls: PGDatabase Observes, BaoSecret Observes", b.Polls), "%.0f, %.0f", databases, secrets)
	if sql {
		b.table.rowf("  SQL statements per PGDatabase Observe", "%s", per(to.sql.management-from.sql.management, databases))
		b.table.rowf("  statements in tenant databases", "%.0f", to.sql.tenant-from.sql.tenant)
	} else {
		b.table.rowf("  SQL statements per PGDatabase Observe", "not counted: PostgreSQL lacks pg_stat_statements")
	}
	b.table.rowf("  tenant sessions and logins", "%.0f", to.sql.sessions-from.sql.sessions)
	kv := func(c call) float64 { return to.kv[c] - from.kv[c] }
	b.table.rowf("  KV reads per BaoSecret Observe", "%s", per(kv(call{record: true}), secrets))
	b.table.rowf("  KV writes; other calls to OpenBao", "%.0f; %.0f", kv(call{record: true, write: true}), kv(call{})+kv(call{write: true}))

	var requests []string
	writes := 0.0
	for _, m := range append([]string{"GET"}, methods...) {
		n := to.requests[m] - from.requests[m]
		requests = append(requests, m+" "+per(n, to.reconciles-from.reconciles))
		if m != "GET" {
			writes += n
		}
	}
	b.table.rowf("  API server requests of the provider per reconcile", "%s", strings.Join(requests, ", "))
	b.table.rowf("  writes to the API server by the provider", "%.0f", writes)
	b.table.rowf("  requests by anyone to write kinds of ours, those without effect included", "%.0f", to.serverWrites-from.serverWrites)
}

// count everything, calls to OpenBao only with a proxy.
func (b *bench) count(ctx context.Context, st *statements, px *proxy) (counts, error) {
	c := counts{requests: map[string]float64{}}
	m, err := b.providerMetrics(ctx)
	if err != nil {
		return c, err
	}
	c.databases, c.secrets = observes(m, postgresqlv1alpha1.PGDatabaseGroupVersionKind), observes(m, openbaov1alpha1.BaoSecretGroupVersionKind)
	c.reconciles = m.sum("controller_runtime_reconcile_total", all)
	for _, method := range append([]string{"GET"}, methods...) {
		c.requests[method] = m.sum("rest_client_requests_total", label("method", method))
	}
	s, err := b.serverMetrics(ctx)
	if err != nil {
		return c, err
	}
	c.serverWrites = s.sum("apiserver_request_total", func(l map[string]string) bool {
		return slices.Contains(writeVerbs, l["verb"]) && strings.HasSuffix(l["group"], "terdut.ryuvia.com")
	})
	if c.requests["GET"] == 0 || c.serverWrites == 0 {
		return c, errors.New("cannot count requests: the metrics say that there were none since the start")
	}
	if px != nil {
		c.kv = px.counts()
	}
	c.sql, err = st.read(ctx)
	return c, err
}

// observes of a kind: each reconcile of a managed resource that exists observes once.
func observes(m metrics, gvk schema.GroupVersionKind) float64 {
	return m.sum("controller_runtime_reconcile_total", label("controller", managed.ControllerName(gvk.GroupKind().String())))
}

// setPoll sets or removes the poll interval of every managed resource, and returns how many there are of the kind with fewer.
func (b *bench) setPoll(ctx context.Context, interval string) (int, error) {
	databases, secrets := &postgresqlv1alpha1.PGDatabaseList{}, &openbaov1alpha1.BaoSecretList{}
	var objects []client.Object
	for _, l := range []client.ObjectList{databases, secrets} {
		if err := b.p.Client.List(ctx, l); err != nil {
			return 0, fmt.Errorf("cannot list managed resources: %w", err)
		}
	}
	for i := range databases.Items {
		objects = append(objects, &databases.Items[i])
	}
	for i := range secrets.Items {
		objects = append(objects, &secrets.Items[i])
	}
	value := "null"
	if interval != "" {
		value = `"` + interval + `"`
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+meta.AnnotationKeyPollInterval+`":`+value+`}}}`))
	for _, o := range objects {
		if err := b.p.Client.Patch(ctx, o, patch); err != nil {
			return 0, fmt.Errorf("cannot set the poll interval of %q: %w", o.GetName(), err)
		}
	}
	return min(len(databases.Items), len(secrets.Items)), nil
}

// polls waits until each PGDatabase and each BaoSecret was observed some more times, on average.
func (b *bench) polls(ctx context.Context, n int) error {
	databases, secrets := &postgresqlv1alpha1.PGDatabaseList{}, &openbaov1alpha1.BaoSecretList{}
	for _, l := range []client.ObjectList{databases, secrets} {
		if err := b.p.Client.List(ctx, l); err != nil {
			return fmt.Errorf("cannot list managed resources: %w", err)
		}
	}
	m, err := b.providerMetrics(ctx)
	if err != nil {
		return err
	}
	enough := func(now metrics, gvk schema.GroupVersionKind, objects int) bool {
		return observes(now, gvk)-observes(m, gvk) >= float64(n*objects)
	}
	return until(ctx, 500*time.Millisecond, func() (bool, error) {
		now, err := b.providerMetrics(ctx)
		return err == nil && enough(now, postgresqlv1alpha1.PGDatabaseGroupVersionKind, len(databases.Items)) &&
			enough(now, openbaov1alpha1.BaoSecretGroupVersionKind, len(secrets.Items)), err
	})
}
