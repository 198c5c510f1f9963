// Package crdschema stands in for a package that upjet reads the differences between the versions of an API with, to convert between them.
// The kinds here have one version, so there are no differences to read: what upjet needs to compile is named, and the rest of that package,
// with the libraries for OpenAPI that it brings, stays out of the provider.
package crdschema

import "slices"

// A ChangeType says how a field differs.
type ChangeType string

// Change types.
const (
	ChangeTypeFieldAdded   ChangeType = "field_added"
	ChangeTypeFieldDeleted ChangeType = "field_deleted"
	ChangeTypeTypeChanged  ChangeType = "type_changed"
)

type (
	// A ChangeReport is about all versions of a kind.
	ChangeReport struct {
		Versions map[string]*VersionChanges `json:"versions"`
	}
	// VersionChanges are between two versions.
	VersionChanges struct {
		OldVersion string         `json:"oldVersion"`
		NewVersion string         `json:"newVersion"`
		Changes    []SchemaChange `json:"changes"`
	}
	// A SchemaChange is of one field.
	SchemaChange struct {
		Path              string             `json:"path"`
		ChangeType        ChangeType         `json:"changeType"`
		TypeChangeDetails *TypeChangeDetails `json:"typeChangeDetails,omitempty"`
	}
	// TypeChangeDetails are the types that a field has no more, and has now.
	TypeChangeDetails struct {
		Added   []string `json:"added"`
		Deleted []string `json:"deleted"`
	}
)

// IsOfType is true when types are one type alone.
func IsOfType(types []string, t string) bool { return slices.Equal(types, []string{t}) }
