package server

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

const (
	gatewayGroup   = "gateway.networking.k8s.io"
	gatewayVersion = gatewayGroup + "/v1"
)

// composeWorkload composes what runs the server and leads to it, once the database is ready and the names are free.
func (s *server) composeWorkload() error {
	allowed := s.database.ready && s.credential.known() && s.namesFree() && s.bears(resourceDeployment, resourceService)
	if err := s.compose(resourceDeployment, allowed, s.outliving(s.renderDeployment), deploymentReady); err != nil {
		return err
	}
	always := func(*object) bool { return true }
	if err := s.compose(resourceService, allowed, s.outliving(s.renderService), always); err != nil {
		return err
	}
	if s.spec.Networking.GatewayListener == nil {
		return nil
	}
	return s.compose(resourceRoute, allowed, s.renderRoute, func(o *object) bool {
		reason, _ := routeProblem(o)
		return reason == ""
	})
}

// outliving makes the Bootstrap an owner of what is rendered, beside the composite. When the composite is deleted, Kubernetes collects an object
// whose other owner is still there last: teams, and after them the Bootstrap, are deleted on a server that still answers, and only then the
// server goes. No function runs during deletion, so nothing else could keep that order.
func (s *server) outliving(render func() (*structpb.Struct, error)) func() (*structpb.Struct, error) {
	return func() (*structpb.Struct, error) {
		m, err := render()
		b := s.observed[resourceBootstrap]
		if err != nil || b == nil || b.Metadata.UID == "" {
			return m, err
		}
		owners, err := structpb.NewValue(list(map[string]any{
			"apiVersion": versions[resourceBootstrap], "kind": kinds[resourceBootstrap], "name": b.Metadata.Name, "uid": string(b.Metadata.UID),
		}))
		if err != nil {
			return nil, fmt.Errorf("cannot render owner of %q: %w", m.GetFields()["kind"].GetStringValue(), err)
		}
		m.GetFields()["metadata"].GetStructValue().GetFields()["ownerReferences"] = owners
		return m, nil
	}
}

// serverReady tells whether the server answers at its endpoint. Whether people reach it through a Gateway is another question.
func (s *server) serverReady() bool {
	return s.resources[resourceDeployment].Ready && s.resources[resourceService].Ready
}

// renderService renders the Service.
func (s *server) renderService() (*structpb.Struct, error) {
	return s.manifest(versions[resourceService], kinds[resourceService], s.serviceName(), s.labels(), map[string]any{
		"type":     "ClusterIP",
		"selector": s.labels(),
		"ports": list(map[string]any{
			"name": portName, "protocol": "TCP", "port": *s.spec.Networking.ServicePort, "targetPort": portName,
		}),
	})
}

// renderRoute renders the HTTPRoute from the Gateway to the Service.
func (s *server) renderRoute() (*structpb.Struct, error) {
	n := s.spec.Networking
	parts := strings.Split(*n.GatewayListener, "/")
	parent := map[string]any{"group": gatewayGroup, "kind": "Gateway", "namespace": parts[0], "name": parts[1]}
	if len(parts) > 2 {
		parent["sectionName"] = parts[2]
	}
	return s.manifest(gatewayVersion, kinds[resourceRoute], s.generated(resourceRoute, s.subject.Name), s.labels(), map[string]any{
		"parentRefs": list(parent),
		"hostnames":  []any{*n.Hostname},
		"rules": list(map[string]any{"backendRefs": list(map[string]any{
			"kind": kinds[resourceService], "name": s.serviceName(), "port": *n.ServicePort,
		})}),
	})
}

// A route is what is read of an HTTPRoute.
type route = composite.Object[struct{}, struct {
	Parents []struct {
		Conditions []struct {
			Type               string                 `json:"type"`
			Status             corev1.ConditionStatus `json:"status"`
			Reason             string                 `json:"reason"`
			ObservedGeneration int64                  `json:"observedGeneration"`
		} `json:"conditions"`
	} `json:"parents"`
}]

// routeConditions are what a Gateway must say of a route that works, see the Gateway API's RouteConditionType.
var routeConditions = []string{"Accepted", "ResolvedRefs"}

// routeProblem is why a route does not work. It does when there is no reason.
func routeProblem(o *object) (reason string, waiting bool) {
	r := &route{}
	if err := composite.Decode(o.manifest, r); err != nil || len(r.Status.Parents) == 0 {
		return "Pending", true
	}
	said := 0
	for _, p := range r.Status.Parents {
		for _, c := range p.Conditions {
			switch {
			case !slices.Contains(routeConditions, c.Type) || c.ObservedGeneration != r.Metadata.Generation:
			case c.Status != corev1.ConditionTrue:
				return c.Reason, false
			default:
				said++
			}
		}
	}
	if said < len(routeConditions)*len(r.Status.Parents) {
		return "Pending", true
	}
	return "", false
}
