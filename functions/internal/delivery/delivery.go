// Package delivery is how a composite has External Secrets deliver a record of OpenBao as a Secret, and what it says of that: the
// ExternalSecret with which a composition function asks, and the condition that its answer makes.
package delivery

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"k8s.io/apimachinery/pkg/api/equality"

	corev1 "k8s.io/api/core/v1"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// What is composed.
const (
	APIVersion = "external-secrets.io/v1"
	Kind       = "ExternalSecret"
)

// annotationCreated of an ExternalSecret is when the version of the record that it delivers was written.
const annotationCreated = "terdut.ryuvia.com/record-created"

// refreshInterval in the form that Go's durations are written in, which stays the same when External Secrets writes it back.
const refreshInterval = "1h0m0s"

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

// An ExternalSecret as observed.
type ExternalSecret = composite.Object[Spec, Status]

// A Spec is what we own of an ExternalSecret's spec. Where External Secrets has defaults they are written out, so that applying it again
// changes nothing.
type Spec struct {
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
			Version            string `json:"version,omitempty"`
			ConversionStrategy string `json:"conversionStrategy"`
			DecodingStrategy   string `json:"decodingStrategy"`
			MetadataPolicy     string `json:"metadataPolicy"`
		} `json:"extract"`
	} `json:"dataFrom"`
}

// Path of the record that is read.
func (s Spec) Path() string {
	if len(s.DataFrom) == 0 {
		return ""
	}
	return s.DataFrom[0].Extract.Key
}

// Version of the record that is read, empty for the newest.
func (s Spec) Version() string {
	if len(s.DataFrom) == 0 {
		return ""
	}
	return s.DataFrom[0].Extract.Version
}

// A Status is what we read of an ExternalSecret's status.
type Status struct {
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

// A Delivery is of a record, as a Secret.
type Delivery struct {
	Store v1alpha1.SecretStoreReference
	// Config is the ClusterProviderConfig of the OpenBao server that the record is on.
	Config string
	// Path of the record below the mount.
	Path string
	// Version of the record, empty while none is known. A new one is a new generation of the ExternalSecret: External Secrets reads the store
	// at once, and what it says is not about the one before.
	Version string
	// Created is when that version was written, empty while that is not known. A record that is made anew may get the number that it had, and
	// External Secrets reads the store at once also when only an annotation changes.
	Created string
	Secret  string
	// IfTaken says what to do when the Secret belongs to something else.
	IfTaken string
	// Observed ExternalSecret, nil when there is none.
	Observed *ExternalSecret
}

// Spec of the ExternalSecret.
func (d Delivery) Spec() map[string]any {
	extract := map[string]any{"key": d.Path, "conversionStrategy": "Default", "decodingStrategy": "None", "metadataPolicy": "None"}
	if d.Version != "" {
		extract["version"] = d.Version
	}
	return map[string]any{
		"secretStoreRef":  map[string]any{"kind": d.Store.Kind, "name": d.Store.Name},
		"refreshInterval": refreshInterval,
		"target":          map[string]any{"name": d.Secret, "creationPolicy": "Owner", "deletionPolicy": "Retain"},
		"dataFrom":        []any{map[string]any{"extract": extract}},
	}
}

// Manifest of the ExternalSecret.
func (d Delivery) Manifest(s composite.Subject, name string) (*structpb.Struct, error) {
	annotations := map[string]any{}
	if d.Created != "" {
		annotations[annotationCreated] = d.Created
	}
	return composite.Manifest(s, APIVersion, Kind, name, annotations, d.Spec())
}

// At pins what is known of the record. As long as that is nothing, what is delivered now stays.
func (d Delivery) At(record openbaov1alpha1.BaoSecretObservation) Delivery {
	if d.Observed != nil {
		d.Version, d.Created = d.Observed.Spec.Version(), d.Observed.Metadata.Annotations[annotationCreated]
	}
	if record.Version > 0 {
		d.Version = strconv.FormatInt(record.Version, 10)
	}
	if t := record.CreatedTime; !t.IsZero() && !d.deliveredSince(t.Time) {
		d.Created = t.UTC().Format(time.RFC3339)
	}
	return d
}

// deliveredSince tells of an ExternalSecret that says nothing of a time whether it was read since then. To say so now would change the Secret, which
// has External Secrets' annotations too, and who looks at its version would take it for another password.
func (d Delivery) deliveredSince(written time.Time) bool {
	if d.Observed == nil || d.Created != "" || d.Observed.Spec.Version() != d.Version {
		return false
	}
	return !composite.Time(d.Observed.Status.RefreshTime).Before(written)
}

// Same compares what we own of two ExternalSecrets.
func Same(desired, observed *ExternalSecret) bool {
	return equality.Semantic.DeepEqual(desired.Spec, observed.Spec)
}

// A Projection is what External Secrets says of the Secret.
type Projection struct {
	// Ready is true when the Secret was written for the current generation.
	Ready bool
	// Written is true when the Secret was ever written.
	Written bool

	status  corev1.ConditionStatus
	message string
}

// Said is true once External Secrets has said anything.
func (p Projection) Said() bool { return p.status != "" }

// Projection of the Secret.
func (d Delivery) Projection() Projection {
	if d.Observed == nil {
		return Projection{}
	}
	m, s := d.Observed.Metadata, d.Observed.Status
	p := Projection{Written: s.RefreshTime != ""}
	for _, c := range s.Conditions {
		if c.Type == "Ready" {
			p.status, p.message = c.Status, c.Message
		}
	}
	current := m.Generation > 0 && strings.HasPrefix(s.SyncedResourceVersion, strconv.FormatInt(m.Generation, 10)+"-")
	p.Ready = p.status == corev1.ConditionTrue && p.message != messageRetained && current
	p.Written = p.Written || p.Ready
	return p
}

// Undelivered is the condition of a Secret that is not delivered. There must be an ExternalSecret.
func (d Delivery) Undelivered(conditionType string) composite.Condition {
	p := d.Projection()
	who := fmt.Sprintf("%s %q", Kind, d.Observed.Metadata.Name)
	no := func(reason, format string, args ...any) composite.Condition {
		return composite.Condition{Type: conditionType, Status: corev1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case p.status == corev1.ConditionTrue && p.message == messageRetained:
		return no(v1alpha1.ReasonSyncFailed, "%s found the record %q empty. %s", d.store(), d.Path, d.storeAdvice())
	case p.status != corev1.ConditionFalse:
		return composite.Waiting(conditionType, "External Secrets has not delivered %s with its current spec yet.", who)
	case p.message == messageNotOwner || p.message == messageOwned:
		return no(v1alpha1.ReasonConflict, "Secret %q belongs to something else: %s", d.Secret, d.IfTaken)
	case p.message == messageImmutable:
		return no(v1alpha1.ReasonSecretImmutable, "Secret %q is immutable: delete it, and External Secrets makes it anew.", d.Secret)
	case p.message == messageReadFailed:
		return no(v1alpha1.ReasonSyncFailed, "%s cannot read the record %q now. %s", d.store(), d.Path, d.storeAdvice())
	}
	return no(v1alpha1.ReasonSyncFailed, "%s: %s. It tries again; its events say why.", who, p.message)
}

// store that External Secrets reads from.
func (d Delivery) store() string { return fmt.Sprintf("%s %q", d.Store.Kind, d.Store.Name) }

// storeAdvice is what to look at when External Secrets does not get the record.
func (d Delivery) storeAdvice() string {
	return fmt.Sprintf("It tries again. If that does not help, the events of ExternalSecret %q say why: the store must be Ready and read from the server, "+
		"namespace and mount of %s %q, with a role that may read this path.", d.Observed.Metadata.Name, composite.ClusterProviderConfig, d.Config)
}
