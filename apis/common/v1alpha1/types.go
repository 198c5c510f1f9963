package v1alpha1

// A DeletionPolicy says what becomes of the external object when the object that manages it is deleted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionRetain leaves the external object, its data and its ownership record where they are. It is the default.
	DeletionRetain DeletionPolicy = "Retain"
	// DeletionDelete deletes the external object and its data for good. It takes effect only when managementPolicies allow Delete too.
	DeletionDelete DeletionPolicy = "Delete"
)

// A LocalSecretKeySelector selects one key of a Secret in the namespace of the object that holds it.
type LocalSecretKeySelector struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key in the Secret's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// A SecretKeySelector selects one key of a Secret in any namespace. Only cluster-scoped objects, which admins own, may hold one.
type SecretKeySelector struct {
	LocalSecretKeySelector `json:",inline"`

	// Namespace of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// A LocalSecretReference names a Secret in the namespace of the object that holds it.
type LocalSecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A SecretReference names a Secret in any namespace. Only cluster-scoped objects, which admins own, may hold one.
type SecretReference struct {
	LocalSecretReference `json:",inline"`

	// Namespace of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// AdoptionFromUnregistered is the From of an Adoption of something that no owner is recorded for.
const AdoptionFromUnregistered = "Unregistered"

// An AdoptionTarget is an admin's permission to take an existing external object over.
type AdoptionTarget struct {
	// From is the uid of the owner that is recorded for the external object, or Unregistered when there is no record. It guards
	// against taking over something other than what was looked at.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	From string `json:"from"`
	// To is the new owner as namespace/name: the Tenant, or the managed resource where no composite controls it.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=317
	To string `json:"to"`
	// Recreate allows to make an external object anew that is recorded as created but has vanished with its data.
	// +optional
	Recreate bool `json:"recreate,omitempty"`
}

// A ControlPlaneAdoption is an admin's permission to take over everything that was recorded by another control plane, for example
// the one that this one was restored from. Each record passes to the object of the same namespace and name.
type ControlPlaneAdoption struct {
	// From is the uid of the kube-system namespace of the other control plane.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	From string `json:"from"`
}
