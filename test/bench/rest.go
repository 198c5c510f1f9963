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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// tenantKinds are the managed resources that a Tenant is composed of.
var tenantKinds = []schema.GroupVersionKind{postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind}

// counts of everything that is counted at rest, since the start of whatever counts.
type counts struct {
	observes     map[schema.GroupVersionKind]float64
	reconciles   float64 // Of all the provider's controllers.
	requests     map[string]float64
	serverWrites float64
	sql          sqlCounts
	kv           map[call]float64
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
	objects, err := b.setPoll(ctx, restPoll.String(), tenantKinds)
	if err != nil {
		return err
	}
	if err := b.settle(ctx, 2, tenantKinds); err != nil {
		return err
	}

	progressf("Counting %d polls of %d PGDatabases and BaoSecrets at rest.", b.Polls, slices.Min(objects))
	before, err := b.versions(ctx)
	if err != nil {
		return err
	}
	from, err := b.count(ctx, st, px)
	if err != nil {
		return err
	}
	if err := b.polls(ctx, b.Polls, tenantKinds); err != nil {
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
	_, err = b.setPoll(ctx, "", tenantKinds)
	return err
}

// reportRest writes rows from what was counted before and after.
func (b *bench) reportRest(from, to counts, sql bool) {
	observed := func(gvk schema.GroupVersionKind) float64 { return to.observes[gvk] - from.observes[gvk] }
	databases, secrets := observed(postgresqlv1alpha1.PGDatabaseGroupVersionKind), observed(openbaov1alpha1.BaoSecretGroupVersionKind)
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
	for _, m := range append([]string{"GET"}, methods...) {
		n := to.requests[m] - from.requests[m]
		requests = append(requests, m+" "+per(n, to.reconciles-from.reconciles))
	}
	b.table.rowf("  API server requests of the provider per reconcile", "%s", strings.Join(requests, ", "))
	b.table.rowf("  writes to the API server by the provider", "%.0f", to.writes()-from.writes())
	b.table.rowf("  requests by anyone to write kinds of ours, those without effect included", "%.0f", to.serverWrites-from.serverWrites)
}

// count everything, calls to OpenBao only with a proxy.
func (b *bench) count(ctx context.Context, st *statements, px *proxy) (counts, error) {
	c, err := b.countRequests(ctx)
	if err != nil {
		return c, err
	}
	if px != nil {
		c.kv = px.counts()
	}
	c.sql, err = st.read(ctx)
	return c, err
}

// countRequests counts reconciles and requests to the API server.
func (b *bench) countRequests(ctx context.Context) (counts, error) {
	c := counts{requests: map[string]float64{}, observes: map[schema.GroupVersionKind]float64{}}
	m, err := b.providerMetrics(ctx)
	if err != nil {
		return c, err
	}
	for _, gvk := range slices.Concat(tenantKinds, oncallKinds) {
		c.observes[gvk] = observes(m, gvk)
	}
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
	return c, nil
}

// writes to the API server by the provider.
func (c counts) writes() float64 {
	n := 0.0
	for _, m := range methods {
		n += c.requests[m]
	}
	return n
}

// observes of a kind: each reconcile of a managed resource that exists observes once.
func observes(m metrics, gvk schema.GroupVersionKind) float64 {
	return m.sum("controller_runtime_reconcile_total", label("controller", managed.ControllerName(gvk.GroupKind().String())))
}

// setPoll sets or removes the poll interval of every managed resource of some kinds, and returns how many there are of each.
func (b *bench) setPoll(ctx context.Context, interval string, kinds []schema.GroupVersionKind) ([]int, error) {
	value := "null"
	if interval != "" {
		value = `"` + interval + `"`
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+meta.AnnotationKeyPollInterval+`":`+value+`}}}`))
	there := make([]int, len(kinds))
	for i, gvk := range kinds {
		l, err := b.list(ctx, gvk)
		if err != nil {
			return nil, err
		}
		there[i] = len(l.Items)
		for j := range l.Items {
			if err := b.p.Client.Patch(ctx, &l.Items[j], patch); err != nil {
				return nil, fmt.Errorf("cannot set the poll interval of %q: %w", l.Items[j].Name, err)
			}
		}
	}
	return there, nil
}

// list the metadata of all objects of a kind.
func (b *bench) list(ctx context.Context, gvk schema.GroupVersionKind, opts ...client.ListOption) (*metav1.PartialObjectMetadataList, error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(gvk)
	if err := b.p.Client.List(ctx, l, opts...); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", gvk.Kind, err)
	}
	for i := range l.Items {
		l.Items[i].SetGroupVersionKind(gvk) // The API server leaves it out of lists.
	}
	return l, nil
}

// polls waits until each managed resource of some kinds was observed some more times, on average.
func (b *bench) polls(ctx context.Context, n int, kinds []schema.GroupVersionKind) error {
	from, err := b.providerMetrics(ctx)
	if err != nil {
		return err
	}
	objects := make([]int, len(kinds))
	for i, gvk := range kinds {
		l, err := b.list(ctx, gvk)
		if err != nil {
			return err
		}
		objects[i] = len(l.Items)
	}
	return until(ctx, 500*time.Millisecond, func() (bool, error) {
		now, err := b.providerMetrics(ctx)
		if err != nil {
			return false, err
		}
		for i, gvk := range kinds {
			if observes(now, gvk)-observes(from, gvk) < float64(n*objects[i]) {
				return false, nil
			}
		}
		return true, nil
	})
}
