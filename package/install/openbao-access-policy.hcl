# What the token of an openbao provider config needs besides openbao-policy.hcl to give Tenants access of their own: policies and roles whose
# names begin as those of this provider do, in the Kubernetes auth method mounted at kubernetes. Who may write policies and roles can read
# everything that OpenBao has, so this is for a provider whose managed resources app teams cannot write: see docs/security.md.
path "sys/policies/acl/tenants.*" {
  capabilities = ["create", "read", "update", "delete"]
}
path "sys/policies/acl/terdut.*" {
  capabilities = ["create", "read", "update", "delete"]
}
path "auth/kubernetes/role/tenants.*" {
  capabilities = ["create", "read", "update", "delete"]
}
path "auth/kubernetes/role/terdut.*" {
  capabilities = ["create", "read", "update", "delete"]
}
path "auth/approle/role/terdut.*" {
  capabilities = ["create", "read", "update", "delete"]
}
