package tenant

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/equality"

	corev1 "k8s.io/api/core/v1"
)

const (
	externalSecretVersion = "external-secrets.io/v1"
	externalSecretKind    = "ExternalSecret"

	// annotationForceSync is not known to External Secrets: any change of an annotation makes it read the store again at once,
	// shouldRefreshPeriodic in its sources.
	annotationForceSync = "force-sync"
	// refreshInterval in the form that Go's durations are written in, which stays the same when External Secrets writes it back.
	refreshInterval = "1h0m0s"
)

// Messages of External Secrets v0.16, externalsecret_controller.go. The reason is the same for all failures. Why the store could not be read
// is told in events alone: one message stands for a store that is not ready, a server that does not answer or is sealed, a role that may not
// read the record, and a record that is not there.
const (
	messageReadFailed = "could not get secret data from provider"
	messageNotOwner   = "failed to take ownership of target secret"
	messageOwned      = "target is owned by another ExternalSecret"
	messageImmutable  = "could not update secret, target is immutable"
	// messageRetained is that of a success without a Secret: the store answered, with nothing.
	messageRetained = "secret retained due to DeletionPolicy=Retain"
)

// An externalSecretSpec is what we own of an ExternalSecret's spec. Where External Secrets has defaults they are written out, so that
// applying it again changes nothing.
type externalSecretSpec struct {
	SecretStoreRef struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"secretStoreRef"`
	RefreshInterval string `json:"refreshInterval"`
	Target          struct {
		Name           string `json:"name"`
		CreationPolicy string `json:"creationPolicy"`
		DeletionPolicy string `json:"deletionPolicy"`
	} `json:"target"`
	DataFrom []struct {
		Extract struct {
			Key                string `json:"key"`
			ConversionStrategy string `json:"conversionStrategy"`
			DecodingStrategy   string `json:"decodingStrategy"`
			MetadataPolicy     string `json:"metadataPolicy"`
		} `json:"extract"`
	} `json:"dataFrom"`
}

// path of the record that is read.
func (s externalSecretSpec) path() string {
	if len(s.DataFrom) == 0 {
		return ""
	}
	return s.DataFrom[0].Extract.Key
}

// An externalSecretStatus is what we read of an ExternalSecret's status.
type externalSecretStatus struct {
	// RefreshTime is set once the Secret was written.
	RefreshTime string `json:"refreshTime"`
	// SyncedResourceVersion begins with the generation that the Secret was last written for, and a dash.
	SyncedResourceVersion string `json:"syncedResourceVersion"`
	Conditions            []struct {
		Type    string                 `json:"type"`
		Status  corev1.ConditionStatus `json:"status"`
		Reason  string                 `json:"reason"`
		Message string                 `json:"message"`
	} `json:"conditions"`
}

// renderExternalSecret renders the ExternalSecret.
func (t *tenant) renderExternalSecret() (*structpb.Struct, error) {
	annotations := map[string]any{}
	if v := t.forceSync(); v != "" {
		annotations[annotationForceSync] = v
	}
	return t.manifest(externalSecretVersion, externalSecretKind, t.names.externalSecretObject, annotations, map[string]any{
		"secretStoreRef":  map[string]any{"kind": t.spec.SecretStoreRef.Kind, "name": t.spec.SecretStoreRef.Name},
		"refreshInterval": refreshInterval,
		"target":          map[string]any{"name": t.names.secret, "creationPolicy": "Owner", "deletionPolicy": "Retain"},
		"dataFrom": []any{map[string]any{"extract": map[string]any{
			"key": t.names.path, "conversionStrategy": "Default", "decodingStrategy": "None", "metadataPolicy": "None",
		}}},
	})
}

// forceSync is the value of the annotation that makes External Secrets read a new version of the record. The value it has is kept
// while the version is not known.
func (t *tenant) forceSync() string {
	if v := t.recordFacts().Version; v > 0 {
		return strconv.FormatInt(v, 10)
	}
	if t.externalSecret != nil {
		return t.externalSecret.Metadata.Annotations[annotationForceSync]
	}
	return ""
}

// sameExternalSecret compares what we own of two ExternalSecrets.
func sameExternalSecret(desired, observed *externalSecret) bool {
	return equality.Semantic.DeepEqual(desired.Spec, observed.Spec) &&
		desired.Metadata.Annotations[annotationForceSync] == observed.Metadata.Annotations[annotationForceSync]
}

// A projection is what External Secrets says of the Secret.
type projection struct {
	// ready is true when the Secret was written for the current generation.
	ready bool
	// written is true when the Secret was ever written.
	written bool
	status  corev1.ConditionStatus
	reason  string
	message string
}

// projection of the Secret.
func (t *tenant) projection() projection {
	if t.externalSecret == nil {
		return projection{}
	}
	m, s := t.externalSecret.Metadata, t.externalSecret.Status
	p := projection{written: s.RefreshTime != ""}
	for _, c := range s.Conditions {
		if c.Type == "Ready" {
			p.status, p.reason, p.message = c.Status, c.Reason, c.Message
		}
	}
	current := m.Generation > 0 && strings.HasPrefix(s.SyncedResourceVersion, strconv.FormatInt(m.Generation, 10)+"-")
	p.ready = p.status == corev1.ConditionTrue && p.message != messageRetained && current
	p.written = p.written || p.ready
	return p
}
