package contract

import (
	"net/netip"
	"strings"
)

const (
	defaultPrivateKey = "tls.key"

	// maxHostNames is how many host names one rule may ask for.
	maxHostNames = 32

	// maxWarningDays is how long before its end a certificate may begin to be warned of, in days.
	maxWarningDays = 3650
)

// A TLSUse is what certificates are for.
type TLSUse string

// Uses of certificates. The empty one is TLSServer.
const (
	// TLSServer is a certificate that a server shows: the leaf first, each certificate that follows the issuer of the one before, all of
	// them valid now, and a private key that belongs to the leaf. Whom clients trust is not looked at.
	TLSServer TLSUse = "Server"

	// TLSCA is a bundle of CA certificates that a client trusts, in any order. At least one must be valid now; that others are not is a
	// warning. There is no private key, and a certificate that is no CA's is accepted only if it is its own issuer.
	TLSCA TLSUse = "CA"
)

// TLS says more about a value of FormatTLS.
type TLS struct {
	// Use of the certificates. Empty means TLSServer.
	Use TLSUse

	// PrivateKey is the key of the same Secret with the private key: PKCS #1, PKCS #8 or SEC 1, not encrypted. Empty means tls.key.
	// TLSCA has none.
	PrivateKey string

	// HostNames that the leaf must be valid for, DNS names or IP addresses. A wildcard must be in the certificate as it is here. At most
	// 32; TLSCA has none.
	HostNames []string

	// WarningDays is how many days before its end a certificate is warned of. Zero means never.
	WarningDays int32
}

func (t *TLS) valid(name string) bool {
	if t.WarningDays < 0 || t.WarningDays > maxWarningDays {
		return false
	}
	switch t.Use {
	case TLSCA:
		return t.PrivateKey == "" && len(t.HostNames) == 0
	case "", TLSServer:
	default:
		return false
	}
	if t.PrivateKey != "" && (!ValidKey(t.PrivateKey) || t.PrivateKey == name) || len(t.HostNames) > maxHostNames {
		return false
	}
	for _, h := range t.HostNames {
		if !validHost(h) {
			return false
		}
	}
	return true
}

func validHost(h string) bool {
	if _, err := netip.ParseAddr(h); err == nil {
		return true
	}
	if h == "" || len(h) > maxKeyLength {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimPrefix(h, "*."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !letter(c) && !digit(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// privateKey returns the key that holds the private key that a rule is also about, or nothing.
func (r Rule) privateKey() string {
	switch {
	case r.Format != FormatTLS || r.TLS != nil && r.TLS.Use == TLSCA:
		return ""
	case r.TLS == nil || r.TLS.PrivateKey == "":
		return defaultPrivateKey
	default:
		return r.TLS.PrivateKey
	}
}
