package postgresql

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
)

// TestH18TLS: the certificate and the name are verified unless less was asked for in so many words.
func TestH18TLS(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		authority := newAuthority(t)
		cases := map[string]struct {
			reason string
			mod    func(*Config)
			want   func(error) bool
			tls    bool
		}{
			"VerifyFull":  {reason: "The default works with the right CA and name.", mod: func(c *Config) {}, tls: true},
			"UnknownCA":   {reason: "The system's CAs did not sign it.", mod: func(c *Config) { c.CABundle = nil }, want: IsUntrusted},
			"OtherHost":   {reason: "The certificate is for another name, though the address is right.", mod: func(c *Config) { c.Host = "db.example.com" }, want: IsUntrusted},
			"AddressHost": {reason: "The certificate names the address.", mod: func(c *Config) { c.Host, c.HostAddr = "127.0.0.1", "" }, tls: true},
			"VerifyCA":    {reason: "The name does not matter.", mod: func(c *Config) { c.Host, c.SSLMode = "db.example.com", SSLVerifyCA }, tls: true},
			"VerifyCAUnknown": {reason: "The CA does.", mod: func(c *Config) { c.CABundle, c.SSLMode = nil, SSLVerifyCA },
				want: IsUntrusted},
			"Require":   {reason: "Encrypted, whoever it is.", mod: func(c *Config) { c.Host, c.CABundle, c.SSLMode = "db.example.com", nil, SSLRequire }, tls: true},
			"Disable":   {reason: "Only when it is said.", mod: func(c *Config) { c.SSLMode = SSLDisable }},
			"RequireCA": {reason: "With a CA it is verified.", mod: func(c *Config) { c.SSLMode = SSLRequire; c.CABundle = authority.pem }, want: IsUntrusted},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				i := open(t, pg.managers[admins], tc.mod)
				p, err := i.Probe(testContext(t))
				if tc.want != nil {
					if !tc.want(err) {
						t.Errorf("%s\ngot %v", tc.reason, err)
					}
					return
				}
				must(t, tc.reason, err)
				if got := p.TLSVersion != ""; got != tc.tls {
					t.Errorf("%s\nTLS: %t", tc.reason, got)
				}
			})
		}
		for name, mod := range map[string]func(*Config){
			"Prefer":   func(c *Config) { c.SSLMode = "prefer" },
			"NoPEM":    func(c *Config) { c.CABundle = []byte("x") },
			"HalfPair": func(c *Config) { c.ClientCert = c.CABundle },
			"Socket":   func(c *Config) { c.Host = "/var/run/postgresql" },
			"Template": func(c *Config) { c.Database = "template1" },
		} {
			t.Run(name, func(t *testing.T) {
				c := pg.managers[admins]
				mod(&c)
				if _, err := New(c); err == nil {
					t.Error("the configuration was accepted")
				}
			})
		}
	})
}

// TestH18NoTLSOffered: a server without TLS is not spoken to in plain, and nothing is sent to it.
func TestH18NoTLSOffered(t *testing.T) {
	ownOn(t, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		for _, mode := range []string{"", SSLRequire, SSLVerifyCA, SSLVerifyFull} {
			i := open(t, pg.managers[admins], func(c *Config) { c.SSLMode = mode })
			_, err := i.Probe(ctx)
			for _, err := range []error{err, i.CheckLogin(ctx, "terdut_admin", hostile, "postgres")} {
				if !IsUntrusted(err) || !strings.Contains(err.Error(), "does not offer TLS") {
					t.Errorf("mode %q: %v", mode, err)
				}
			}
		}
		if strings.Contains(pg.logText(t), "authorized: user=terdut_admin") {
			t.Error("somebody logged in")
		}
		must(t, "mode disable", func() error { _, err := open(t, pg.managers[admins]).Probe(ctx); return err }())
	}, func(o *postgres.Options) { o.TLS = false })
}

// TestH18RotatedCA: with the CA that a server had before, it is not trusted any more; with the new one, or with both, it is.
func TestH18RotatedCA(t *testing.T) {
	ownOn(t, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		cfg := pg.managers[admins]
		i := open(t, cfg)
		c := claim("rotated ca")
		must(t, "ensure", ensure(ctx, i, c, hostile))

		pg.Stop()
		must(t, "forget certificates", os.RemoveAll(filepath.Join(pg.Options.Dir, "tls")))
		o := pg.Options
		o.Port = pg.Port
		s, err := postgres.Start(ctx, o)
		must(t, "start", err)
		t.Cleanup(s.Stop)

		_, observe := i.Observe(ctx, c.Names)
		_, role := i.EnsureRole(ctx, c, anyRole)
		for _, err := range []error{observe, role, i.CheckLogin(ctx, c.Role, hostile, c.Database)} {
			if !IsUntrusted(err) || !strings.Contains(err.Error(), "certificate") {
				t.Errorf("want it untrusted, got %v", err)
			}
		}
		both := open(t, cfg, func(c *Config) { c.CABundle = append(append([]byte{}, c.CABundle...), s.CABundle...) })
		must(t, "both", ensure(ctx, both, c, hostile))
		next := open(t, cfg, func(c *Config) { c.CABundle = s.CABundle })
		must(t, "the new one", ensure(ctx, next, c, hostile))
		must(t, "remove", remove(ctx, next, c))
	})
}

// TestH18ClientCertificate: the management role logs in with its certificate, with or without a password beside; tenants do not have it.
func TestH18ClientCertificate(t *testing.T) {
	a := newAuthority(t)
	ownOn(t, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		file := filepath.Join(pg.Options.Dir, "clients.crt")
		must(t, "CA of the clients", os.WriteFile(file, a.pem, 0o644))
		pg.Options.Conf["ssl_ca_file"] = file
		hba := filepath.Join(pg.Options.Dir, "data", "pg_hba.conf")
		rules, err := os.ReadFile(hba)
		must(t, "rules", err)
		cfg := pg.managers[admins]
		cert, key := a.issue(t, cfg.Username)
		certified := func(c *Config) { c.ClientCert, c.ClientKey = cert, key }
		for name, rule := range map[string]string{"Alone": "cert", "BesidePassword": "scram-sha-256 clientcert=verify-full"} {
			t.Run(name, func(t *testing.T) {
				must(t, "rules", os.WriteFile(hba, append([]byte("hostssl all terdut_admin all "+rule+"\n"), rules...), 0o600))
				must(t, "restart", pg.Restart(ctx))
				i := open(t, cfg, certified)
				c := claim("certificate " + name)
				must(t, "ensure", ensure(ctx, i, c, hostile))
				session, err := i.acquire(ctx, login, c.Role, hostile, c.Database)
				must(t, "tenant session", err)
				const shown = "SELECT count(s.client_dn) FROM pg_stat_ssl s JOIN pg_stat_activity USING (pid) WHERE usename = $1"
				if tenants, ours := ask[int](t, pg, "postgres", shown, c.Role), ask[int](t, pg, "postgres", shown, cfg.Username); tenants != 0 || ours == 0 {
					t.Errorf("%d sessions of the tenant and %d of the management role show the management role's certificate", tenants, ours)
				}
				i.release(session)
				must(t, "remove", remove(ctx, i, c))
				if _, err := open(t, cfg).Probe(ctx); !IsLoginRejected(err) {
					t.Errorf("without a certificate: %v", err)
				}
				wrong, wrongKey := a.issue(t, "somebody")
				_, err = open(t, cfg, func(c *Config) { c.ClientCert, c.ClientKey = wrong, wrongKey }).Probe(ctx)
				if !IsLoginRejected(err) {
					t.Errorf("with somebody else's certificate: %v", err)
				}
			})
		}
	})
}

// An authority that signs certificates of clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, "key", err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, "CA", err)
	return authority{cert: template, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// issue a certificate for a role, with its key.
func (a authority) issue(t *testing.T, role string) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, "key", err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: role}, NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, k.Public(), a.key)
	must(t, "certificate", err)
	b, err := x509.MarshalPKCS8PrivateKey(k)
	must(t, "key", err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b})
}
