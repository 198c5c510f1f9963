package index

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// ConfigByBootstrap finds oncall ProviderConfigs by the name of the Bootstrap of their namespace.
const ConfigByBootstrap = "spec.bootstrapRef.name"

// BootstrapBySecret finds Bootstraps by the name of the Secret of their namespace that an administrator's key comes from.
const BootstrapBySecret = "spec.forProvider.adminKeySecretRef.name"

// Oncall adds the indexes of the on-call kinds. It is called once, before the cache starts to hold any.
func Oncall(mgr ctrl.Manager) error {
	if err := add(mgr, &v1alpha1.Team{}, map[string]client.IndexerFunc{connect.IndexConfig: connect.ConfigKeyOf}); err != nil {
		return err
	}
	if err := add(mgr, &v1alpha1.ProviderConfig{}, map[string]client.IndexerFunc{ConfigByBootstrap: BootstrapOf}); err != nil {
		return err
	}
	return add(mgr, &v1alpha1.Bootstrap{}, map[string]client.IndexerFunc{BootstrapBySecret: AdminKeySecretOf})
}

// BootstrapOf is the index ConfigByBootstrap.
func BootstrapOf(o client.Object) []string {
	c, ok := o.(*v1alpha1.ProviderConfig)
	if !ok || c.Spec.BootstrapRef == nil {
		return nil
	}
	return []string{c.Spec.BootstrapRef.Name}
}

// AdminKeySecretOf is the index BootstrapBySecret.
func AdminKeySecretOf(o client.Object) []string {
	b, ok := o.(*v1alpha1.Bootstrap)
	if !ok || b.Spec.ForProvider.AdminKeySecretRef == nil {
		return nil
	}
	return []string{b.Spec.ForProvider.AdminKeySecretRef.Name}
}
