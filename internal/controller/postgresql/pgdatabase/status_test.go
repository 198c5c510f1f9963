package pgdatabase

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// TestReady holds that Ready needs every step that is asked for, and repeats what the first that is missing has to say.
func TestReady(t *testing.T) {
	all := []xpv2.ConditionType{v1alpha1.TypePreflightPassed, v1alpha1.TypeRoleReady, v1alpha1.TypeDatabaseReady, v1alpha1.TypeExtensionsReady, v1alpha1.TypeLoginVerified}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.PGDatabase
		failed []xpv2.ConditionType
		absent []xpv2.ConditionType
		want   xpv2.ConditionReason
	}{
		"All":          {reason: "All steps passed.", mg: database(checks("x")), want: xpv2.ReasonAvailable},
		"NoLoginCheck": {reason: "A login that is not asked for is not needed.", mg: database(), failed: all[4:], want: xpv2.ReasonAvailable},
		"LoginCheck":   {reason: "A login that is asked for is needed.", mg: database(checks("x")), failed: all[4:], want: "Failed" + xpv2.ConditionReason(all[4])},
		"Preflight":    {reason: "The first step comes first.", mg: database(checks("x")), failed: all, want: "Failed" + xpv2.ConditionReason(all[0])},
		"Role":         {reason: "The role comes before the database.", mg: database(), failed: all[1:], want: "Failed" + xpv2.ConditionReason(all[1])},
		"Database":     {reason: "The database comes before its extensions.", mg: database(), failed: all[2:], want: "Failed" + xpv2.ConditionReason(all[2])},
		"Extensions":   {reason: "Extensions are needed.", mg: database(), failed: all[3:], want: "Failed" + xpv2.ConditionReason(all[3])},
		"StepNotTaken": {reason: "A step that was never taken did not pass.", mg: database(), absent: all[3:4], want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, c := range all {
				setup.Mark(tc.mg, passed(c))
			}
			for _, c := range tc.failed {
				setup.Mark(tc.mg, notYet(c, "Failed"+xpv2.ConditionReason(c), "because of "+string(c)))
			}
			if len(tc.absent) > 0 {
				tc.mg.Status.Conditions = nil
				for _, c := range all[:3] {
					setup.Mark(tc.mg, passed(c))
				}
			}
			got := ready(tc.mg)
			if got.Type != xpv2.TypeReady || got.Reason != tc.want || (got.Status == corev1.ConditionTrue) != (tc.want == xpv2.ReasonAvailable) {
				t.Errorf("%s want reason %q, got %s %s", tc.reason, tc.want, got.Status, got.Reason)
			}
			if len(tc.failed) > 0 && tc.want != xpv2.ReasonAvailable && got.Message != "because of "+string(tc.failed[0]) {
				t.Errorf("%s the message is %q", tc.reason, got.Message)
			}
		})
	}
}

// TestPending holds that a step which was not taken says so, and one which was keeps what it said.
func TestPending(t *testing.T) {
	mg := database(checks("x"))
	setup.Mark(mg, passed(v1alpha1.TypeRoleReady), notYet(v1alpha1.TypeDatabaseReady, v1alpha1.ReasonDataLost, ""))
	view(t, &pg{}).pending(mg)
	want := map[xpv2.ConditionType]xpv2.ConditionReason{
		v1alpha1.TypePreflightPassed: "",
		v1alpha1.TypeRoleReady:       v1alpha1.ReasonPassed,
		v1alpha1.TypeDatabaseReady:   v1alpha1.ReasonDataLost,
		v1alpha1.TypeExtensionsReady: v1alpha1.ReasonPending,
		v1alpha1.TypeLoginVerified:   v1alpha1.ReasonPending,
	}
	got := map[xpv2.ConditionType]xpv2.ConditionReason{}
	for c := range want {
		got[c] = mg.GetCondition(c).Reason
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestConsumer holds what tenants are told to connect to.
func TestConsumer(t *testing.T) {
	ptr := func(s string) *string { return &s }
	port := int32(6432)
	server := v1alpha1.ServerSpec{Host: "db.internal", HostAddr: ptr("10.0.0.1"), Port: 5432, SSLMode: "verify-full", CABundle: ptr("CA")}
	with := func(c v1alpha1.ConsumerEndpoint) v1alpha1.ServerSpec {
		s := server
		s.Consumer = &c
		return s
	}
	base := v1alpha1.ConsumerObservation{Host: "db.internal", HostAddr: "10.0.0.1", Port: 5432, SSLMode: "verify-full", CABundle: "CA"}
	changed := func(f func(*v1alpha1.ConsumerObservation)) v1alpha1.ConsumerObservation {
		c := base
		f(&c)
		return c
	}
	cases := map[string]struct {
		reason string
		server v1alpha1.ServerSpec
		want   v1alpha1.ConsumerObservation
	}{
		"Same": {"By default it is what the provider connects to.", server, base},
		"Host": {
			"The address of the provider's host is not the consumers' host's.", with(v1alpha1.ConsumerEndpoint{Host: ptr("db.example")}),
			changed(func(c *v1alpha1.ConsumerObservation) { c.Host, c.HostAddr = "db.example", "" }),
		},
		"HostAndAddress": {
			"Consumers' host has its own address.", with(v1alpha1.ConsumerEndpoint{Host: ptr("db.example"), HostAddr: ptr("192.0.2.1")}),
			changed(func(c *v1alpha1.ConsumerObservation) { c.Host, c.HostAddr = "db.example", "192.0.2.1" }),
		},
		"AddressAlone": {
			"The same host may have another address.", with(v1alpha1.ConsumerEndpoint{HostAddr: ptr("192.0.2.1")}),
			changed(func(c *v1alpha1.ConsumerObservation) { c.HostAddr = "192.0.2.1" }),
		},
		"PortAndCA": {
			"A pooler in front has its own port and CA.", with(v1alpha1.ConsumerEndpoint{Port: &port, CABundle: ptr("other CA")}),
			changed(func(c *v1alpha1.ConsumerObservation) { c.Port, c.CABundle = 6432, "other CA" }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, mg := view(t, &pg{}), database()
			mg.Spec.ForProvider.DeletionPolicy = "Delete"
			e.cfg.Server = tc.server
			e.projectConfig(t.Context(), mg)
			if diff := cmp.Diff(tc.want, mg.Status.AtProvider.Consumer); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
			if mg.Status.AtProvider.DeletionPolicy != "Delete" {
				t.Errorf("%s the policy in force must be told", tc.reason)
			}
		})
	}
}

// TestProject holds what facts become in the status, that what is gone does not stay there, and that the connection details hold no password.
func TestProject(t *testing.T) {
	e, mg := view(t, &pg{}), database()
	e.project(mg, facts(func(f *postgresql.Facts) {
		f.Database.Owner = "shop"
		f.DatabaseRecord.State = postgresql.StateRetained
	}))
	want := v1alpha1.PGDatabaseObservation{
		DatabaseOID: 20, Owner: "shop", Encoding: "UTF8", Locale: "C", ServerVersion: "17.2", ServerIdentity: "system",
		Registry: v1alpha1.RegistryObservation{RecordedOwner: "shop/orders (uid)", Retained: true},
	}
	if diff := cmp.Diff(want, mg.Status.AtProvider); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	e.project(mg, facts(nothing))
	if diff := cmp.Diff(v1alpha1.PGDatabaseObservation{DatabaseOID: 20, ServerVersion: "17.2", ServerIdentity: "system"}, mg.Status.AtProvider); diff != "" {
		t.Errorf("of a database that is gone its OID stays: -want, +got:\n%s", diff)
	}

	e.projectConfig(t.Context(), mg)
	details := map[string]string{}
	for k, v := range e.connectionDetails(mg) {
		details[k] = string(v)
	}
	if diff := cmp.Diff(map[string]string{"endpoint": "db.example", "port": "5432", "username": "shop", "database": "orders"}, details); diff != "" {
		t.Errorf("connection details: -want, +got:\n%s", diff)
	}
}
