// Package v1alpha1 holds what says whether applications get the Secrets that they expect.
//
// +kubebuilder:object:generate=true
// +groupName=secrets.terdut.ryuvia.com
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Group and Version of this package's kinds.
const (
	Group   = "secrets.terdut.ryuvia.com"
	Version = "v1alpha1"
)

var (
	// SchemeGroupVersion is the API group and version of this package's kinds.
	SchemeGroupVersion = schema.GroupVersion{Group: Group, Version: Version}

	// SchemeBuilder registers this package's kinds.
	SchemeBuilder = &scheme.Builder{GroupVersion: SchemeGroupVersion}

	// AddToScheme adds this package's kinds to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
