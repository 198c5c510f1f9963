package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// Generate says how a value is generated: once, and again only when the rotation trigger changes.
type Generate struct {
	// Length of the value in characters.
	// +optional
	// +kubebuilder:default=32
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=1024
	Length int32 `json:"length,omitempty"`
	// Symbols adds punctuation to letters and digits.
	// +optional
	Symbols bool `json:"symbols,omitempty"`
}

// A ValueSource is where a value is read from.
type ValueSource struct {
	// SecretKeyRef selects a key of a Secret of this namespace.
	SecretKeyRef commonv1alpha1.LocalSecretKeySelector `json:"secretKeyRef"`
}

// A DataItem is one key of a record and where its value comes from.
//
// +kubebuilder:validation:XValidation:rule="[has(self.value), has(self.generate), has(self.template), has(self.valueFrom)].filter(x, x).size() == 1",message="set exactly one of value, generate, template and valueFrom"
type DataItem struct {
	// Key in the record.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	Key string `json:"key"`
	// Value in clear text, for what is not secret.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Value *string `json:"value,omitempty"`
	// Generate a value.
	// +optional
	Generate *Generate `json:"generate,omitempty"`
	// Template of Go's text/template over the keys of this record that are not templates, for example
	// postgresql://{{ uriUser .username }}:{{ uriUser .password }}@db/shop. Functions: uriUser, uriPath, uriQuery, base64, toJson.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Template *string `json:"template,omitempty"`
	// ValueFrom reads the value from a Secret.
	// +optional
	ValueFrom *ValueSource `json:"valueFrom,omitempty"`
}

// Rotation of the generated values.
type Rotation struct {
	// Trigger is any string. Changing it generates every generated value anew, once, in one new version of the record.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._:-]*$`
	Trigger string `json:"trigger"`
}

// BaoSecretParameters are the desired state of a record.
//
// +kubebuilder:validation:XValidation:rule="has(self.mount) == has(oldSelf.mount)",message="mount is immutable"
type BaoSecretParameters struct {
	// Mount is the path of the KV version 2 engine. Default: the provider config's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="mount is immutable"
	// +kubebuilder:validation:XValidation:rule="self.split('/').all(s, s != '' && s != '.' && s != '..')",message="mount must not have empty, . or .. segments, nor a leading or trailing slash"
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	Mount *string `json:"mount,omitempty"`
	// Path of the record below the mount, without data/ or metadata/.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="path is immutable"
	// +kubebuilder:validation:XValidation:rule="self.split('/').all(s, s != '' && s != '.' && s != '..')",message="path must not have empty, . or .. segments, nor a leading or trailing slash"
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	Path string `json:"path"`
	// Data of the record. Keys of the record that are not listed here belong to others and are kept as they are.
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Data []DataItem `json:"data"`
	// MaxVersions of the record that are kept. Unset leaves it to the mount.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxVersions *int32 `json:"maxVersions,omitempty"`
	// DeletionPolicy says what becomes of the record when this object is deleted. Delete removes all versions and the metadata.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
	// Rotation of the generated values.
	// +optional
	Rotation *Rotation `json:"rotation,omitempty"`
}

// AccessObservation is what somebody needs to set up a store that reads a record.
type AccessObservation struct {
	Access `json:",inline"`

	// Server is the address that consumers are told.
	Server string `json:"server"`
	// Namespace of OpenBao that the record is in.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// CABundle is the PEM bundle of CA certificates that the server is verified with.
	// +optional
	CABundle string `json:"caBundle,omitempty"`
}

// BaoSecretObservation is the observed state of a record.
type BaoSecretObservation struct {
	// Version is the current version.
	// +optional
	Version int64 `json:"version,omitempty"`
	// CreatedTime of the current version.
	// +optional
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`
	// RotatedTime is when the last rotation's version was written.
	// +optional
	RotatedTime *metav1.Time `json:"rotatedTime,omitempty"`
	// RotationTrigger that the current generated values belong to.
	// +optional
	RotationTrigger string `json:"rotationTrigger,omitempty"`
	// Mount of the engine that the record is in.
	// +optional
	Mount string `json:"mount,omitempty"`
	// Path of the record below the mount.
	// +optional
	Path string `json:"path,omitempty"`
	// URL of the record in OpenBao's API, at the address that consumers are told. It holds no credential.
	// +optional
	URL string `json:"url,omitempty"`
	// Keys of the record that are managed here, sorted.
	// +optional
	// +listType=set
	Keys []string `json:"keys,omitempty"`
	// RecordedOwner as namespace/name (uid).
	// +optional
	RecordedOwner string `json:"recordedOwner,omitempty"`
	// DeletionPolicy in force.
	// +optional
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
	// Access is how the record may be read, when the provider config says.
	// +optional
	Access *AccessObservation `json:"access,omitempty"`
}

// RecordVersion tells what a record holds from all that it held before, as <seconds since 1970>/<version>: when its current version was written,
// 0 when that is not known, and the number. A record that is made anew, or restored from before a rotation, may get a number that it had.
func (o BaoSecretObservation) RecordVersion() string {
	written := int64(0)
	if t := o.CreatedTime; !t.IsZero() {
		written = t.Unix()
	}
	return fmt.Sprintf("%d/%d", written, o.Version)
}

// A BaoSecretSpec is the desired state of a BaoSecret.
type BaoSecretSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider BaoSecretParameters `json:"forProvider"`
}

// A BaoSecretStatus is the observed state of a BaoSecret.
type BaoSecretStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider BaoSecretObservation `json:"atProvider,omitempty"`
}

// A BaoSecret is a record of an OpenBao KV version 2 engine. Its external name is <mount>/<path>.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="RECORD-VERSION",type="integer",JSONPath=".status.atProvider.version"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,terdut}
type BaoSecret struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BaoSecretSpec   `json:"spec"`
	Status BaoSecretStatus `json:"status,omitempty"`
}

// BaoSecretList contains a list of BaoSecret.
//
// +kubebuilder:object:root=true
type BaoSecretList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []BaoSecret `json:"items"`
}

// BaoSecretKind is the kind's name.
const BaoSecretKind = "BaoSecret"

// BaoSecretGroupVersionKind identifies the kind.
var BaoSecretGroupVersionKind = SchemeGroupVersion.WithKind(BaoSecretKind)

func init() {
	SchemeBuilder.Register(&BaoSecret{}, &BaoSecretList{})
}
