package observability

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	root = "../.."
	// runbooks is the page with a section for each alert, as people open it.
	runbooks = "https://github.com/ryuvia/provider-terdut/blob/main/docs/operations.md#"
	// every is how often the input is sampled and the rules are evaluated, for so long.
	every, long = 30 * time.Second, 2 * time.Hour
)

// A line is a series of the input: NAME or NAME{label="value", ...}, with a value for each minute.
type line struct {
	series string
	value  func(minute float64) float64
}

func is(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// rises by so much in a minute.
func rises(perMinute float64) func(float64) float64 {
	return func(m float64) float64 { return m * perMinute }
}

// stepsAt is 0 and, in the last half hour, 1.
func stepsAt(m float64) float64 {
	if m > 90 {
		return 1
	}
	return 0
}

const (
	databases   = `{gvk="postgresql.terdut.ryuvia.com/v1alpha1, Kind=PGDatabase"}`
	pgdatabase  = "managed/pgdatabase.postgresql.terdut.ryuvia.com"
	slowSeconds = "controller_runtime_reconcile_time_seconds_bucket"
	composition = "function_run_function_response_total"
	breaker     = `circuit_breaker_events_total{controller="composite/tenants.terdut.ryuvia.com", result=`
)

// inputs of each alert with which it fires, and with which it does not.
var inputs = map[string]struct{ fires, quiet []line }{
	"ProviderTerdutAbsent": {
		fires: []line{{`secret_contract_check_duration_seconds_count_of_another`, is(1)}},
		quiet: []line{{`secret_contract_check_duration_seconds_count`, is(0)}},
	},
	"ProviderTerdutNoLeader": {
		fires: []line{{`leader_election_master_status{name="provider-terdut.terdut.ryuvia.com", instance="a"}`, is(0)}, {`leader_election_master_status{name="another"}`, is(1)}},
		quiet: []line{{`leader_election_master_status{name="provider-terdut.terdut.ryuvia.com", instance="a"}`, is(0)}, {`leader_election_master_status{name="provider-terdut.terdut.ryuvia.com", instance="b"}`, is(1)}},
	},
	"ProviderTerdutErrors": {
		fires: []line{{`controller_runtime_reconcile_errors_total{controller="` + pgdatabase + `"}`, rises(10)}},
		quiet: []line{{`controller_runtime_reconcile_errors_total{controller="` + pgdatabase + `"}`, rises(1)}, {`controller_runtime_reconcile_errors_total{controller="managed/bucket.s3.aws.upbound.io"}`, rises(100)}},
	},
	"ProviderTerdutNotSynced": {
		fires: []line{{"crossplane_managed_resource_exists" + databases, is(2)}, {"crossplane_managed_resource_synced" + databases, is(1)}},
		quiet: []line{
			{"crossplane_managed_resource_exists" + databases, is(2)}, {"crossplane_managed_resource_synced" + databases, is(2)},
			{`crossplane_managed_resource_exists{gvk="s3.aws.upbound.io/v1, Kind=Bucket"}`, is(2)}, {`crossplane_managed_resource_synced{gvk="s3.aws.upbound.io/v1, Kind=Bucket"}`, is(0)},
		},
	},
	"ProviderTerdutNotReady": {
		fires: []line{{"crossplane_managed_resource_exists" + databases, is(2)}, {"crossplane_managed_resource_ready" + databases, is(0)}},
		quiet: []line{{"crossplane_managed_resource_exists" + databases, is(2)}, {"crossplane_managed_resource_ready" + databases, is(2)}},
	},
	"ProviderTerdutQueue": {
		fires: []line{{`workqueue_depth{name="` + pgdatabase + `", priority="0"}`, is(80)}, {`workqueue_depth{name="` + pgdatabase + `", priority="-100"}`, is(80)}},
		quiet: []line{{`workqueue_depth{name="` + pgdatabase + `", priority="0"}`, is(99)}},
	},
	"ProviderTerdutSlow": {
		fires: []line{{slowSeconds + `{controller="` + pgdatabase + `", le="20"}`, rises(1)}, {slowSeconds + `{controller="` + pgdatabase + `", le="60"}`, rises(10)}, {slowSeconds + `{controller="` + pgdatabase + `", le="+Inf"}`, rises(10)}},
		quiet: []line{{slowSeconds + `{controller="` + pgdatabase + `", le="20"}`, rises(10)}, {slowSeconds + `{controller="` + pgdatabase + `", le="60"}`, rises(10)}, {slowSeconds + `{controller="` + pgdatabase + `", le="+Inf"}`, rises(10)}},
	},
	"ProviderTerdutReleased": {
		fires: []line{{`terdut_released_total{kind="BaoSecret"}`, stepsAt}},
		quiet: []line{{`terdut_released_total{kind="BaoSecret"}`, is(7)}},
	},
	"SecretContractNotReady": {
		fires: []line{{`secret_contract_ready{namespace="shop", contract="orders"}`, is(0)}},
		quiet: []line{{`secret_contract_ready{namespace="shop", contract="orders"}`, is(1)}},
	},
	"SecretContractChecksFail": {
		fires: []line{{`secret_contract_checks_total{outcome="error"}`, rises(0.5)}},
		quiet: []line{{`secret_contract_checks_total{outcome="error"}`, is(3)}, {`secret_contract_checks_total{outcome="violated"}`, rises(5)}},
	},
	"TerdutFunctionErrors": {
		fires: []line{{composition + `{function_name="ryuvia-function-tenant", grpc_code="Unavailable", result_severity="Normal"}`, rises(1)}},
		quiet: []line{{composition + `{function_name="ryuvia-function-tenant", grpc_code="OK", result_severity="Normal"}`, rises(10)}, {composition + `{function_name="function-auto-ready", grpc_code="Unavailable", result_severity="Normal"}`, rises(10)}},
	},
	"TerdutFunctionRefuses": {
		fires: []line{{composition + `{function_name="function-terdutserver", grpc_code="OK", result_severity="Fatal"}`, rises(1)}},
		quiet: []line{{composition + `{function_name="function-terdutserver", grpc_code="OK", result_severity="Normal"}`, rises(10)}},
	},
	"TerdutClaimNotWatched": {
		fires: []line{{breaker + `"Dropped"}`, rises(2)}},
		quiet: []line{{breaker + `"Allowed"}`, rises(30)}, {`circuit_breaker_events_total{controller="composite/buckets.example.org", result="Dropped"}`, rises(30)}},
	},
}

// TestAlerts holds of each alert that what it waits for lasts as long as it must to fire, that it is silent when all is well, that its texts
// name what it knows, and that its runbook is there.
func TestAlerts(t *testing.T) {
	alerts, err := Alerts(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, a := range alerts {
		t.Run(a.Name, func(t *testing.T) {
			known[a.Name] = true
			in, ok := inputs[a.Name]
			if !ok {
				t.Fatal("nobody knows whether this alert fires: give it inputs")
			}
			wait, err := a.Pending()
			if err != nil {
				t.Fatal(err)
			}
			fires := evaluate(t, a.Expr, in.fires)
			if len(fires) == 0 || pending(fires[0]) < wait {
				t.Errorf("it does not fire: %v", fires)
			}
			if quiet := evaluate(t, a.Expr, in.quiet); len(quiet) > 0 {
				t.Errorf("it fires although all is well: %v", quiet[0].Labels)
			}
			if fires != nil {
				texts(t, a, fires[0].Labels)
			}
			if want := runbooks + strings.ToLower(a.Name); a.Annotations["runbook_url"] != want {
				t.Errorf("its runbook is %q, want %q", a.Annotations["runbook_url"], want)
			}
			if !strings.Contains(string(guide), "\n### "+a.Name+"\n") {
				t.Error("docs/operations.md has no section with its name")
			}
			if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
				t.Errorf("its severity is %q", a.Labels["severity"])
			}
		})
	}
	for name := range maps.Keys(inputs) {
		if !known[name] {
			t.Errorf("there is no alert %s", name)
		}
	}
}

// variable of a text.
var variable = regexp.MustCompile(`\$labels\.(\w+)`)

// texts of an alert use labels only that it has when it fires.
func texts(t *testing.T, a Alert, labels map[string]string) {
	t.Helper()
	for _, kind := range []string{"summary", "description"} {
		if a.Annotations[kind] == "" {
			t.Errorf("it has no %s", kind)
		}
		for _, m := range variable.FindAllStringSubmatch(a.Annotations[kind], -1) {
			if labels[m[1]] == "" {
				t.Errorf("its %s names label %s, which it has not: %v", kind, m[1], labels)
			}
		}
	}
}

// pending is how long a series has been there without a gap, up to the end.
func pending(s Series) time.Duration {
	end := int64(long / time.Millisecond)
	last := end
	for i := len(s.Samples) - 1; i >= 0 && s.Samples[i].At == last; i-- {
		last -= int64(every / time.Millisecond)
	}
	return time.Duration(end-last)*time.Millisecond - every
}

// evaluate an expression over all the time, and return the series that are there at the end.
func evaluate(t *testing.T, expr string, in []line) []Series {
	t.Helper()
	series := []Series{}
	for _, l := range in {
		s := Series{Labels: labelsOf(t, l.series)}
		for at := time.Duration(0); at <= long; at += every {
			s.Samples = append(s.Samples, Sample{At: at.Milliseconds(), Value: strconv.FormatFloat(l.value(at.Minutes()), 'g', -1, 64)})
		}
		series = append(series, s)
	}
	a, err := Evaluate(t.Context(), series, []Query{{Expr: expr, End: long.Milliseconds(), Step: every.Milliseconds()}})
	if err != nil {
		t.Fatal(err)
	}
	if a[0].Error != "" {
		t.Fatal(a[0].Error)
	}
	return slices.DeleteFunc(a[0].Series, func(s Series) bool { return s.Samples[len(s.Samples)-1].At != long.Milliseconds() })
}

// pair is a label of a series.
var pair = regexp.MustCompile(`(\w+)="([^"]*)"`)

func labelsOf(t *testing.T, series string) map[string]string {
	t.Helper()
	name, rest, _ := strings.Cut(series, "{")
	out := map[string]string{"__name__": name}
	for _, m := range pair.FindAllStringSubmatch(rest, -1) {
		out[m[1]] = m[2]
	}
	return out
}
