package tenant

import (
	"encoding/base64"
	"fmt"
	"regexp"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/equality"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// exact are the paths that a policy can name without meaning others: OpenBao takes a * at the end, a + between slashes and {{ }} for more
// than themselves, and its policies are written in a language of their own.
var exact = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// byKubernetes tells whether this Tenant's record is to be read with a role of its own. What a Tenant does not say is the admin's default,
// which comes with what is known of the record; while nothing is, what is there stays.
func (t *tenant) byKubernetes() bool {
	switch a, facts := t.spec.Access, t.recordFacts(); {
	case a != nil:
		return a.Kubernetes != nil
	case facts.Mount == "":
		return t.access.any()
	case facts.Access == nil:
		return false
	default:
		return facts.Access.Default == openbaov1alpha1.AccessKubernetes
	}
}

// usesOwnStore tells whether the ExternalSecret reads, or last read, through the Tenant's own store.
func (t *tenant) usesOwnStore() bool {
	return t.externalSecret != nil && t.access.store != nil &&
		t.externalSecret.Spec.SecretStoreRef.Kind == kindStore && t.externalSecret.Spec.SecretStoreRef.Name == t.access.store.Metadata.Name
}

// composeAccess adds what the record is read with, and decides through which store. Each step waits for the one before, and what is there
// stays until the ExternalSecret has read through another store.
func (t *tenant) composeAccess(s *state, resources map[string]composite.Resource) error {
	t.store = t.spec.SecretStoreRef
	wanted := t.byKubernetes()
	s.accessReady = !wanted && (t.spec.Access != nil || t.recordFacts().Mount != "")
	if !wanted && !t.access.any() {
		return nil
	}
	if !wanted && t.delivered() {
		// What is not composed any more goes.
		return nil
	}
	if err := t.composeChain(s, resources); err != nil {
		return err
	}
	if !wanted {
		return nil
	}

	own := v1alpha1.SecretStoreReference{Kind: kindStore, Name: t.names.storeObject}
	switch {
	case s.storeReady || t.usesOwnStore():
		t.store = own
	case t.externalSecret != nil:
		ref := t.externalSecret.Spec.SecretStoreRef
		t.store = v1alpha1.SecretStoreReference{Kind: ref.Kind, Name: ref.Name}
	}
	s.accessReady = s.storeReady && t.store == own
	return nil
}

// delivered tells whether the ExternalSecret has read through the store that the spec names.
func (t *tenant) delivered() bool {
	if t.externalSecret == nil {
		return true
	}
	ref := t.externalSecret.Spec.SecretStoreRef
	return ref.Kind == t.spec.SecretStoreRef.Kind && ref.Name == t.spec.SecretStoreRef.Name && t.delivery().Projection().Ready
}

// composeChain adds policy, role, ServiceAccount and store. Each is begun when the one before is ready; what is there stays, also when one before
// it has been deleted, because the ExternalSecret may read through it.
func (t *tenant) composeChain(s *state, resources map[string]composite.Resource) error {
	config := t.recordFacts().Access
	wanted := t.byKubernetes() && config != nil && t.exactPath()

	policy := kept(t.access.policy)
	if wanted && s.credentialReady {
		policy = t.wantedPolicy()
	}
	var err error
	if s.policyReady, err = add(t, resources, ResourcePolicy, kindPolicy, t.names.policyObject, policy, t.access.policy); err != nil {
		return err
	}

	role := kept(t.access.role)
	if wanted && s.policyReady {
		role = t.wantedRole(config)
	}
	asks := role
	if o := t.access.role; o != nil && role != nil && o.Spec.ForProvider.Backend != role.ForProvider.Backend {
		// A role cannot move to another auth method. What is not composed any more goes, and then it is made there.
		role = nil
	}
	if s.roleReady, err = add(t, resources, ResourceAuthRole, kindRole, t.names.roleObject, role, t.access.role); err != nil {
		return err
	}
	if err := t.composeAccount(resources, asks); err != nil {
		return err
	}

	store := kept(t.access.store)
	if wanted && s.roleReady {
		store = t.wantedStore(config)
	}
	if store == nil {
		return nil
	}
	manifest, err := render(t.subject, storeAPIVersion, kindStore, t.names.storeObject, nil, store)
	if err != nil {
		return err
	}
	held, err := composite.Carries(t.access.store, manifest, sameStore)
	if err != nil {
		return err
	}
	s.storeReady = held && s.roleReady && t.access.store.Status.ready()
	resources[ResourceStore] = composite.Resource{Manifest: manifest, Ready: s.storeReady}
	return nil
}

// composeAccount adds the ServiceAccount that is made for this alone, for as long as the role or the store names it.
func (t *tenant) composeAccount(resources map[string]composite.Resource, role *roleSpec) error {
	used := role != nil && len(role.ForProvider.ServiceAccountNames) == 1 && role.ForProvider.ServiceAccountNames[0] == t.names.accountObject
	if st := t.access.store; st != nil && st.Spec.Provider.Vault.Auth.Kubernetes.ServiceAccountRef.Name == t.names.accountObject {
		used = true
	}
	if !used {
		return nil
	}
	m, err := structpb.NewStruct(map[string]any{
		"apiVersion": "v1", "kind": kindAccount,
		"metadata": map[string]any{"namespace": t.subject.Namespace, "name": t.names.accountObject},
		// Nothing runs as it: External Secrets asks for a token when it logs in.
		"automountServiceAccountToken": false,
	})
	if err != nil {
		return fmt.Errorf("cannot render ServiceAccount: %w", err)
	}
	resources[ResourceAccount] = composite.Resource{Manifest: m, Ready: t.access.account != nil}
	return nil
}

// exactPath tells whether a policy can name the record and nothing else.
func (t *tenant) exactPath() bool {
	f := t.recordFacts()
	return exact.MatchString(f.Mount) && exact.MatchString(f.Path)
}

// ownToken is what External Secrets does with the token that it logs in for: it looks whether it is good, and gives it back.
const ownToken = `path "auth/token/lookup-self" {
  capabilities = ["read"]
}
path "auth/token/revoke-self" {
  capabilities = ["update"]
}
`

// wantedPolicy reads the record of this Tenant, its data and its metadata, and nothing else.
func (t *tenant) wantedPolicy() *policySpec {
	f := t.recordFacts()
	p := &policySpec{}
	for _, api := range []string{"data", "metadata"} {
		p.ForProvider.Policy += fmt.Sprintf("path %q {\n  capabilities = [\"read\"]\n}\n", f.Mount+"/"+api+"/"+f.Path)
	}
	p.ForProvider.Policy += ownToken
	p.ProviderConfigRef = t.baoConfig()
	return p
}

// wantedRole lets one ServiceAccount of this namespace log in, with the policy and nothing else.
func (t *tenant) wantedRole(c *openbaov1alpha1.AccessObservation) *roleSpec {
	r := &roleSpec{ProviderConfigRef: t.baoConfig()}
	r.ForProvider = roleParameters{
		Backend:                  c.Kubernetes.AuthPath,
		ServiceAccountNames:      []string{t.accountName()},
		ServiceAccountNamespaces: []string{t.subject.Namespace},
		Audience:                 c.Kubernetes.Audience,
		TokenTTL:                 c.Kubernetes.TokenTTLSeconds,
		TokenMaxTTL:              c.Kubernetes.TokenTTLSeconds,
		TokenPolicies:            []string{names.Access(t.subject.Namespace, t.subject.Name)},
		TokenNoDefaultPolicy:     true,
	}
	return r
}

// wantedStore logs in as the ServiceAccount.
func (t *tenant) wantedStore(c *openbaov1alpha1.AccessObservation) *storeSpec {
	s := &storeSpec{}
	v := &s.Provider.Vault
	v.Server, v.Namespace, v.Path, v.Version = c.Server, c.Namespace, t.recordFacts().Mount, "v2"
	if c.CABundle != "" {
		v.CABundle = base64.StdEncoding.EncodeToString([]byte(c.CABundle))
	}
	k := &v.Auth.Kubernetes
	k.MountPath, k.Role = c.Kubernetes.AuthPath, names.Access(t.subject.Namespace, t.subject.Name)
	k.ServiceAccountRef.Name, k.ServiceAccountRef.Audiences = t.accountName(), []string{c.Kubernetes.Audience}
	return s
}

// accountName is the ServiceAccount that the spec names, or the one that is made.
func (t *tenant) accountName() string {
	if a := t.spec.Access; a != nil && a.Kubernetes != nil && a.Kubernetes.ServiceAccountName != nil {
		return *a.Kubernetes.ServiceAccountName
	}
	return t.names.accountObject
}

func (t *tenant) baoConfig() configRef {
	return configRef{Kind: composite.ClusterProviderConfig, Name: t.spec.BaoRef.Name}
}

func sameStore(desired, observed *storeObject) bool {
	return equality.Semantic.DeepEqual(desired.Spec, observed.Spec)
}

// accessCondition is true when what the record is read with is set up as asked for.
func (t *tenant) accessCondition(s state) composite.Condition {
	const ct = v1alpha1.TypeAccessReady
	facts := t.recordFacts()
	no := func(reason, format string, args ...any) composite.Condition {
		c := composite.Waiting(ct, format, args...)
		c.Reason = reason
		return c
	}
	switch {
	case s.accessReady:
		return composite.Available(ct)
	case facts.Mount == "" && t.spec.Access == nil:
		return composite.Waiting(ct, messageUnknownAccess)
	case facts.Mount == "":
		return composite.Waiting(ct, messageNoAccess)
	case facts.Access == nil:
		return no(v1alpha1.ReasonAccessNotConfigured, "%s %q has no access: have an admin set spec.access there, or set spec.access.shared here.",
			composite.ClusterProviderConfig, t.spec.BaoRef.Name)
	case !t.exactPath():
		return no(v1alpha1.ReasonPathNotExact, "a policy cannot name the record %q alone: only letters, digits, and . _ / - are exact.", facts.Mount+"/"+facts.Path)
	case t.access.policy == nil:
		return composite.Waiting(ct, messageNoAccess)
	case !s.policyReady:
		return t.notYet(ct, "Policy", t.access.policy.Metadata.Name, answersOf(t.access.policy))
	case t.access.role == nil:
		return composite.Waiting(ct, messageNoAccess)
	case !s.roleReady:
		return t.notYet(ct, "KubernetesAuthRole", t.access.role.Metadata.Name, answersOf(t.access.role))
	case t.access.store == nil || !t.access.store.Status.said():
		return composite.Waiting(ct, messageNoAccess)
	case !t.access.store.Status.ready():
		return no(v1alpha1.ReasonStoreNotReady, "SecretStore %q is not Ready; its events say why. It logs in as ServiceAccount %q, which must exist, and tries again every few minutes.",
			t.access.store.Metadata.Name, t.accountName())
	}
	return composite.Waiting(ct, messageNoAccess)
}

// Messages of access that is being set up, and of access that nobody has said anything about yet.
const (
	messageNoAccess      = "Policy, role and store are made once the credential is stored, each after the one before."
	messageUnknownAccess = "How the record is read is the admin's default, which is known once the credential is stored."
)

// notYet says why an object of the chain is not ready.
func (t *tenant) notYet(ct, kind, name string, a composite.Answers) composite.Condition {
	who := fmt.Sprintf("%s %q", kind, name)
	// Synced first: why a create fails is told there, and Ready is Creating meanwhile.
	c := composite.First(ct, who, a, xpv2.TypeSynced, xpv2.TypeReady)
	switch c.Reason {
	case v1alpha1.ReasonAvailable, v1alpha1.ReasonWaiting, string(xpv2.ReasonCreating):
		return composite.Waiting(ct, messageNoAccess)
	}
	return c
}
