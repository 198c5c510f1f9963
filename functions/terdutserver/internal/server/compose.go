// Package server decides what a TerdutServer is composed of, step by step, and what its status says.
//
// The steps are: the database is ready; its Secret is seen; the server is started; the provider gets its account on it; the teams; what is each team's own. Of a
// later step nothing is composed before the earlier one is ready. What once was composed stays composed, whatever is said of it, until the
// spec does not list it any more: leaving it out would delete it. An answer counts only when it belongs to what was asked.
package server

import (
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// An Input is what there is to know.
type Input struct {
	Composite *structpb.Struct
	// Observed composed resources by composition resource name.
	Observed map[string]*structpb.Struct
	// Required are the answers to the requirements by their names. One that was not asked for yet is missing; one that does not exist is empty.
	Required map[string][]*structpb.Struct
	// Now decides how much Crossplane may be burdened with, and nothing else.
	Now time.Time
}

// Compose a TerdutServer, and say what must be known for it, and whether it shows all of it. An error names the field that cannot be understood; nothing may change then.
func Compose(in Input) (*composite.Composition, map[string]*fnv1.ResourceSelector, bool, error) {
	s, err := newServer(in)
	if err != nil {
		return nil, nil, false, err
	}
	if err := s.resolveDatabase(); err != nil {
		return nil, nil, false, err
	}
	for _, step := range []func() error{s.composeCredential, s.composeWorkload, s.composeAccess, s.composeTeams} {
		if err := step(); err != nil {
			return nil, nil, false, err
		}
	}
	ready := s.isReady()
	out := &composite.Composition{
		Resources:  s.resources,
		Status:     s.status(composite.AnsweredGeneration(in.Composite, s.subject, ready)),
		Conditions: s.conditions(),
		Ready:      ready,
	}
	return out, s.requirements(), out.Settle(in.Composite, s.subject), nil
}

// isReady tells whether everything that the spec asks for is composed and ready.
func (s *server) isReady() bool {
	for _, r := range s.resources {
		if !r.Ready {
			return false
		}
	}
	for name := range s.observed {
		if s.going(name) {
			return false
		}
	}
	routed := s.spec.Networking.GatewayListener == nil || s.resources[resourceRoute].Ready
	return s.database.ready && s.serverReady() && routed && s.bootstrapped() && s.missing == 0
}

// going tells whether a resource is there that the spec does not ask for any more. Crossplane deletes it after this pass.
func (s *server) going(resource string) bool {
	_, desired := s.resources[resource]
	return s.observed[resource] != nil && !desired
}

// compose a resource, if it is there or may be made.
func (s *server) compose(name string, allowed bool, render func() (*structpb.Struct, error), ready func(o *object) bool) error {
	o := s.observed[name]
	if o == nil && !allowed {
		return nil
	}
	manifest, err := render()
	if err != nil || manifest == nil {
		return err
	}
	if err := stamp(manifest); err != nil {
		return err
	}
	holds := o != nil && o.Metadata.DeletionTimestamp == "" && holds(manifest, o)
	s.holds[name] = holds
	s.resources[name] = composite.Resource{Manifest: manifest, Ready: holds && ready(o)}
	return nil
}
