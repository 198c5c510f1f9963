package tenant

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// Kinds that give access. The Go types of the first two bring a Terraform provider with them, so what is owned of them is written out here.
const (
	accessAPIVersion = "access.openbao.terdut.ryuvia.com/v1alpha1"
	kindPolicy       = "Policy"
	kindRole         = "KubernetesAuthRole"
	kindAccount      = "ServiceAccount"
	storeAPIVersion  = "external-secrets.io/v1"
	kindStore        = "SecretStore"
)

type configRef struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// A policySpec is what we own of a Policy's spec.
type policySpec struct {
	ProviderConfigRef configRef `json:"providerConfigRef"`
	ForProvider       struct {
		Policy string `json:"policy"`
	} `json:"forProvider"`
}

// A roleSpec is what we own of a KubernetesAuthRole's spec.
type roleSpec struct {
	ProviderConfigRef configRef      `json:"providerConfigRef"`
	ForProvider       roleParameters `json:"forProvider"`
}

type roleParameters struct {
	Backend                  string   `json:"backend"`
	ServiceAccountNames      []string `json:"boundServiceAccountNames"`
	ServiceAccountNamespaces []string `json:"boundServiceAccountNamespaces"`
	Audience                 string   `json:"audience,omitempty"`
	TokenTTL                 int64    `json:"tokenTtl"`
	TokenMaxTTL              int64    `json:"tokenMaxTtl"`
	TokenPolicies            []string `json:"tokenPolicies"`
	TokenNoDefaultPolicy     bool     `json:"tokenNoDefaultPolicy"`
}

// A storeSpec is what we own of a SecretStore's spec.
type storeSpec struct {
	Provider struct {
		Vault struct {
			Server    string `json:"server"`
			Namespace string `json:"namespace,omitempty"`
			Path      string `json:"path"`
			Version   string `json:"version"`
			CABundle  string `json:"caBundle,omitempty"`
			Auth      struct {
				Kubernetes struct {
					MountPath         string `json:"mountPath"`
					Role              string `json:"role"`
					ServiceAccountRef struct {
						Name      string   `json:"name"`
						Audiences []string `json:"audiences"`
					} `json:"serviceAccountRef"`
				} `json:"kubernetes"`
			} `json:"auth"`
		} `json:"vault"`
	} `json:"provider"`
}

// A storeStatus is what we read of a SecretStore's status.
type storeStatus struct {
	Conditions []struct {
		Type   string                 `json:"type"`
		Status corev1.ConditionStatus `json:"status"`
	} `json:"conditions"`
}

func (s storeStatus) said() bool { return len(s.Conditions) > 0 }

func (s storeStatus) ready() bool {
	for _, c := range s.Conditions {
		if c.Type == "Ready" {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// managedStatus is what we read of the status of a managed resource.
type managedStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`
}

type (
	policyObject  = composite.Object[policySpec, managedStatus]
	roleObject    = composite.Object[roleSpec, managedStatus]
	accountObject = composite.Object[struct{}, struct{}]
	storeObject   = composite.Object[storeSpec, storeStatus]
)

// accessObjects are what gives access, as observed; nil when absent.
type accessObjects struct {
	policy  *policyObject
	role    *roleObject
	account *accountObject
	store   *storeObject
}

func (a accessObjects) any() bool {
	return a.policy != nil || a.role != nil || a.account != nil || a.store != nil
}

// observeAccess reads them.
func observeAccess(s composite.Subject, observed map[string]*structpb.Struct) (accessObjects, error) {
	a := accessObjects{}
	var err error
	if a.policy, err = composite.Observe[policySpec, managedStatus](s, observed, ResourcePolicy, kindPolicy); err != nil {
		return a, err
	}
	if a.role, err = composite.Observe[roleSpec, managedStatus](s, observed, ResourceAuthRole, kindRole); err != nil {
		return a, err
	}
	if a.account, err = composite.Observe[struct{}, struct{}](s, observed, ResourceAccount, kindAccount); err != nil {
		return a, err
	}
	a.store, err = composite.Observe[storeSpec, storeStatus](s, observed, ResourceStore, kindStore)
	return a, err
}

// kept is the spec that an observed object has, where nothing better is known.
func kept[Spec, Status any](o *composite.Object[Spec, Status]) *Spec {
	if o == nil {
		return nil
	}
	return &o.Spec
}

// answersOf a managed resource; there are none when it is absent.
func answersOf[Spec any](o *composite.Object[Spec, managedStatus]) composite.Answers {
	if o == nil {
		return composite.Answers{}
	}
	return composite.Answers{Generation: o.Metadata.Generation, Status: o.Status.ManagedResourceStatus}
}

func ready[Spec any](o *composite.Object[Spec, managedStatus]) bool {
	return answersOf(o).AreTrue(xpv2.TypeReady, xpv2.TypeSynced)
}

// add a managed resource that gives access, unless there is no spec for it. It tells whether the observed one holds what is desired and is ready.
func add[Spec any](t *tenant, resources map[string]composite.Resource, resource, kind, name string, spec *Spec, observed *composite.Object[Spec, managedStatus]) (bool, error) {
	if spec == nil {
		return false, nil
	}
	annotations := map[string]any{annotationExternalName: t.names.access}
	m, err := render(t.subject, accessAPIVersion, kind, name, annotations, spec)
	if err != nil {
		return false, err
	}
	held, err := composite.Carries(observed, m, func(desired, observed *composite.Object[Spec, managedStatus]) bool {
		return equality.Semantic.DeepEqual(desired.Spec, observed.Spec)
	})
	done := held && ready(observed)
	resources[resource] = composite.Resource{Manifest: m, Ready: done}
	return done, err
}

// render a manifest of what is owned of a spec.
func render(s composite.Subject, apiVersion, kind, name string, annotations map[string]any, spec any) (*structpb.Struct, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("cannot render %s %q: %w", kind, name, err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("cannot render %s %q: %w", kind, name, err)
	}
	return composite.Manifest(s, apiVersion, kind, name, annotations, fields)
}
