package runtime

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
)

// caSecret holds Crossplane's certificate authority.
const caSecret = "crossplane-root-ca"

// caKey is the key of a TLS Secret that holds the authority's certificate.
const caKey = "ca.crt"

// validity of certificates: longer than any local control plane lives. Nothing renews them, as in Crossplane.
const validity = 10 * 365 * 24 * time.Hour

// certificates are the folders of a package's certificates, as Secret volumes would be.
type certificates struct{ server, client string }

// ensureCertificates makes the TLS Secrets of the revision's package, names them in the revision's status, and writes them to folders.
// Both Secrets are shared by the revisions of a package, and named as Crossplane's own runtime names them.
func (r *reconciler) ensureCertificates(ctx context.Context, pr pkgv1.PackageRevisionWithRuntime) (*certificates, error) {
	parent := pr.GetLabels()[pkgv1.LabelParentPackage]
	server := pkgv1.GetSecretNameWithSuffix(parent, pkgv1.TLSServerSecretNameSuffix)
	serverDir, err := r.ensureCertificate(ctx, pr, *server, &x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	if err != nil {
		return nil, err
	}
	cl := pkgv1.GetSecretNameWithSuffix(parent, pkgv1.TLSClientSecretNameSuffix)
	clientDir, err := r.ensureCertificate(ctx, pr, *cl, &x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{pr.GetName()},
	})
	if err != nil {
		return nil, err
	}
	pr.SetObservedTLSServerSecretName(server)
	pr.SetObservedTLSClientSecretName(cl)
	return &certificates{server: serverDir, client: clientDir}, nil
}

// ensureCertificate makes one TLS Secret and returns the folder with its content.
func (r *reconciler) ensureCertificate(ctx context.Context, pr pkgv1.PackageRevisionWithRuntime, secret string, cert *x509.Certificate) (string, error) {
	s := &corev1.Secret{}
	s.SetNamespace(r.runtime.o.Namespace)
	s.SetName(secret)
	_, err := controllerutil.CreateOrUpdate(ctx, r.client, s, func() error {
		if len(s.Data[corev1.TLSCertKey]) == 0 {
			ca := &corev1.Secret{}
			if err := r.client.Get(ctx, types.NamespacedName{Namespace: r.runtime.o.Namespace, Name: caSecret}, ca); err != nil {
				return fmt.Errorf("cannot get certificate authority: %w", err)
			}
			data, err := sign(cert, ca.Data, time.Now())
			if err != nil {
				return err
			}
			s.Data = data
		}
		return controllerutil.SetOwnerReference(pr, s, r.client.Scheme())
	})
	if err != nil {
		return "", fmt.Errorf("cannot ensure TLS Secret %q: %w", client.ObjectKeyFromObject(s), err)
	}

	dir := filepath.Join(r.runtime.o.Dir, "tls", secret)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create certificate folder: %w", err)
	}
	for key, value := range s.Data {
		if err := os.WriteFile(filepath.Join(dir, key), value, 0o600); err != nil {
			return "", fmt.Errorf("cannot write certificate: %w", err)
		}
	}
	return dir, nil
}

// sign completes a certificate with a new key, signs it with an authority's TLS Secret, and returns the data of its own.
func sign(cert *x509.Certificate, authority map[string][]byte, now time.Time) (map[string][]byte, error) {
	ca, err := tls.X509KeyPair(authority[corev1.TLSCertKey], authority[corev1.TLSPrivateKeyKey])
	if err != nil {
		// What exactly is wrong with the pair may quote from it.
		return nil, errors.New("cannot use certificate authority: it holds no valid key pair")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot generate key: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode key: %w", err)
	}
	cert.Subject = pkix.Name{CommonName: "Crossplane"}
	cert.NotBefore, cert.NotAfter = now, now.Add(validity)
	cert.KeyUsage = x509.KeyUsageDigitalSignature
	cert.BasicConstraintsValid = true
	der, err := x509.CreateCertificate(rand.Reader, cert, ca.Leaf, key.Public(), ca.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("cannot sign certificate: %w", err)
	}
	return map[string][]byte{
		corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
		caKey:                   authority[corev1.TLSCertKey],
	}, nil
}
