package main

import (
	"slices"

	kubernetes "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/credential/approle"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
)

// builtins is the catalog of the engines compiled into this server. The server resolves a mount's type through it.
type builtins struct{}

func factories(t consts.PluginType) map[string]logical.Factory {
	switch t {
	case consts.PluginTypeSecrets:
		return map[string]logical.Factory{"kv": kv.Factory}
	case consts.PluginTypeCredential:
		return map[string]logical.Factory{"approle": approle.Factory, "kubernetes": kubernetes.Factory}
	default:
		return nil
	}
}

// Contains tells whether an engine is compiled in.
func (builtins) Contains(name string, t consts.PluginType) bool {
	_, ok := factories(t)[name]
	return ok
}

// Get returns what makes the factory of an engine.
func (builtins) Get(name string, t consts.PluginType) (func() (any, error), bool) {
	f, ok := factories(t)[name]
	return func() (any, error) { return f, nil }, ok
}

// Keys lists the engines of a type.
func (builtins) Keys(t consts.PluginType) []string {
	var names []string
	for name := range factories(t) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// DeprecationStatus says that every engine here is supported.
func (b builtins) DeprecationStatus(name string, t consts.PluginType) (consts.DeprecationStatus, bool) {
	if !b.Contains(name, t) {
		return consts.Unknown, false
	}
	return consts.Supported, true
}
