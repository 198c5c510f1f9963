package runtime

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

// authority returns the Secret data of a certificate authority.
func authority(t *testing.T) map[string][]byte {
	t.Helper()
	key, cert := selfSigned(t)
	return map[string][]byte{corev1.TLSPrivateKeyKey: key, corev1.TLSCertKey: cert}
}

// TestSign checks that two certificates of one authority accept each other.
func TestSign(t *testing.T) {
	ca := authority(t)
	pair := func(cert *x509.Certificate) (tls.Certificate, *x509.CertPool) {
		data, err := sign(cert, ca, time.Now())
		if err != nil {
			t.Fatalf("sign(...): %v", err)
		}
		c, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
		if err != nil {
			t.Fatalf("sign(...): data is no key pair: %v", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(data[caKey]) {
			t.Fatal("sign(...): data has no certificate of the authority")
		}
		return c, pool
	}
	server, pool := pair(&x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	cl, _ := pair(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, DNSNames: []string{"revision"}})

	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{server}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			served <- err
			return
		}
		_, err = fmt.Fprint(c, "hello")
		served <- errors.Join(err, c.Close())
	}()
	c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{Certificates: []tls.Certificate{cl}, RootCAs: pool, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatalf("tls.Dial(...): %v", err)
	}
	defer c.Close()
	if err := <-served; err != nil {
		t.Errorf("server: %v", err)
	}
}

func TestSignErrors(t *testing.T) {
	cases := map[string]struct {
		reason    string
		authority map[string][]byte
	}{
		"Empty":   {reason: "Crossplane has not filled the Secret of its authority yet."},
		"Invalid": {reason: "The Secret holds something else.", authority: map[string][]byte{corev1.TLSCertKey: []byte("x")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := sign(&x509.Certificate{}, tc.authority, time.Now()); err == nil {
				t.Errorf("\n%s\nsign(...): want an error", tc.reason)
			}
		})
	}
}

func TestPause(t *testing.T) {
	cases := map[string]struct {
		reason   string
		restarts int
		want     time.Duration
	}{
		"First":  {reason: "The first start after an end is at once.", restarts: 0, want: 0},
		"Second": {reason: "The second waits a little.", restarts: 1, want: time.Second},
		"Grows":  {reason: "Each further one waits twice as long.", restarts: 4, want: 8 * time.Second},
		"Bound":  {reason: "The pause does not grow for ever.", restarts: 1000, want: 30 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, pause(tc.restarts)); diff != "" {
				t.Errorf("\n%s\npause(%d): -want, +got:\n%s", tc.reason, tc.restarts, diff)
			}
		})
	}
}

// TestBackOff checks that a process that ends again and again is started again at once only the first time.
func TestBackOff(t *testing.T) {
	i := &instance{}
	run := func() {
		p, err := process.Start(process.Spec{Name: "true", Path: "/bin/true", LogFile: filepath.Join(t.TempDir(), "log")})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		i.proc, i.started = p, time.Now()
	}
	cases := []struct {
		reason string
		ago    time.Duration
		wait   bool
	}{
		{reason: "The first time it is started again at once."},
		{reason: "The second time it has to wait.", wait: true},
		{reason: "It may start when the pause is over.", ago: 2 * time.Second},
		{reason: "The next pause is longer.", ago: 1500 * time.Millisecond, wait: true},
		{reason: "A process that ran for long starts afresh.", ago: 2 * time.Minute},
	}
	if after := i.backOff(time.Now()); after != 0 {
		t.Errorf("backOff(...) of a process that never ran: want no pause, got %s", after)
	}
	for _, tc := range cases {
		run()
		if after := i.backOff(time.Now().Add(tc.ago)); (after > 0) != tc.wait {
			t.Errorf("\n%s\nbackOff(...): got %s", tc.reason, after)
		}
	}
}

func TestExtract(t *testing.T) {
	lower, err := crane.Layer(map[string][]byte{"usr/bin/tool": []byte("old"), "usr/bin/other": []byte("other")})
	if err != nil {
		t.Fatal(err)
	}
	upper, err := crane.Layer(map[string][]byte{"usr/bin/tool": []byte("new")})
	if err != nil {
		t.Fatal(err)
	}
	base, err := crane.Image(map[string][]byte{"package.yaml": []byte("kind: Function")})
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(base, lower, upper)
	if err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(t.TempDir(), "bin", "tool")
	if err := extract(img, "/usr/bin/tool", path); err != nil {
		t.Fatalf("extract(...): %v", err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("new", string(got)); diff != "" {
		t.Errorf("the file of the uppermost layer counts: -want, +got:\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fs.FileMode(0o755), info.Mode()); diff != "" {
		t.Errorf("mode: -want, +got:\n%s", diff)
	}
	if err := extract(img, "/usr/bin/none", path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("extract(...) of a file that the image does not have: want %v, got %v", os.ErrNotExist, err)
	}
}

// selfSigned returns key and certificate of an authority as Crossplane makes it: RSA, with the key in PKCS #1.
func selfSigned(t *testing.T) (key, cert []byte) {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Crossplane"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
