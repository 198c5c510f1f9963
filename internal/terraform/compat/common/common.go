// Package common stands in for a package of crossplane-runtime that went elsewhere with v2.3: its types are in
// github.com/crossplane/crossplane/apis/v2 now. upjet v2.4.1 still imports it under the old path, so this module gives the new types the old
// names. It is taken out, with the replacement in go.mod, when upjet has moved too.
package common

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Types that upjet uses.
type (
	SecretKeySelector = xpv2.SecretKeySelector
	SecretReference   = xpv2.SecretReference
)
