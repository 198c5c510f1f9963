package contract

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"
)

const (
	// maxCertificates is how many certificates one value may have, maxCertificateBytes and maxPrivateKeyBytes how large the DER of one
	// may be. What is larger is not parsed: the work to check a key grows much faster than its size, and an RSA key of 8,192 bits, the
	// largest that Go's TLS takes, has less than 5 KiB.
	maxCertificates     = 1024
	maxCertificateBytes = 64 << 10
	maxPrivateKeyBytes  = 8 << 10

	day = 24 * time.Hour
)

// tls judges a value that is PEM; one that is not has its finding already.
func (f *findings) tls(r Rule, value []byte, readable, data map[string][]byte, now time.Time) {
	blocks, ok := parsePEM(value)
	if !ok {
		return
	}
	certs, reason := parseCertificates(blocks)
	if reason != ReasonNone {
		f.violation(r.Name, RuleTLS, reason)
		return
	}

	options := TLS{}
	if r.TLS != nil {
		options = *r.TLS
	}
	if options.Use == TLSCA {
		f.authorities(r.Name, certs, options, now)
		return
	}

	reason = ReasonTLSPrivateKeyMissing
	if key, ok := readable[r.privateKey()]; ok {
		reason = matchKey(certs, key)
	} else if _, ok := data[r.privateKey()]; ok {
		reason = ReasonNone // It is too large, which is a finding already.
	}
	if reason != ReasonNone {
		f.violation(r.Name, RuleTLS, reason)
	}
	f.chain(r.Name, certs, options, now, reason != ReasonTLSLeafNotFirst)
}

func parseCertificates(blocks []*pem.Block) ([]*x509.Certificate, Reason) {
	if len(blocks) > maxCertificates {
		return nil, ReasonTLSCertificateInvalid
	}
	certs := make([]*x509.Certificate, 0, len(blocks))
	for _, b := range blocks {
		if b.Type != "CERTIFICATE" {
			return nil, ReasonTLSUnexpectedBlock
		}
		if len(b.Bytes) > maxCertificateBytes {
			return nil, ReasonTLSCertificateInvalid
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, ReasonTLSCertificateInvalid
		}
		certs = append(certs, c)
	}
	return certs, ReasonNone
}

// chain judges what a server shows. When the leaf is not first then nothing can be said of the order and the host names.
func (f *findings) chain(key string, certs []*x509.Certificate, options TLS, now time.Time, leafFirst bool) {
	leaf := certs[0]
	end := leaf.NotAfter
	for _, c := range certs {
		if c.NotAfter.Before(end) {
			end = c.NotAfter
		}
		if reason := validity(c, now); reason != ReasonNone {
			f.violation(key, RuleTLS, reason)
		}
		f.changesAt(c.NotBefore, now)
		f.changesAt(afterEnd(c.NotAfter), now)
	}
	f.ends(key, end, options, now)

	if leaf.IsCA && slices.ContainsFunc(certs, func(c *x509.Certificate) bool { return !c.IsCA }) {
		f.violation(key, RuleTLS, ReasonTLSLeafNotFirst)
		leafFirst = false
	}
	if !leafFirst {
		return
	}
	for i := 1; i < len(certs); i++ {
		if !bytes.Equal(certs[i-1].RawIssuer, certs[i].RawSubject) {
			f.violation(key, RuleTLS, ReasonTLSChainOutOfOrder)
		}
	}
	for _, host := range options.HostNames {
		if leaf.VerifyHostname(host) != nil {
			f.violation(key, RuleTLS, ReasonTLSHostNameMismatch)
		}
	}
}

// authorities judges what a client trusts.
func (f *findings) authorities(key string, certs []*x509.Certificate, options TLS, now time.Time) {
	end := certs[0].NotAfter
	var invalid []Reason
	for _, c := range certs {
		if c.NotAfter.After(end) {
			end = c.NotAfter
		}
		if reason := validity(c, now); reason != ReasonNone {
			invalid = append(invalid, reason)
		}
		f.changesAt(c.NotBefore, now)
		f.changesAt(afterEnd(c.NotAfter), now)
		if !c.IsCA && !bytes.Equal(c.RawIssuer, c.RawSubject) {
			f.violation(key, RuleTLS, ReasonTLSNotCA)
		}
	}
	report := f.warning
	if len(invalid) == len(certs) {
		report = f.violation
	}
	for _, reason := range invalid {
		report(key, RuleTLS, reason)
	}
	f.ends(key, end, options, now)
}

// ends tells when the value ends, and warns of it.
func (f *findings) ends(key string, end time.Time, options TLS, now time.Time) {
	left := end.Sub(now)
	f.certificates = append(f.certificates, Certificate{Key: key, NotAfter: end.UTC()})

	if options.WarningDays > 0 {
		warning := time.Duration(options.WarningDays) * day
		if left >= 0 && left <= warning {
			f.warning(key, RuleTLS, ReasonTLSExpiresSoon)
		}
		f.changesAt(end.Add(-warning), now)
	}
}

// changesAt notes a moment at which the result may be another.
func (f *findings) changesAt(t, now time.Time) {
	if t.After(now) && (f.nextChange.IsZero() || t.Before(f.nextChange)) {
		f.nextChange = t.UTC()
	}
}

// afterEnd returns the first moment at which a certificate is not valid any more: at its end it still is.
func afterEnd(notAfter time.Time) time.Time { return notAfter.Add(time.Nanosecond) }

func validity(c *x509.Certificate, now time.Time) Reason {
	switch {
	case now.Before(c.NotBefore):
		return ReasonTLSNotYetValid
	case now.After(c.NotAfter):
		return ReasonTLSExpired
	default:
		return ReasonNone
	}
}

// matchKey says whether the private key belongs to the first certificate.
func matchKey(certs []*x509.Certificate, value []byte) Reason {
	public, ok := publicKey(value)
	if !ok {
		return ReasonTLSPrivateKeyInvalid
	}
	for i, c := range certs {
		if certified, ok := c.PublicKey.(interface{ Equal(x crypto.PublicKey) bool }); ok && certified.Equal(public) {
			if i > 0 {
				return ReasonTLSLeafNotFirst
			}
			return ReasonNone
		}
	}
	return ReasonTLSPrivateKeyMismatch
}

// publicKey returns the public half of a private key in PEM. The parameters that OpenSSL writes before an EC key may be there too.
func publicKey(value []byte) (crypto.PublicKey, bool) {
	blocks, ok := parsePEM(value)
	if ok && len(blocks) == 2 && blocks[0].Type == "EC PARAMETERS" {
		blocks = blocks[1:]
	}
	if !ok || len(blocks) != 1 || len(blocks[0].Bytes) > maxPrivateKeyBytes || len(blocks[0].Headers) > 0 {
		return nil, false
	}

	var private any
	var err error
	switch der := blocks[0].Bytes; blocks[0].Type {
	case "RSA PRIVATE KEY":
		private, err = x509.ParsePKCS1PrivateKey(der)
	case "EC PRIVATE KEY":
		private, err = x509.ParseECPrivateKey(der)
	case "PRIVATE KEY":
		private, err = x509.ParsePKCS8PrivateKey(der)
	}
	signer, ok := private.(crypto.Signer)
	if err != nil || !ok {
		return nil, false
	}
	return signer.Public(), true
}
