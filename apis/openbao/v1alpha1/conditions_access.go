package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// ReasonExternalNameChanged is one that Policy, KubernetesAuthRole and AppRole have beside those of a BaoSecret: the external name was changed,
// and what was made under the one before is still there.
const ReasonExternalNameChanged xpv2.ConditionReason = "ExternalNameChanged"
