package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Nothing here can hold a value of a Secret, its length or a hash of it, and nothing must be added that can.

// An ObservedSecret identifies the Secret that was read.
type ObservedSecret struct {
	// Name of the Secret.
	Name string `json:"name"`
	// UID of the Secret: one that is made anew has another.
	UID string `json:"uid"`
	// ResourceVersion that was read.
	ResourceVersion string `json:"resourceVersion"`
}

// A Finding about a key.
type Finding struct {
	// Key that it is about; empty when it is about the contract as a whole.
	// +optional
	Key string `json:"key,omitempty"`
	// Rule that it comes from.
	Rule string `json:"rule"`
	// Reason of it.
	Reason string `json:"reason"`
}

// A WorkloadFinding is one thing that keeps a workload from consuming the Secret.
type WorkloadFinding struct {
	// Path in the pod's specification.
	Path string `json:"path"`
	// Reason why it does not consume it as the contract asks.
	Reason string `json:"reason"`
}

// A WorkloadUse is one place where a pod template uses the Secret, in whatever form. It tells, and does not count.
type WorkloadUse struct {
	// Path in the pod's specification.
	Path string `json:"path"`
	// Form of the use: Env, EnvFrom, Volume, Projected, SubPath or ImagePullSecret.
	Form string `json:"form"`
	// NeedsRestart says that a pod which runs keeps what it started with when the Secret changes.
	// +optional
	NeedsRestart bool `json:"needsRestart,omitempty"`
	// Reasons to look at it: OptionalReferenceNotAllowed, KeyNotProjected, KeyNotPortable or KeyNotFound.
	// +optional
	Reasons []string `json:"reasons,omitempty"`
}

// A WorkloadStatus is what was found in one workload.
type WorkloadStatus struct {
	// APIVersion of the workload.
	APIVersion string `json:"apiVersion"`
	// Kind of the workload.
	Kind string `json:"kind"`
	// Name of the workload.
	Name string `json:"name"`
	// Configured says that every chosen container consumes the Secret as the contract asks.
	Configured bool `json:"configured"`
	// Reason why it is configured, or is not.
	Reason string `json:"reason"`
	// Containers that were looked at.
	// +optional
	Containers []string `json:"containers,omitempty"`
	// Findings in the pod template, by path: the first 8 of them.
	// +optional
	Findings []WorkloadFinding `json:"findings,omitempty"`
	// FindingCount is whole where the list is not.
	// +optional
	FindingCount int32 `json:"findingCount,omitempty"`
	// Uses of the Secret in all containers of the pod template, init and ephemeral ones too, and outside of them: the first 8, those with a
	// reason to look at them first, by path.
	// +optional
	Uses []WorkloadUse `json:"uses,omitempty"`
	// UseCount is whole where the list is not.
	// +optional
	UseCount int32 `json:"useCount,omitempty"`
}

// A CertificateStatus tells when a certificate ends.
type CertificateStatus struct {
	// Key of the Secret that holds the certificate.
	Key string `json:"key"`
	// NotAfter is when it ends.
	NotAfter metav1.Time `json:"notAfter"`
}

// ContractObservation is what the last evaluation of a contract found.
type ContractObservation struct {
	// ObservedSecret that was read.
	// +optional
	ObservedSecret *ObservedSecret `json:"observedSecret,omitempty"`
	// LastCheckedTime is when the findings were made. It does not move while they stay the same.
	// +optional
	LastCheckedTime *metav1.Time `json:"lastCheckedTime,omitempty"`
	// NextCheckTime is when time alone may change the findings.
	// +optional
	NextCheckTime *metav1.Time `json:"nextCheckTime,omitempty"`
	// MissingKeys are the required keys that do not exist, sorted.
	// +optional
	MissingKeys []string `json:"missingKeys,omitempty"`
	// Violations are all findings that make the contract fail, sorted; missing keys are among them.
	// +optional
	Violations []Finding `json:"violations,omitempty"`
	// Warnings do not make the contract fail.
	// +optional
	Warnings []Finding `json:"warnings,omitempty"`
	// Certificates of keys with format TLS.
	// +optional
	Certificates []CertificateStatus `json:"certificates,omitempty"`
	// MissingKeyCount is whole where the list is not.
	// +optional
	MissingKeyCount int32 `json:"missingKeyCount"`
	// ViolationCount is whole where the list is not.
	// +optional
	ViolationCount int32 `json:"violationCount"`
	// Truncated says that a list is shorter than its count, here or of a workload.
	// +optional
	Truncated bool `json:"truncated,omitempty"`
	// WorkloadStatuses, one for each workload of the contract.
	// +optional
	WorkloadStatuses []WorkloadStatus `json:"workloadStatuses,omitempty"`
	// CheckRequest that has been answered.
	// +optional
	CheckRequest string `json:"checkRequest,omitempty"`
}
