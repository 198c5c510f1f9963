package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/observability"
)

// silent are metrics, and queries by the name of their alert or panel, of which a healthy product without a standby tells nothing, and why.
// That the alerts fire is held by the tests of package observability.
var silent = map[string]string{
	"crossplane_managed_resource_drift_seconds": "only once something has been found changed outside",
	"leader_election_master_status":             "only with --leader-election; TestLeader holds that it is told",
	"ProviderTerdutNoLeader":                    "only with --leader-election; TestLeader holds that it is told",
	"Leads":                                     "only with --leader-election; TestLeader holds that it is told",
	"TerdutFunctionErrors":                      "Crossplane counts such answers from the first one on",
	"TerdutFunctionRefuses":                     "Crossplane counts such answers from the first one on",
	"TerdutClaimNotWatched":                     "Crossplane counts dropped changes from the first one on",
}

// TestObservability holds that each query of the dashboard, and what each alert is about, finds something in what a running product tells,
// and that every metric that the documentation names is told.
func TestObservability(t *testing.T) {
	const root = "../.."
	ns := namespace(t)
	// Something of each kind of news, before the first scrape and after it: a histogram has no quantile of what did not happen meanwhile.
	writeSecret(t, ns, map[string]string{"username": "shop"}, nil)
	violated := contract(t, ns, "  requiredKeys: [{name: password}]")
	says(t, violated, "Satisfied", "False MissingRequiredKey")
	live := func(name string) {
		t.Helper()
		u := newTenant(ns, name, nil)
		create(t, u)
		tenantReady(t, ns, name)
		remove(t, u)
		noneLeft(t, ns, terdutv1alpha1.TenantGroupVersionKind, postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind)
	}
	s := &observability.Scrapes{}
	live("before")
	scrape(t, s)
	live("after")
	kept := newTenant(ns, "kept", nil)
	create(t, kept)
	tenantReady(t, ns, "kept")
	eventually(t, "managed resources to be counted", func(context.Context) error {
		scrape(t, s)
		if !slices.Contains(s.Names(), "crossplane_managed_resource_exists") {
			return errors.New("there is no such metric")
		}
		return nil
	})

	names := s.Names()
	documented, err := observability.Documented(root)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, n := range names {
		told[n], told[observability.Family(n)] = true, true
	}
	for _, n := range documented {
		if !told[n] && silent[n] == "" {
			t.Errorf("docs/observability.md has a row for %s, and nobody tells it", n)
		}
	}
	for _, n := range names {
		for _, ours := range []string{"terdut_", "secret_contract_", "crossplane_managed_"} {
			if strings.HasPrefix(n, ours) && !slices.Contains(documented, observability.Family(n)) && !slices.Contains(documented, n) {
				t.Errorf("docs/observability.md has no row for %s", n)
			}
		}
	}

	queries := asked(t, root, s)
	for name, a := range answers(t, s, queries) {
		finite := false
		for _, one := range a.Series {
			v, err := strconv.ParseFloat(one.Samples[len(one.Samples)-1].Value, 64)
			finite = finite || err == nil && !math.IsNaN(v)
		}
		if title, _, _ := strings.Cut(name, "\n"); !finite && silent[title] == "" {
			t.Errorf("%s: the query finds nothing, or no number:\n%s", name, queries[name].Expr)
		}
	}
}

// scrape the provider, the functions and Crossplane.
func scrape(t *testing.T, s *observability.Scrapes) {
	t.Helper()
	at, targets := time.Now(), map[string]string{"crossplane": p.Plane.CrossplaneMetrics()}
	for _, i := range p.Runtime.Instances() {
		targets[i.Package] = "http://" + i.MetricsAddress + "/metrics"
	}
	if targets[product.Provider] == "" || len(targets) < 5 {
		t.Fatalf("not all packages run: %v", slices.Collect(maps.Keys(targets)))
	}
	for job, url := range targets {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		rsp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(rsp.Body)
		_ = rsp.Body.Close() // It was only read.
		if err != nil {
			t.Fatalf("%s tells what Prometheus cannot read: %v", job, err)
		}
		s.Add(at, job, strings.TrimPrefix(url, "http://"), families)
	}
}

// asked is what alerts and panels ask, each under its name.
func asked(t *testing.T, root string, s *observability.Scrapes) map[string]observability.Query {
	t.Helper()
	alerts, err := observability.Alerts(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	d, err := observability.ReadDashboard(root)
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]observability.Query{}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		expr, _, err := v.Values()
		if err != nil {
			t.Fatal(err)
		}
		variables[v.Name] = observability.Query{Expr: expr}
	}
	values := map[string][]string{}
	for name, a := range answers(t, s, variables) {
		for _, one := range a.Series {
			for _, v := range one.Labels {
				values[name] = append(values[name], v)
			}
		}
		if len(values[name]) == 0 {
			t.Errorf("Grafana would offer nothing for variable %s", name)
		}
	}
	out := map[string]observability.Query{}
	for _, a := range alerts {
		out[a.Name] = observability.Query{Expr: a.Expr, Operand: true}
	}
	for _, panel := range d.Panels {
		for _, q := range panel.Targets {
			out[fmt.Sprintf("%s\n%s", panel.Title, q.RefID)] = observability.Query{Expr: observability.Fill(q.Expr, values), Operand: true}
		}
	}
	return out
}

// answers to queries at the time of the last scrape, under the names of the queries.
func answers(t *testing.T, s *observability.Scrapes, queries map[string]observability.Query) map[string]observability.Answer {
	t.Helper()
	names, list := slices.Sorted(maps.Keys(queries)), []observability.Query{}
	for _, n := range names {
		q := queries[n]
		q.Start, q.End, q.Step = s.Last.UnixMilli(), s.Last.UnixMilli(), 1000
		list = append(list, q)
	}
	got, err := observability.Evaluate(t.Context(), s.Series(), list)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]observability.Answer{}
	for i, n := range names {
		if got[i].Error != "" {
			t.Errorf("%s: Prometheus refuses the query: %s", n, got[i].Error)
		}
		out[n] = got[i]
	}
	return out
}
