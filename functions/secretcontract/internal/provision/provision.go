// Package provision decides what makes the Secret of a contract that asks for one: a BaoSecret, whose record stays when the contract goes,
// and an ExternalSecret, with which the Secret goes.
//
// A Secret that is there before is never touched. External Secrets takes over a Secret that nobody controls, so the ExternalSecret is asked
// for only once the contract's SecretCheck has found that no Secret has the name; the function itself never sees one.
package provision

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/internal/delivery"
	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// Composition resource names. Crossplane finds existing composed resources by them, so they never change.
const (
	ResourceCredential     = "credential"
	ResourceExternalSecret = "external-secret"
)

type credential = composite.Object[openbaov1alpha1.BaoSecretSpec, openbaov1alpha1.BaoSecretStatus]

// A Provision of a contract's Secret.
type Provision struct {
	subject composite.Subject
	// spec is nil when the contract asks for none.
	spec *v1alpha1.Provision
	// named are the keys that the contract has rules for.
	named map[string]bool

	// What is observed; nil when absent.
	credential *credential
	delivery   delivery.Delivery

	credentialObject, externalSecretObject string
}

// Read what a contract's spec asks for, and what is observed of it. An error names the field that cannot be understood.
func Read(spec *structpb.Struct, subject composite.Subject, observed map[string]*structpb.Struct) (*Provision, error) {
	in := v1alpha1.SecretContractSpec{}
	if err := composite.Decode(composite.Pick(spec, "secretRef", "requiredKeys", "externalSecretRef", "provision"), &in); err != nil {
		return nil, fmt.Errorf("spec.%w", err)
	}
	p := &Provision{subject: subject, spec: in.Provision, named: map[string]bool{}}
	if p.spec == nil {
		return p, nil
	}
	for _, r := range in.RequiredKeys {
		p.named[r.Name] = true
	}
	setDefaults(p.spec)
	if err := p.validate(in); err != nil {
		return nil, err
	}

	var err error
	p.credential, err = composite.Observe[openbaov1alpha1.BaoSecretSpec, openbaov1alpha1.BaoSecretStatus](p.subject, observed, ResourceCredential, openbaov1alpha1.BaoSecretKind)
	if err != nil {
		return nil, err
	}
	es, err := composite.Observe[delivery.Spec, delivery.Status](p.subject, observed, ResourceExternalSecret, delivery.Kind)
	if err != nil {
		return nil, err
	}
	p.delivery = delivery.Delivery{
		Store: p.spec.SecretStoreRef, Config: p.spec.BaoRef.Name, Secret: in.SecretRef.Name, Observed: es,
		IfTaken: "remove the other owner, or let a new contract name another Secret.",
	}
	p.resolveNames()
	return p, nil
}

// resolveNames of the composed resources and of the record. Where one has a name by an older rule, that name stays.
func (p *Provision) resolveNames() {
	composed := func(resource string) string { return names.Composed(p.subject.Name, string(p.subject.UID), resource) }
	p.credentialObject, p.externalSecretObject = composed(ResourceCredential), composed(ResourceExternalSecret)
	path := ""
	if p.spec.Path != nil {
		path = names.ContractPath(p.subject.Namespace, *p.spec.Path)
	}
	if p.credential != nil {
		p.credentialObject = p.credential.Metadata.Name
		path = cmp.Or(path, p.credential.Spec.ForProvider.Path)
	}
	if es := p.delivery.Observed; es != nil {
		p.externalSecretObject = es.Metadata.Name
		path = cmp.Or(path, es.Spec.Path())
	}
	p.delivery = p.delivery.At(p.facts())
	p.delivery.Path = cmp.Or(path, names.ContractPath(p.subject.Namespace, p.subject.Name))
}

// Declare to the SecretCheck by what its Secret is delivered. Whether it is counts: a Secret that is like it by chance is not the one.
func (p *Provision) Declare(forProvider *structpb.Struct) error {
	if p.spec == nil {
		return nil
	}
	policy := forProvider.GetFields()["policy"].GetStructValue().AsMap()
	policy["requireExternalSecretReady"] = true
	added, err := structpb.NewStruct(map[string]any{
		"externalSecretRef": map[string]any{"apiVersion": delivery.APIVersion, "name": p.externalSecretObject},
		"policy":            policy,
	})
	if err != nil {
		return fmt.Errorf("cannot declare ExternalSecret %q: %w", p.externalSecretObject, err)
	}
	maps.Copy(forProvider.GetFields(), added.GetFields())
	return nil
}

// KVURL is the record in OpenBao's API, once it is known.
func (p *Provision) KVURL() string { return p.facts().URL }

// facts are what is known of the record.
func (p *Provision) facts() openbaov1alpha1.BaoSecretObservation {
	if p.credential == nil {
		return openbaov1alpha1.BaoSecretObservation{}
	}
	return p.credential.Status.AtProvider
}

// answers of the BaoSecret; there are none when it is absent.
func (p *Provision) answers() composite.Answers {
	if p.credential == nil {
		return composite.Answers{}
	}
	return composite.Answers{Generation: p.credential.Metadata.Generation, Status: p.credential.Status.ManagedResourceStatus}
}

// A Look is what the SecretCheck found of the name of the Secret. The zero Look is that of a check that has not answered.
type Look struct {
	// Free says that there is no Secret of the name.
	Free bool
	// Ours says that the Secret is there and delivered by this contract's ExternalSecret.
	Ours bool
	// Taken says that there is one, and that this contract's ExternalSecret is not.
	Taken bool
}

// LookOf a SecretCheck that was told what Declare says, and has answered.
func LookOf(c secretsv1alpha1.SecretCheckStatus) Look {
	exists, delivered := c.GetCondition(secretsv1alpha1.TypeSecretExists), c.GetCondition(secretsv1alpha1.TypeExternalSecretReady)
	there := exists.Status == corev1.ConditionTrue
	return Look{
		Free:  exists.Status == corev1.ConditionFalse && exists.Reason == reasonSecretNotFound,
		Ours:  there && delivered.Status == corev1.ConditionTrue,
		Taken: there && delivered.Status == corev1.ConditionFalse && delivered.Reason == reasonExternalSecretNotFound,
	}
}

// Reasons of a SecretCheck, internal/contract.
const (
	reasonSecretNotFound         xpv2.ConditionReason = "SecretNotFound"
	reasonExternalSecretNotFound xpv2.ConditionReason = "ExternalSecretNotFound"
)

// Compose what makes the Secret, and say how far that is.
func (p *Provision) Compose(look Look) (map[string]composite.Resource, composite.Condition, error) {
	if p.spec == nil {
		return nil, composite.Condition{Type: v1alpha1.TypeProvisioned, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonNotConfigured}, nil
	}
	// One that delivers another Secret is as good as none: that one's name was free says nothing about this one's.
	es := p.delivery.Observed
	if es != nil && es.Spec.Target.Name != p.delivery.Secret {
		es, p.delivery.Observed = nil, nil
	}
	resources, s := map[string]composite.Resource{}, state{}
	mayDeliver := look.Free || look.Ours

	// What was composed stays composed, because leaving it out would delete it.
	if p.credential != nil || es != nil || mayDeliver {
		manifest, err := p.renderCredential()
		if err != nil {
			return nil, composite.Condition{}, err
		}
		if s.stores, err = composite.Carries(p.credential, manifest, p.sameCredential); err != nil {
			return nil, composite.Condition{}, err
		}
		s.stored = s.stores && p.answers().AreTrue(xpv2.TypeReady, xpv2.TypeSynced)
		resources[ResourceCredential] = composite.Resource{Manifest: manifest, Ready: s.stored}
	}
	// Only of a record that is this contract's: the store may read those of others too.
	if es != nil || s.stored && mayDeliver {
		manifest, err := p.delivery.Manifest(p.subject, p.externalSecretObject)
		if err != nil {
			return nil, composite.Condition{}, err
		}
		delivers, err := composite.Carries(es, manifest, delivery.Same)
		if err != nil {
			return nil, composite.Condition{}, err
		}
		s.delivered = delivers && p.delivery.Projection().Ready
		resources[ResourceExternalSecret] = composite.Resource{Manifest: manifest, Ready: s.delivered}
	}
	return resources, p.condition(look, s), nil
}

// A state says whether the BaoSecret holds the desired spec, has stored it, and whether the Secret was delivered from that.
type state struct{ stores, stored, delivered bool }

// renderCredential renders the BaoSecret.
func (p *Provision) renderCredential() (*structpb.Struct, error) {
	items := make([]any, 0, len(p.spec.Keys))
	for _, k := range p.spec.Keys {
		item := map[string]any{"key": k.Name}
		if k.Value != nil {
			item["value"] = *k.Value
		}
		if g := k.Generate; g != nil {
			generate := map[string]any{"length": g.Length}
			if g.Symbols {
				generate["symbols"] = true
			}
			item["generate"] = generate
		}
		items = append(items, item)
	}
	forProvider := map[string]any{"path": p.delivery.Path, "data": items, "deletionPolicy": "Retain"}
	if r := p.spec.Rotation; r != nil {
		forProvider["rotation"] = map[string]any{"trigger": r.Trigger}
	}
	return composite.Manifest(p.subject, openbaov1alpha1.SchemeGroupVersion.String(), openbaov1alpha1.BaoSecretKind, p.credentialObject, nil, map[string]any{
		"providerConfigRef": map[string]any{"kind": composite.ClusterProviderConfig, "name": p.spec.BaoRef.Name},
		"forProvider":       forProvider,
	})
}

// sameCredential compares what we own of two BaoSecrets. Keys that the contract does not name were added by somebody else, and are theirs.
func (p *Provision) sameCredential(desired, observed *credential) bool {
	owned := func(c *credential) openbaov1alpha1.BaoSecretSpec {
		q := c.Spec.ForProvider
		out := openbaov1alpha1.BaoSecretSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ProviderConfigReference: c.Spec.ProviderConfigReference},
			ForProvider:         openbaov1alpha1.BaoSecretParameters{Path: q.Path, DeletionPolicy: q.DeletionPolicy, Rotation: q.Rotation},
		}
		for _, d := range q.Data {
			if p.named[d.Key] {
				out.ForProvider.Data = append(out.ForProvider.Data, d)
			}
		}
		slices.SortFunc(out.ForProvider.Data, func(a, b openbaov1alpha1.DataItem) int { return cmp.Compare(a.Key, b.Key) })
		return out
	}
	return equality.Semantic.DeepEqual(owned(desired), owned(observed))
}
