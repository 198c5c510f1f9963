package images

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// certificatesFile is where Go programs look for the certificates of authorities first on Linux, see crypto/x509. Who mounts a file there
// replaces them.
const certificatesFile = "etc/ssl/certs/ca-certificates.crt"

// certificates of the authorities that Mozilla's programs trust, in PEM. They come from a module and not from this machine, so that an image
// is the same wherever it is built. Authorities that are trusted for a part of their certificates only are left out: a file cannot say so.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // Writing to memory never fails.
		}
	}
	return out.Bytes()
}
