// Package openbao sets up the controllers of the openbao group.
package openbao

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/baosecret"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// SetupConfigs starts the controllers of both kinds of provider config.
func SetupConfigs(mgr ctrl.Manager, o setup.Options) error {
	for _, k := range ConfigKinds(o) {
		if err := setup.ProviderConfig(mgr, o, k); err != nil {
			return err
		}
	}
	return nil
}

// ConfigKinds are both kinds of provider config, which the same kinds of managed resource refer to.
func ConfigKinds(o setup.Options) []setup.ProviderConfigKind {
	p := &prober{bao: o.OpenBao}
	base := setup.ProviderConfigKind{
		Users: []resource.ManagedList{
			&v1alpha1.BaoSecretList{}, &accessv1alpha1.PolicyList{}, &accessv1alpha1.KubernetesAuthRoleList{}, &accessv1alpha1.AppRoleList{},
		},
		UserKinds: []resource.ModernManaged{
			&v1alpha1.BaoSecret{}, &accessv1alpha1.Policy{}, &accessv1alpha1.KubernetesAuthRole{}, &accessv1alpha1.AppRole{},
		},
		Secrets: secretsOf,
		Probe:   p.probe,
		Forget:  o.OpenBao.Forget,
	}

	namespaced := base
	namespaced.GVK = v1alpha1.SchemeGroupVersion.WithKind(connect.KindProviderConfig)
	namespaced.New = func() resource.ProviderConfig { return &v1alpha1.ProviderConfig{} }
	namespaced.NewList = func() client.ObjectList { return &v1alpha1.ProviderConfigList{} }

	cluster := base
	cluster.GVK = v1alpha1.SchemeGroupVersion.WithKind(connect.KindClusterProviderConfig)
	cluster.New = func() resource.ProviderConfig { return &v1alpha1.ClusterProviderConfig{} }
	cluster.NewList = func() client.ObjectList { return &v1alpha1.ClusterProviderConfigList{} }
	return []setup.ProviderConfigKind{namespaced, cluster}
}

func secretsOf(pc resource.ProviderConfig) []types.NamespacedName {
	c, err := connect.OpenBaoConfigOf(pc)
	if err != nil {
		return nil
	}
	return c.Secrets()
}

type prober struct{ bao *connect.OpenBao }

// probe the server of a config and report on the config's status.
func (p *prober) probe(ctx context.Context, pc resource.ProviderConfig) bool {
	status := statusOf(pc)
	status.ObservedGeneration = pc.GetGeneration()
	status.Server = v1alpha1.ServerObservation{}

	c, err := connect.OpenBaoConfigOf(pc)
	if err != nil {
		return healthy(pc, v1alpha1.ReasonFailed, err.Error())
	}
	cl, err := p.bao.Client(ctx, c)
	if err != nil {
		return healthy(pc, baosecret.ReasonOf(err), err.Error())
	}
	h, err := cl.Health(ctx)
	if err != nil {
		return healthy(pc, baosecret.ReasonOf(err), err.Error())
	}
	status.Server = v1alpha1.ServerObservation{ServerVersion: h.Version, TLS: h.TLS}
	if h.Sealed || !h.Initialized {
		return healthy(pc, v1alpha1.ReasonSealed, "the server is sealed or not initialised: unseal it")
	}
	if _, err := cl.LookupToken(ctx); err != nil && !openbao.IsNotFound(err) {
		return healthy(pc, baosecret.ReasonOf(err), err.Error())
	}
	return healthy(pc, v1alpha1.ReasonProbed, "")
}

// healthy reports the probe's outcome, which is good only for ReasonProbed.
func healthy(pc resource.ProviderConfig, r xpv2.ConditionReason, message string) bool {
	s := corev1.ConditionFalse
	if r == v1alpha1.ReasonProbed {
		s = corev1.ConditionTrue
	}
	c := setup.Condition(v1alpha1.TypeHealthy, s, r, message)
	c.ObservedGeneration = pc.GetGeneration()
	pc.SetConditions(setup.Since(pc, c))
	return s == corev1.ConditionTrue
}

func statusOf(pc resource.ProviderConfig) *v1alpha1.ProviderConfigStatus {
	if c, ok := pc.(*v1alpha1.ClusterProviderConfig); ok {
		return &c.Status
	}
	return &pc.(*v1alpha1.ProviderConfig).Status //nolint:forcetypeassert // There are just two kinds.
}
