package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	certutil "k8s.io/client-go/util/cert"
)

// TestMetrics holds who can read metrics: anybody by default, as of every provider, and with a flag only who may, over TLS. There is never
// anything else beside them.
func TestMetrics(t *testing.T) {
	certs := t.TempDir()
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(certs, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type want struct {
		TLS, Filter, Failed bool
		CertDir             string
	}
	cases := map[string]struct {
		reason string
		cli    cli
		want   want
	}{
		"Default": {
			reason: "Crossplane annotates providers to be scraped without TLS and without a token.",
		},
		"Secure": {
			reason: "TLS never comes without authorization.",
			cli:    cli{MetricsSecure: true},
			want:   want{TLS: true, Filter: true},
		},
		"Certificate": {
			reason: "A certificate of the user's is served.",
			cli:    cli{MetricsSecure: true, MetricsCertDir: certs},
			want:   want{TLS: true, Filter: true, CertDir: certs},
		},
		"NoCertificate": {
			reason: "A certificate that is not there is not silently replaced.",
			cli:    cli{MetricsSecure: true, MetricsCertDir: t.TempDir()},
			want:   want{Failed: true},
		},
		"CertificateAlone": {
			reason: "Who gives a certificate expects TLS.",
			cli:    cli{MetricsCertDir: certs},
			want:   want{Failed: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.cli.MetricsAddress = "127.0.0.1:0"
			o, err := tc.cli.metrics()
			got := want{Failed: err != nil}
			if err == nil {
				got = want{TLS: o.SecureServing, Filter: o.FilterProvider != nil, CertDir: o.CertDir}
				if o.BindAddress != "127.0.0.1:0" || len(o.ExtraHandlers) > 0 {
					t.Errorf("metrics(): at %q with %d more handlers", o.BindAddress, len(o.ExtraHandlers))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nmetrics(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
