// Package controller lists the controllers of the provider.
package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/baosecret"
	"github.com/ryuvia/provider-terdut/internal/controller/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/postgresql/pgdatabase"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts all controllers. A BaoSecret waits for the PGDatabases that use it and a PGDatabase for its BaoSecret, so all of both groups
// start together, when all their kinds are served.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	return setup.Gated(o, func() error {
		if err := setup.Served(context.Background(), mgr.GetRESTMapper(), kinds()...); err != nil {
			return err
		}
		for _, f := range []func(ctrl.Manager) error{index.PGDatabases, index.BaoSecrets} {
			if err := f(mgr); err != nil {
				return err
			}
		}
		for _, f := range []func(ctrl.Manager, setup.Options) error{
			openbao.SetupConfigs,
			baosecret.Setup,
			postgresql.SetupConfigs,
			pgdatabase.Setup,
		} {
			if err := f(mgr, o); err != nil {
				return err
			}
		}
		return nil
	}, kinds()...)
}

func kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
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
