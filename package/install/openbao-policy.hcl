# What the token of an openbao provider config needs, for the KV version 2 engine mounted at kv. Restrict the paths further where the
# records of this provider have a prefix of their own.
path "kv/data/*" {
  capabilities = ["create", "read", "update"]
}
path "kv/metadata/*" {
  capabilities = ["create", "read", "update", "delete"]
}
