package openbao_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/ryuvia/provider-terdut/internal/terraform/openbao"
)

// object holds attributes of a resource by name: strings, bools, ints, and []string for sets. What is not in it is null.
type object map[string]any

// with returns a copy with other values; nil takes an attribute out.
func (o object) with(changes object) object {
	c := object{}
	for _, m := range []object{o, changes} {
		for k, v := range m {
			c[k] = v
			if v == nil {
				delete(c, k)
			}
		}
	}
	return c
}

// terraform does what Terraform does with a provider, over its protocol.
type terraform struct {
	t       *testing.T
	server  tfprotov6.ProviderServer
	schemas map[string]*tfprotov6.Schema
}

// serve the provider to tests.
func serve(t *testing.T, config object, opts ...openbao.Option) (*terraform, error) {
	t.Helper()
	tf := &terraform{t: t, server: providerserver.NewProtocol6(openbao.New("test", opts...)())()}
	s, err := tf.server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	tf.schemas = s.ResourceSchemas
	r, err := tf.server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: tf.encode(s.Provider, value(t, s.Provider, config))})
	if err != nil {
		t.Fatal(err)
	}
	return tf, failed(r.Diagnostics)
}

// failed returns the errors among diagnostics.
func failed(all []*tfprotov6.Diagnostic) error {
	var errs []error
	for _, d := range all {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, fmt.Errorf("%s: %s (%s)", d.Summary, d.Detail, d.Attribute))
		}
	}
	return errors.Join(errs...)
}

// validate a configuration.
func (tf *terraform) validate(kind string, config object) error {
	s := tf.schemas[kind]
	r, err := tf.server.ValidateResourceConfig(tf.t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: kind, Config: tf.encode(s, value(tf.t, s, config))})
	if err != nil {
		tf.t.Fatal(err)
	}
	return failed(r.Diagnostics)
}

// A plan for a resource.
type plan struct {
	kind                   string
	prior, config, planned tftypes.Value
	private                []byte
	replace                []string
}

// changes names the attributes that would be changed.
func (p plan) changes() []string {
	if p.prior.IsNull() || p.planned.IsNull() {
		return []string{"all"}
	}
	var was, is map[string]tftypes.Value
	if err := errors.Join(p.prior.As(&was), p.planned.As(&is)); err != nil {
		panic(err)
	}
	var names []string
	for name := range is {
		if !was[name].Equal(is[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// plan the way from a state, nil for none, to a configuration, nil for none.
func (tf *terraform) plan(kind string, state, config object) (plan, error) {
	tf.t.Helper()
	s := tf.schemas[kind]
	if config != nil {
		if err := tf.validate(kind, config); err != nil {
			return plan{}, err
		}
	}
	p := plan{kind: kind, prior: value(tf.t, s, state), config: value(tf.t, s, config)}
	r, err := tf.server.PlanResourceChange(tf.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: kind, PriorState: tf.encode(s, p.prior), Config: tf.encode(s, p.config), ProposedNewState: tf.encode(s, propose(tf.t, s, state, config)),
	})
	if err != nil {
		tf.t.Fatal(err)
	}
	if err := failed(r.Diagnostics); err != nil {
		return p, err
	}
	p.private = r.PlannedPrivate
	for _, path := range r.RequiresReplace {
		p.replace = append(p.replace, strings.Trim(strings.TrimPrefix(path.String(), "AttributeName"), `("`+`)`))
	}
	p.planned = tf.decode(s, r.PlannedState)
	return p, nil
}

// propose merges state and configuration like Terraform does before it asks the provider.
func propose(t *testing.T, s *tfprotov6.Schema, state, config object) tftypes.Value {
	t.Helper()
	if config == nil {
		return value(t, s, nil)
	}
	attributes := map[string]tftypes.Value{}
	for _, a := range s.Block.Attributes {
		v := config[a.Name]
		if v == nil && a.Computed {
			v = state[a.Name]
		}
		attributes[a.Name] = scalar(t, a.Type, v)
		if v == nil && a.Computed && state == nil {
			attributes[a.Name] = tftypes.NewValue(a.Type, tftypes.UnknownValue)
		}
	}
	return tftypes.NewValue(s.ValueType(), attributes)
}

// apply the way from a state to a configuration. What was planned must be what is in the new state, which is returned also with an error.
func (tf *terraform) apply(kind string, state, config object) (object, error) {
	tf.t.Helper()
	p, err := tf.plan(kind, state, config)
	if err != nil {
		return state, err
	}
	s := tf.schemas[kind]
	r, err := tf.server.ApplyResourceChange(tf.t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: kind, PriorState: tf.encode(s, p.prior), PlannedState: tf.encode(s, p.planned), Config: tf.encode(s, p.config), PlannedPrivate: p.private,
	})
	if err != nil {
		tf.t.Fatal(err)
	}
	got := tf.decode(s, r.NewState)
	if err := failed(r.Diagnostics); err != nil {
		return attributes(tf.t, got), err
	}
	if !got.IsNull() {
		var planned, is map[string]tftypes.Value
		if err := errors.Join(p.planned.As(&planned), got.As(&is)); err != nil {
			tf.t.Fatal(err)
		}
		for name, v := range planned {
			if v.IsKnown() && !v.Equal(is[name]) {
				tf.t.Errorf("%s: %s: planned %s, but the state has %s", kind, name, v, is[name])
			}
		}
		if !got.IsFullyKnown() {
			tf.t.Errorf("%s: the state has values that are not known: %s", kind, got)
		}
	}
	return attributes(tf.t, got), nil
}

// read a resource again. It is nil when it is gone.
func (tf *terraform) read(kind string, state object) (object, error) {
	tf.t.Helper()
	s := tf.schemas[kind]
	r, err := tf.server.ReadResource(tf.t.Context(), &tfprotov6.ReadResourceRequest{TypeName: kind, CurrentState: tf.encode(s, value(tf.t, s, state))})
	if err != nil {
		tf.t.Fatal(err)
	}
	return attributes(tf.t, tf.decode(s, r.NewState)), failed(r.Diagnostics)
}

// importID imports a resource, and reads it, as Terraform does.
func (tf *terraform) importID(kind, id string) (object, error) {
	tf.t.Helper()
	r, err := tf.server.ImportResourceState(tf.t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: kind, ID: id})
	if err != nil {
		tf.t.Fatal(err)
	}
	if err := failed(r.Diagnostics); err != nil {
		return nil, err
	}
	return tf.read(kind, attributes(tf.t, tf.decode(tf.schemas[kind], r.ImportedResources[0].State)))
}

func (tf *terraform) encode(s *tfprotov6.Schema, v tftypes.Value) *tfprotov6.DynamicValue {
	tf.t.Helper()
	d, err := tfprotov6.NewDynamicValue(s.ValueType(), v)
	if err != nil {
		tf.t.Fatal(err)
	}
	return &d
}

func (tf *terraform) decode(s *tfprotov6.Schema, d *tfprotov6.DynamicValue) tftypes.Value {
	tf.t.Helper()
	v, err := d.Unmarshal(s.ValueType())
	if err != nil {
		tf.t.Fatal(err)
	}
	return v
}

// value of an object in the protocol's terms.
func value(t *testing.T, s *tfprotov6.Schema, o object) tftypes.Value {
	t.Helper()
	if o == nil {
		return tftypes.NewValue(s.ValueType(), nil)
	}
	attributes := map[string]tftypes.Value{}
	for _, a := range s.Block.Attributes {
		attributes[a.Name] = scalar(t, a.Type, o[a.Name])
	}
	return tftypes.NewValue(s.ValueType(), attributes)
}

func scalar(t *testing.T, kind tftypes.Type, v any) tftypes.Value {
	t.Helper()
	if l, ok := v.([]string); ok {
		elements := []tftypes.Value{}
		for _, e := range l {
			elements = append(elements, tftypes.NewValue(tftypes.String, e))
		}
		v = elements
	}
	if err := tftypes.ValidateValue(kind, v); err != nil {
		t.Fatal(err)
	}
	return tftypes.NewValue(kind, v)
}

// attributes of a value in the terms of tests.
func attributes(t *testing.T, v tftypes.Value) object {
	t.Helper()
	if v.IsNull() {
		return nil
	}
	var m map[string]tftypes.Value
	if err := v.As(&m); err != nil {
		t.Fatal(err)
	}
	o := object{}
	for name, v := range m {
		if v.IsNull() || !v.IsKnown() {
			continue
		}
		var s string
		var b bool
		var n big.Float
		var l []tftypes.Value
		switch {
		case v.As(&s) == nil:
			o[name] = s
		case v.As(&b) == nil:
			o[name] = b
		case v.As(&n) == nil:
			i, _ := n.Int64()
			o[name] = int(i)
		case v.As(&l) == nil:
			texts := []string{}
			for _, e := range l {
				if err := e.As(&s); err != nil {
					t.Fatal(err)
				}
				texts = append(texts, s)
			}
			slices.Sort(texts)
			o[name] = texts
		}
	}
	return o
}
