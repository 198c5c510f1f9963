// Package names holds the rules by which the names of what a composite is composed of follow from its own namespace, name and uid.
//
// They are written into registries and records for good: a rule may be added for new Tenants, but what an existing Tenant was given
// stays. Distinct Tenants get distinct names: wherever a rule has to change a character or to shorten, a hash of what it started from
// is appended.
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// MaxIdentifier is the longest name that PostgreSQL keeps, in bytes: NAMEDATALEN - 1. It cuts longer ones silently.
	MaxIdentifier = 63
	// maxSubdomain is the longest name of most Kubernetes objects, see RFC 1123 and validation.DNS1123SubdomainMaxLength.
	maxSubdomain = 253
	// maxComposed keeps the names of composed resources usable as label values.
	maxComposed = 63
	// maxLabel is the longest name of a Service, see RFC 1035.
	maxLabel = 63
	// hashLength is how many hex digits tell two names apart that would be the same without.
	hashLength = 10
)

// Database is the default name of a Tenant's database: <namespace>_<name>, at most 63 bytes.
//
// Neither a namespace nor a name may hold an underscore. So a result without a hash has exactly one, and one with a hash has at least
// two: the two kinds never meet.
func Database(namespace, name string) string {
	plain := namespace + "_" + name
	folded := strings.NewReplacer("-", "_", ".", "_").Replace(plain)
	// PostgreSQL keeps role names that begin with pg_ for itself, and the owner is named like its database.
	reserved := strings.HasPrefix(folded, "pg_")
	if folded == plain && len(plain) <= MaxIdentifier && !reserved {
		return plain
	}

	prefix := ""
	if reserved {
		prefix = "tenant_"
	}
	suffix := "_" + hash(namespace, name)
	room := MaxIdentifier - len(prefix) - len(suffix)
	if len(folded) > room {
		// Both parts are cut, so that a person recognises both and the underscore between them stays.
		ns := folded[:min(len(namespace), room/2)]
		rest := folded[len(namespace):]
		folded = ns + rest[:min(len(rest), room-len(ns))]
	}
	return prefix + folded + suffix
}

// Path is the default path of a Tenant's record below the mount of the KV engine. Neither part may hold a slash.
func Path(namespace, name string) string {
	return "tenants/" + namespace + "/" + name
}

// Access is the name of the policy and of the role in OpenBao with which a Tenant's record is read. A namespace holds no dot, so no two Tenants
// have the same.
func Access(namespace, name string) string { return "tenants." + namespace + "." + name }

// ContractPath is the path of the record of a contract's Secret below the mount of the KV engine: one of the namespace's, by default with the
// contract's name. It is not among those of Tenants, which may have the same names.
func ContractPath(namespace, path string) string {
	return "contracts/" + namespace + "/" + path
}

// Secret is the default name of the Secret that a Tenant's credentials are delivered in.
func Secret(name string) string {
	const suffix = "-db"
	if len(name)+len(suffix) <= maxSubdomain {
		return name + suffix
	}
	// This ends in a dash and ten characters, which no name above does.
	return cut(name, maxSubdomain-hashLength-1) + "-" + hash(name)
}

// Composed is the name of a composed resource. It cannot be guessed before the composite exists, so nobody can put an object of their
// own there first, which Crossplane would take over.
func Composed(composite, uid, resource string) string {
	return cut(composite, maxComposed-hashLength-1) + "-" + hash(uid, resource)
}

// cut a name to a length, such that a dash may follow.
func cut(name string, length int) string {
	if len(name) > length {
		name = name[:length]
	}
	return strings.TrimRight(name, "-.")
}

// hash of parts, none of which may hold a slash.
func hash(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return hex.EncodeToString(h[:])[:hashLength]
}

// Service is the name of the Service of a TerdutServer: a label as RFC 1035 has it, which begins with a letter and holds no dot. It is the
// TerdutServer's own name wherever that is one.
func Service(name string) string {
	const prefix = "s-"
	folded := strings.ReplaceAll(name, ".", "-")
	if folded == name && len(name) <= maxLabel && name[0] >= 'a' && name[0] <= 'z' {
		return name
	}
	return cut(prefix+folded, maxLabel-hashLength-1) + "-" + hash(name)
}

// Readable is what the name of an object may hold of a name that people gave: a dash and its lower case letters and digits, or nothing.
func Readable(name string) string {
	kept := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if len(kept) == 0 {
		return ""
	}
	return "-" + strings.Join(kept, "-")
}
