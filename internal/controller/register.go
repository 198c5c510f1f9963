// Package controller lists the controllers of the provider.
package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/bootstrap"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/deadmanswitch"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/escalationpolicy"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/integration"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/team"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/access"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/baosecret"
	"github.com/ryuvia/provider-terdut/internal/controller/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/postgresql/pgdatabase"
	"github.com/ryuvia/provider-terdut/internal/controller/secrets/secretcheck"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts all controllers. A BaoSecret waits for the PGDatabases that use it and a PGDatabase for its BaoSecret, and what gives access to
// records waits for BaoSecrets, so all of these groups start together, when all their kinds are served. So do those of the oncall group, which look at each other too.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	stores := group{
		kinds: kinds(),
		index: []func(ctrl.Manager) error{index.PGDatabases, index.BaoSecrets, index.Access},
		setup: []func(ctrl.Manager, setup.Options) error{
			openbao.SetupConfigs,
			baosecret.Setup,
			access.Setup,
			postgresql.SetupConfigs,
			pgdatabase.Setup,
		},
	}
	calls := group{
		kinds: oncallKinds(),
		index: []func(ctrl.Manager) error{index.Oncall, index.TeamChildren},
		setup: []func(ctrl.Manager, setup.Options) error{
			oncall.SetupConfigs,
			bootstrap.Setup,
			team.Setup,
			escalationpolicy.Setup,
			deadmanswitch.Setup,
			integration.Setup,
		},
	}
	checks := group{
		kinds: checkKinds(),
		index: []func(ctrl.Manager) error{index.SecretChecks},
		setup: []func(ctrl.Manager, setup.Options) error{secretcheck.Setup},
	}
	for _, g := range []group{stores, calls, checks} {
		if err := g.start(mgr, o); err != nil {
			return err
		}
	}
	return nil
}

// A group of controllers that start together.
type group struct {
	kinds []schema.GroupVersionKind
	index []func(ctrl.Manager) error
	setup []func(ctrl.Manager, setup.Options) error
}

func (g group) start(mgr ctrl.Manager, o setup.Options) error {
	return setup.Gated(o, func() error {
		if err := setup.Served(context.Background(), mgr.GetRESTMapper(), g.kinds...); err != nil {
			return err
		}
		for _, f := range g.index {
			if err := f(mgr); err != nil {
				return err
			}
		}
		for _, f := range g.setup {
			if err := f(mgr, o); err != nil {
				return err
			}
		}
		return nil
	}, g.kinds...)
}

func oncallKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		oncallv1alpha1.BootstrapGroupVersionKind,
		oncallv1alpha1.TeamGroupVersionKind,
		oncallv1alpha1.EscalationPolicyGroupVersionKind,
		oncallv1alpha1.DeadmanSwitchGroupVersionKind,
		oncallv1alpha1.IntegrationGroupVersionKind,
		oncallv1alpha1.SchemeGroupVersion.WithKind(connect.KindProviderConfig),
		oncallv1alpha1.SchemeGroupVersion.WithKind(connect.KindClusterProviderConfig),
		oncallv1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"),
	}
}

func checkKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{secretsv1alpha1.SecretCheckGroupVersionKind, secretsv1alpha1.SecretAccessGrantGroupVersionKind}
}

func kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		accessv1alpha1.Policy_GroupVersionKind,
		accessv1alpha1.KubernetesAuthRole_GroupVersionKind,
		accessv1alpha1.AppRole_GroupVersionKind,
		openbaov1alpha1.BaoSecretGroupVersionKind,
		openbaov1alpha1.SchemeGroupVersion.WithKind(connect.KindProviderConfig),
		openbaov1alpha1.SchemeGroupVersion.WithKind(connect.KindClusterProviderConfig),
		openbaov1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"),
		postgresqlv1alpha1.PGDatabaseGroupVersionKind,
		postgresqlv1alpha1.SchemeGroupVersion.WithKind(connect.KindProviderConfig),
		postgresqlv1alpha1.SchemeGroupVersion.WithKind(connect.KindClusterProviderConfig),
		postgresqlv1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"),
	}
}
