package postgres

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificates makes a CA and a server certificate signed by it, unless the folder has them, and returns the CA certificate. The CA's
// key is forgotten.
func certificates(dir string, hosts []string, user *account) ([]byte, error) {
	if ca, err := os.ReadFile(filepath.Join(dir, "ca.crt")); err == nil {
		return ca, nil
	}
	if len(hosts) == 0 {
		hosts = []string{Host, HostAddr}
	}
	ca, cert, key, err := generate(hosts)
	if err != nil {
		return nil, fmt.Errorf("cannot make certificates: %w", err)
	}
	keyFile := filepath.Join(dir, "server.key")
	err = errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(keyFile, key, 0o600),
		user.own(keyFile),
		os.WriteFile(filepath.Join(dir, "server.crt"), cert, 0o644),
		os.WriteFile(filepath.Join(dir, "ca.crt"), ca, 0o644), // Last: it says that the others are complete.
	)
	if err != nil {
		return nil, fmt.Errorf("cannot keep certificates: %w", err)
	}
	return ca, nil
}

// generate returns the CA certificate, the server certificate and its key as PEM.
func generate(hosts []string) (ca, cert, key []byte, err error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	from, until := time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	caTemplate := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "local PostgreSQL CA"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: hosts[0]}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, h)
	}
	caDER, err := x509.CreateCertificate(rand.Reader, caTemplate, caTemplate, caKey.Public(), caKey)
	if err != nil {
		return nil, nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, caTemplate, serverKey.Public(), caKey)
	if err != nil {
		return nil, nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		return nil, nil, nil, err
	}
	block := func(t string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: t, Bytes: b}) }
	return block("CERTIFICATE", caDER), block("CERTIFICATE", der), block("PRIVATE KEY", keyDER), nil
}
