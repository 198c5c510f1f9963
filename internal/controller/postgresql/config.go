// Package postgresql sets up the controllers of the postgresql group.
package postgresql

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
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
	p := &prober{postgres: o.Postgres}
	base := setup.ProviderConfigKind{
		Users:     []resource.ManagedList{&v1alpha1.PGDatabaseList{}},
		UserKinds: []resource.ModernManaged{&v1alpha1.PGDatabase{}},
		Secrets:   secretsOf,
		Probe:     p.probe,
		Forget:    o.Postgres.Forget,
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
	c, err := connect.PostgresConfigOf(pc)
	if err != nil {
		return nil
	}
	return c.Secrets()
}

type prober struct{ postgres *connect.Postgres }

// probe the server of a config and report on the config's status.
func (p *prober) probe(ctx context.Context, pc resource.ProviderConfig) bool {
	status := statusOf(pc)
	status.ObservedGeneration = pc.GetGeneration()

	r, err := p.ask(ctx, pc)
	if err != nil {
		status.Server = v1alpha1.ServerObservation{}
		return healthy(pc, ReasonOf(err), err.Error())
	}
	status.Server = v1alpha1.ServerObservation{
		ServerVersion:     VersionString(r.Version),
		ServerIdentity:    r.Identity,
		TLS:               r.TLSVersion,
		MissingPrivileges: r.Missing,
	}
	reason, message := verdict(r)
	return healthy(pc, reason, message)
}

// verdict says whether a server that answered can be worked with, and what to do if not.
func verdict(r *postgresql.ProbeResult) (xpv2.ConditionReason, string) {
	switch {
	case r.Version < postgresql.MinimumVersion:
		return v1alpha1.ReasonFailed, "PostgreSQL 15 or later is needed"
	case len(r.Missing) > 0:
		return v1alpha1.ReasonInsufficientPrivilege, "grant the management role: " + strings.Join(r.Missing, ", ")
	case r.ReadOnly:
		return v1alpha1.ReasonReadOnly, "the server accepts no writes: name the primary"
	}
	return v1alpha1.ReasonProbed, ""
}

func (p *prober) ask(ctx context.Context, pc resource.ProviderConfig) (*postgresql.ProbeResult, error) {
	c, err := connect.PostgresConfigOf(pc)
	if err != nil {
		return nil, err
	}
	i, err := p.postgres.Instance(ctx, c)
	if err != nil {
		return nil, err
	}
	return i.Probe(ctx)
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

// ReasonOf maps an error of the client to a condition reason.
func ReasonOf(err error) xpv2.ConditionReason {
	switch {
	case postgresql.IsConflict(err):
		return v1alpha1.ReasonConflict
	case postgresql.IsDataLost(err):
		return v1alpha1.ReasonDataLost
	case postgresql.IsIdentityChanged(err):
		return v1alpha1.ReasonIdentityChanged
	case postgresql.IsInUse(err):
		return v1alpha1.ReasonInUse
	case postgresql.IsReadOnly(err):
		return v1alpha1.ReasonReadOnly
	case postgresql.IsTooManyConnections(err):
		return v1alpha1.ReasonTooManyConnections
	case postgresql.IsInsufficientPrivilege(err):
		return v1alpha1.ReasonInsufficientPrivilege
	case postgresql.IsLoginRejected(err):
		return v1alpha1.ReasonLoginRejected
	case postgresql.IsUnreachable(err), postgresql.IsUntrusted(err):
		return v1alpha1.ReasonInstanceUnreachable
	}
	return connect.ReasonOf(err, v1alpha1.ReasonFailed)
}

// VersionString writes a server_version_num as people do: 150018 is 15.18.
func VersionString(n int) string { return fmt.Sprintf("%d.%d", n/10000, n%10000) }
