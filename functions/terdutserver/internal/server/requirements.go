package server

import (
	"fmt"

	"k8s.io/utils/ptr"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// Names of requirements. Whoever holds one of our fixed names is asked for by the composition resource name.
const (
	requiredCluster        = "database-cluster"
	requiredTenant         = "database-tenant"
	requiredTenantDatabase = "database-tenant-database"
)

// labelComposite is Crossplane's, for the name of the composite that a resource belongs to.
const labelComposite = "crossplane.io/composite"

// fixed are the resources whose names others must know, so that somebody may have taken them: clients find the Service and Teams of other
// namespaces the ProviderConfig, and the provider finds a retained credential by the name of the Bootstrap.
func (s *server) fixed() map[string]string {
	return map[string]string{
		resourceService:   s.serviceName(),
		resourceConfig:    s.subject.Name,
		resourceBootstrap: s.subject.Name,
	}
}

// versions of the kinds with fixed names.
var versions = map[string]string{
	resourceService:   "v1",
	resourceConfig:    oncallv1alpha1.SchemeGroupVersion.String(),
	resourceBootstrap: oncallv1alpha1.SchemeGroupVersion.String(),
}

// requirements are the same each time that the same is known. Crossplane watches what it finds.
func (s *server) requirements() map[string]*fnv1.ResourceSelector {
	out := map[string]*fnv1.ResourceSelector{}
	named := func(requirement, apiVersion, kind, name string) {
		out[requirement] = &fnv1.ResourceSelector{
			ApiVersion: apiVersion, Kind: kind, Namespace: ptr.To(s.subject.Namespace), Match: &fnv1.ResourceSelector_MatchName{MatchName: name},
		}
	}
	for resource, name := range s.fixed() {
		if s.observed[resource] == nil {
			named(resource, versions[resource], kinds[resource], name)
		}
	}
	switch d := s.spec.Database; {
	case d.PostgresClusterRef != nil:
		named(requiredCluster, clusterVersions[d.PostgresClusterRef.Kind], d.PostgresClusterRef.Kind, d.PostgresClusterRef.Name)
	case d.TenantRef != nil:
		named(requiredTenant, v1alpha1.SchemeGroupVersion.String(), v1alpha1.TenantGroupVersionKind.Kind, d.TenantRef.Name)
		if s.database.tenant != nil {
			out[requiredTenantDatabase] = &fnv1.ResourceSelector{
				ApiVersion: postgresqlv1alpha1.SchemeGroupVersion.String(), Kind: postgresqlv1alpha1.PGDatabaseKind, Namespace: ptr.To(s.subject.Namespace),
				Match: &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: map[string]string{labelComposite: s.database.tenant.composite()}}},
			}
		}
	}
	return out
}

// taken tells whether a fixed name belongs to somebody else, and free whether it is known to belong to nobody else.
func (s *server) taken(resource string) (taken, free bool) {
	if s.observed[resource] != nil {
		return false, true
	}
	items, asked := s.in.Required[resource]
	for _, i := range items {
		o := struct {
			Metadata composite.Meta `json:"metadata"`
		}{}
		if err := composite.Decode(composite.Pick(i, "metadata"), &o); err != nil || !o.Metadata.ControlledBy(s.subject.Composite) {
			return true, false
		}
	}
	return false, asked
}

// namesFree tells whether all fixed names are known to be ours to take.
func (s *server) namesFree() bool {
	for resource := range s.fixed() {
		if _, free := s.taken(resource); !free {
			return false
		}
	}
	return true
}

// required is the single answer to a requirement: nil when there is none. Asked is false when the answer has not come yet.
func required[T any](s *server, requirement string) (answer *T, asked bool, err error) {
	items, asked := s.in.Required[requirement]
	if len(items) == 0 {
		return nil, asked, nil
	}
	out := new(T)
	if err := composite.Decode(items[0], out); err != nil {
		return nil, true, fmt.Errorf("required resource %q: %w", requirement, err)
	}
	return out, true, nil
}

// list of objects, as manifests hold them.
func list(values ...map[string]any) []any {
	out := make([]any, 0, len(values))
	for _, v := range values {
		out = append(out, v)
	}
	return out
}
