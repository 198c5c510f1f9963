package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// Composition resource names. Crossplane finds existing composed resources by them, so they never change. Those of teams, and of what is
// theirs, are made of a prefix and the names in the spec; the name of a team holds no slash.
const (
	resourceDeployment = "deployment"
	resourceService    = "service"
	resourceRoute      = "route"
	resourceConfig     = "provider-config"
	resourceBootstrap  = "bootstrap"
	resourceCredential = "database-credential"

	prefixTeam        = "team/"
	prefixPolicy      = "policy/"
	prefixSwitch      = "switch/"
	prefixIntegration = "integration/"
)

// kinds of composed resources by composition resource name, or by its prefix.
var kinds = map[string]string{
	resourceDeployment: "Deployment",
	resourceService:    "Service",
	resourceRoute:      "HTTPRoute",
	resourceConfig:     "ProviderConfig",
	resourceBootstrap:  oncallv1alpha1.BootstrapKind,
	resourceCredential: secretsv1alpha1.SecretCheckKind,
	prefixTeam:         oncallv1alpha1.TeamKind,
	prefixPolicy:       oncallv1alpha1.EscalationPolicyKind,
	prefixSwitch:       oncallv1alpha1.DeadmanSwitchKind,
	prefixIntegration:  oncallv1alpha1.IntegrationKind,
}

// An object is an observed composed resource.
type object struct {
	composite.Object[struct{}, status]

	manifest *structpb.Struct
}

// A status is what is read of the status of any composed resource.
type status struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider struct {
		ObservedSecret       *secretsv1alpha1.ObservedSecret `json:"observedSecret"`
		TeamID               int64                           `json:"teamID"`
		CredentialsSecretRef *struct {
			Name string `json:"name"`
		} `json:"credentialsSecretRef"`
	} `json:"atProvider"`
}

// answers of a managed resource; there are none when it is absent.
func (o *object) answers() composite.Answers {
	if o == nil {
		return composite.Answers{}
	}
	return composite.Answers{Generation: o.Metadata.Generation, Status: o.Status.ManagedResourceStatus}
}

// isReady of a managed resource.
func (o *object) isReady() bool { return o.answers().AreTrue(xpv2.TypeReady, xpv2.TypeSynced) }

// A server is a composite with what is observed of its composed resources.
type server struct {
	in      Input
	subject composite.Subject
	spec    v1alpha1.TerdutServerSpec

	observed   map[string]*object
	budget     budget
	database   database
	credential credential

	resources map[string]composite.Resource
	// holds says of each composed resource whether the observed object is as desired.
	holds map[string]bool
	// missing is how many resources the spec asks for that are not composed.
	missing int
	teams   []teamState
}

// newServer reads a composite and its composed resources.
func newServer(in Input) (*server, error) {
	s := &server{in: in, observed: map[string]*object{}, resources: map[string]composite.Resource{}, holds: map[string]bool{}}
	var err error
	if s.subject, err = composite.SubjectOf(in.Composite, in.Required); err != nil {
		return nil, fmt.Errorf("composite: %w", err)
	}
	if s.spec, err = specOf(in.Composite); err != nil {
		return nil, fmt.Errorf("composite: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Observed)) {
		kind := kindOf(name)
		if kind == "" {
			continue // It belongs to another function of the pipeline.
		}
		// The spec is compared as it is, and not read.
		head := map[string]*structpb.Struct{name: composite.Pick(in.Observed[name], "kind", "metadata", "status")}
		o, err := composite.Observe[struct{}, status](s.subject, head, name, kind)
		if err != nil {
			return nil, err
		}
		s.observed[name] = &object{Object: *o, manifest: in.Observed[name]}
	}
	s.budget = newBudget(in, s.observed)
	return s, nil
}

// kindOf the resource of a composition resource name, or nothing when the name is none of ours.
func kindOf(name string) string {
	if prefix, _, ok := strings.Cut(name, "/"); ok {
		return kinds[prefix+"/"]
	}
	return kinds[name]
}

// serviceName of the TerdutServer.
func (s *server) serviceName() string { return names.Service(s.subject.Name) }

// endpoint of the server inside the cluster.
func (s *server) endpoint() string {
	return fmt.Sprintf("http://%s.%s.svc:%d", s.serviceName(), s.subject.Namespace, *s.spec.Networking.ServicePort)
}

// generated name of a composed resource, which cannot be guessed. What is observed keeps its name.
func (s *server) generated(resource, readable string) string {
	if o := s.observed[resource]; o != nil {
		return o.Metadata.Name
	}
	return names.Composed(readable, string(s.subject.UID), resource)
}

// manifest of a composed resource: exactly the fields that this function owns.
func (s *server) manifest(apiVersion, kind, name string, labels, spec map[string]any) (*structpb.Struct, error) {
	metadata := map[string]any{"namespace": s.subject.Namespace, "name": name}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	m, err := structpb.NewStruct(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec})
	if err != nil {
		return nil, fmt.Errorf("cannot render %s %q: %w", kind, name, err)
	}
	return m, nil
}
