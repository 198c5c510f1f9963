package contract

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A pair is a certificate and its private key.
type pair struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func (p pair) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cert.Raw}))
}

func pkcs8(t testing.TB, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// issue makes a certificate that is valid from a day before to the given number of days after testNow.
func issue(t testing.TB, name string, issuer *pair, key crypto.Signer, ca bool, days int, hosts ...string) pair {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: ca, BasicConstraintsValid: true,
		NotBefore: testNow.Add(-100 * day), NotAfter: testNow.Add(time.Duration(days) * day), DNSNames: hosts,
		IPAddresses: []net.IP{net.ParseIP("10.0.0.1")},
	}
	if issuer == nil {
		issuer = &pair{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.cert, key.Public(), issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return pair{cert, key}
}

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestH51TLSMaterial: a pair that does not match, a chain in the wrong order and wrong dates are each named; what is right is accepted
// in every usual encoding.
func TestH51TLSMaterial(t *testing.T) {
	root := issue(t, "root", nil, ecKey(t), true, 1000)
	oldRoot := issue(t, "old root", nil, ecKey(t), true, -1)
	other := issue(t, "intermediate", &root, ecKey(t), true, 500)
	leaf := issue(t, "leaf", &other, ecKey(t), false, 90, "a.example", "*.b.example")
	fiveDays := issue(t, "leaf", &root, ecKey(t), false, 5)
	expired := issue(t, "leaf", &root, ecKey(t), false, -1)
	self := issue(t, "self", nil, ecKey(t), true, 30)
	stranger := pkcs8(t, ecKey(t))

	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaLeaf, edLeaf := issue(t, "rsa", &root, rsaKey, false, 90), issue(t, "ed", &root, edKey, false, 90)
	sec1DER, err := x509.MarshalECPrivateKey(leaf.key.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	sec1 := string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1DER}))
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)}))
	params := "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
	broken := "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"
	key := pkcs8(t, leaf.key)
	chain := leaf.pem() + other.pem() + root.pem()
	ca := &TLS{Use: TLSCA}

	cases := map[string]struct {
		reason    string
		crt, key  string
		tls       *TLS
		at        time.Time
		want      []Reason
		warnings  []Reason
		wantDays  int
		noEnd     bool
		noFindPEM bool
	}{
		"Chain":            {reason: "A chain with its key is accepted, EC in PKCS #8.", crt: chain, key: key, wantDays: 90},
		"LeafOnly":         {reason: "A leaf alone is accepted, EC in SEC 1.", crt: leaf.pem(), key: sec1, wantDays: 90},
		"Parameters":       {reason: "OpenSSL writes parameters before an EC key.", crt: leaf.pem(), key: params + sec1, wantDays: 90},
		"RSA":              {reason: "RSA in PKCS #1 is accepted.", crt: rsaLeaf.pem(), key: pkcs1, wantDays: 90},
		"RSAPKCS8":         {reason: "RSA in PKCS #8 is accepted.", crt: rsaLeaf.pem(), key: pkcs8(t, rsaKey), wantDays: 90},
		"Ed25519":          {reason: "Ed25519 is accepted.", crt: edLeaf.pem(), key: pkcs8(t, edKey), wantDays: 90},
		"SelfSigned":       {reason: "A server may show its own CA certificate.", crt: self.pem(), key: pkcs8(t, self.key), wantDays: 30},
		"Mismatch":         {reason: "Each half parses, the pair does not match.", crt: chain, key: stranger, want: []Reason{ReasonTLSPrivateKeyMismatch}, wantDays: 90},
		"MismatchKind":     {reason: "Nor does a key of another kind.", crt: chain, key: pkcs1, want: []Reason{ReasonTLSPrivateKeyMismatch}, wantDays: 90},
		"KeyMissing":       {reason: "A certificate without its key serves nobody.", crt: chain, want: []Reason{ReasonTLSPrivateKeyMissing}, wantDays: 90},
		"KeyJunk":          {reason: "What is no key is told apart from a wrong one.", crt: chain, key: "junk\n" + key, want: []Reason{ReasonTLSPrivateKeyInvalid}, wantDays: 90},
		"KeyEncrypted":     {reason: "An encrypted key cannot be used.", crt: chain, key: strings.ReplaceAll(key, "PRIVATE", "ENCRYPTED PRIVATE"), want: []Reason{ReasonTLSPrivateKeyInvalid}, wantDays: 90},
		"RootFirst":        {reason: "The leaf is first.", crt: root.pem() + other.pem() + leaf.pem(), key: key, want: []Reason{ReasonTLSLeafNotFirst}, wantDays: 90},
		"OtherLeafFirst":   {reason: "The certificate of the key is first.", crt: fiveDays.pem() + leaf.pem(), key: key, want: []Reason{ReasonTLSLeafNotFirst}, wantDays: 5},
		"OutOfOrder":       {reason: "Each certificate issued the one before.", crt: leaf.pem() + root.pem() + other.pem(), key: key, want: []Reason{ReasonTLSChainOutOfOrder}, wantDays: 90},
		"Expired":          {reason: "An expired leaf is one, also with a valid CA.", crt: expired.pem() + root.pem(), key: pkcs8(t, expired.key), want: []Reason{ReasonTLSExpired}, wantDays: -1},
		"NotYet":           {reason: "A certificate has a beginning.", crt: leaf.pem(), key: key, at: testNow.Add(-100*day - 1), want: []Reason{ReasonTLSNotYetValid}, wantDays: 190},
		"Beginning":        {reason: "At its beginning it is valid.", crt: leaf.pem(), key: key, at: testNow.Add(-100 * day), wantDays: 190},
		"End":              {reason: "At its end it still is.", crt: leaf.pem(), key: key, at: testNow.Add(90 * day), wantDays: 0},
		"AfterEnd":         {reason: "After it it is not.", crt: leaf.pem(), key: key, at: testNow.Add(90*day + 1), want: []Reason{ReasonTLSExpired}, wantDays: -1},
		"FiveDays":         {reason: "The end is warned of within the threshold.", crt: fiveDays.pem(), key: pkcs8(t, fiveDays.key), tls: &TLS{WarningDays: 5}, warnings: []Reason{ReasonTLSExpiresSoon}, wantDays: 5},
		"NotWarned":        {reason: "And not before.", crt: fiveDays.pem(), key: pkcs8(t, fiveDays.key), tls: &TLS{WarningDays: 4}, wantDays: 5},
		"Hosts":            {reason: "All host names are covered.", crt: chain, key: key, tls: &TLS{HostNames: []string{"a.example", "x.b.example", "*.b.example", "10.0.0.1"}}, wantDays: 90},
		"HostMismatch":     {reason: "A host name that is not covered is found, once.", crt: chain, key: key, tls: &TLS{HostNames: []string{"a.example", "c.example", "d.example"}}, want: []Reason{ReasonTLSHostNameMismatch}, wantDays: 90},
		"HostByName":       {reason: "The common name is no host name.", crt: chain, key: key, tls: &TLS{HostNames: []string{"leaf"}}, want: []Reason{ReasonTLSHostNameMismatch}, wantDays: 90},
		"KeyInside":        {reason: "A private key among the certificates is told.", crt: leaf.pem() + key, key: key, want: []Reason{ReasonTLSUnexpectedBlock}, noEnd: true},
		"BrokenDER":        {reason: "PEM may hold anything.", crt: leaf.pem() + broken, key: key, want: []Reason{ReasonTLSCertificateInvalid}, noEnd: true},
		"Junk":             {reason: "Junk around PEM is told by the format.", crt: "subject=leaf\n" + leaf.pem(), key: key, want: []Reason{ReasonInvalidPEM}, noEnd: true, noFindPEM: true},
		"Bundle":           {reason: "A bundle of CAs is in any order and has no key.", crt: root.pem() + self.pem() + other.pem(), tls: ca, wantDays: 1000},
		"BundleOld":        {reason: "One that ended is a warning beside one that did not.", crt: oldRoot.pem() + root.pem(), tls: ca, warnings: []Reason{ReasonTLSExpired}, wantDays: 1000},
		"BundleAllOld":     {reason: "There must be one that did not.", crt: oldRoot.pem(), tls: ca, want: []Reason{ReasonTLSExpired}, wantDays: -1},
		"BundleLeaf":       {reason: "A leaf is no CA.", crt: root.pem() + leaf.pem(), tls: ca, want: []Reason{ReasonTLSNotCA}, wantDays: 1000},
		"BundleWarning":    {reason: "The last end counts for the warning.", crt: self.pem(), tls: &TLS{Use: TLSCA, WarningDays: 30}, warnings: []Reason{ReasonTLSExpiresSoon}, wantDays: 30},
		"BundleNotWarning": {reason: "The last end counts for the warning.", crt: self.pem() + root.pem(), tls: &TLS{Use: TLSCA, WarningDays: 30}, wantDays: 1000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.at.IsZero() {
				tc.at = testNow
			}
			data := map[string][]byte{"tls.crt": []byte(tc.crt)}
			if tc.key != "" {
				data["tls.key"] = []byte(tc.key)
			}
			got := Evaluate([]Rule{{Name: "tls.crt", Format: FormatTLS, TLS: tc.tls}}, data, tc.at)

			rule := RuleTLS
			if tc.noFindPEM {
				rule = RuleFormat
			}
			list := func(reasons []Reason) []Violation {
				v := []Violation{}
				for _, r := range reasons {
					v = append(v, Violation{"tls.crt", rule, r})
				}
				return v
			}
			if diff := cmp.Diff(list(tc.want), got.Violations); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want violations, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(list(tc.warnings), got.Warnings); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want warnings, +got:\n%s", tc.reason, diff)
			}
			switch {
			case tc.noEnd && len(got.Certificates) > 0:
				t.Errorf("\n%s\nEvaluate(...): want no certificate, got %v", tc.reason, got.Certificates)
			case !tc.noEnd && (len(got.Certificates) != 1 || int(math.Floor(got.Certificates[0].NotAfter.Sub(tc.at).Hours()/24)) != tc.wantDays):
				t.Errorf("\n%s\nEvaluate(...): want %d days left, got %v", tc.reason, tc.wantDays, got.Certificates)
			}
		})
	}

	t.Run("NextChange", func(t *testing.T) {
		rules := []Rule{{Name: "tls.crt", Format: FormatTLS, TLS: &TLS{WarningDays: 10}}}
		data := map[string][]byte{"tls.crt": []byte(chain), "tls.key": []byte(key)}
		// From before its beginning to after its end, each answer names the moment of the next, and there it is another.
		moments := []time.Time{testNow.Add(-100 * day), testNow.Add(80 * day), testNow.Add(90*day + 1)}
		at := testNow.Add(-200 * day)
		for _, want := range moments {
			before := Evaluate(rules, data, at)
			if !before.NextChange.Equal(want) {
				t.Fatalf("at %s: want the next change at %s, got %s", at, want, before.NextChange)
			}
			justBefore, then := Evaluate(rules, data, want.Add(-1)), Evaluate(rules, data, want)
			if cmp.Equal(justBefore.Violations, then.Violations) && cmp.Equal(justBefore.Warnings, then.Warnings) {
				t.Errorf("at %s: want another answer", want)
			}
			at = want
		}
		// Then only the CAs that follow in the chain have an end.
		if got := Evaluate(rules, data, testNow.Add(2000*day)).NextChange; !got.IsZero() {
			t.Errorf("when all have ended nothing changes any more, got %s", got)
		}
	})

	t.Run("LargePrivateKey", func(t *testing.T) {
		huge := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: bytes.Repeat([]byte{0x30}, maxPrivateKeyBytes+1)}))
		if _, ok := publicKey([]byte(huge)); ok {
			t.Error("a private key of no sensible size must not be parsed")
		}
	})
}
