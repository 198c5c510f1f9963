// Package v1alpha1 holds the types that several API groups share. It has no kinds of its own.
//
// +kubebuilder:object:generate=true
package v1alpha1
