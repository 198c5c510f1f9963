package grants

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	packageruntime "github.com/ryuvia/provider-terdut/cluster/local/runtime"
)

// provider is the provider's process that the package runtime keeps running.
func provider(t *testing.T) packageruntime.Instance {
	t.Helper()
	var out packageruntime.Instance
	eventually(t, "provider to run", func(context.Context) error {
		for _, i := range p.Runtime.Instances() {
			if i.Package == product.Provider {
				out = i
				return nil
			}
		}
		return errors.New("it does not")
	})
	return out
}

// token of a new ServiceAccount, which may read metrics or may do nothing.
func token(t *testing.T, ns, name string, reads bool) string {
	t.Helper()
	if err := p.Client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}); err != nil {
		t.Fatal(err)
	}
	if reads {
		b := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: ns + "-" + name}}
		b.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "provider-terdut:metrics-reader"}
		b.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: name}}
		if err := p.Client.Create(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Client.Delete(context.Background(), b); err != nil {
				t.Errorf("cannot delete binding: %v", err)
			}
		})
	}
	cfg, err := p.Plane.ServiceAccountConfig(t.Context(), ns, name)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.BearerToken
}

// scraper makes a ServiceAccount that may read metrics, as docs/operations.md says, and returns its token.
func scraper(t *testing.T, ns string) string {
	t.Helper()
	if err := p.ApplyFile(t.Context(), filepath.Join("package", "install", "metrics.yaml")); err != nil {
		t.Fatal(err)
	}
	return token(t, ns, "prometheus", true)
}

// trusting is a client that trusts Crossplane's authority alone.
func trusting(t *testing.T) *http.Client {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(certificates, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatal("Crossplane's authority has no certificate")
	}
	// One connection for each question, so that the server that answers is the one that runs.
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
}

// get a page, with a token unless that is empty.
func get(ctx context.Context, c *http.Client, url, token string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	rsp, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = rsp.Body.Close() }() // It is only read.
	b, err := io.ReadAll(rsp.Body)
	return rsp.StatusCode, string(b), err
}

// TestMetricsAccess holds who can read the provider's metrics with --metrics-secure, and that nothing else is served beside them.
func TestMetricsAccess(t *testing.T) {
	ns := namespace(t)
	reader, other := scraper(t, ns), token(t, ns, "other", false)
	i, c := provider(t), trusting(t)
	url := "https://" + i.MetricsAddress
	eventually(t, "metrics to be served", func(ctx context.Context) error {
		code, _, err := get(ctx, c, url+"/metrics", reader)
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("status %d", code)
		}
		return err
	})
	for name, tc := range map[string]struct {
		reason      string
		path, token string
		want        int
	}{
		"NoToken":     {"Nobody reads metrics without saying who it is.", "/metrics", "", http.StatusUnauthorized},
		"WrongToken":  {"A token that the API server refuses is told from none: the API server's error is the answer's.", "/metrics", reader[:len(reader)-8] + "AAAAAAAA", http.StatusInternalServerError},
		"NoRight":     {"It is not enough to be known to the API server.", "/metrics", other, http.StatusForbidden},
		"Right":       {"Who may get /metrics reads them.", "/metrics", reader, http.StatusOK},
		"Profiles":    {"Profiles hold what went through memory.", "/debug/pprof/", reader, http.StatusNotFound},
		"Heap":        {"Profiles hold what went through memory.", "/debug/pprof/heap", reader, http.StatusNotFound},
		"CommandLine": {"Nor is there anything else of net/http/pprof.", "/debug/pprof/cmdline", reader, http.StatusNotFound},
		"Variables":   {"Nor what expvar publishes.", "/debug/vars", reader, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			code, page, err := get(t.Context(), c, url+tc.path, tc.token)
			if err != nil {
				t.Fatal(err)
			}
			if code != tc.want || strings.Contains(page, "leader_election_master_status") != (tc.want == http.StatusOK) {
				t.Errorf("\n%s\nGET %s: status %d, want %d, with %d bytes", tc.reason, tc.path, code, tc.want, len(page))
			}
		})
	}

	if code, _, err := get(t.Context(), http.DefaultClient, "http://"+i.MetricsAddress+"/metrics", reader); err == nil && code == http.StatusOK {
		t.Error("metrics are served without TLS")
	}
	unknown := (*tls.CertificateVerificationError)(nil)
	if _, _, err := get(t.Context(), http.DefaultClient, url+"/metrics", ""); !errors.As(err, &unknown) {
		t.Errorf("the certificate is not one of Crossplane's authority: %v", err)
	}

	// What is served without a token has no profiles either: the provider's health, and the functions' counts of calls on every path.
	pages := []string{"http://" + i.HealthAddress}
	for _, f := range p.Runtime.Instances() {
		if f.Package != product.Provider {
			pages = append(pages, "http://"+f.MetricsAddress)
		}
	}
	for _, at := range pages {
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/vars"} {
			code, page, err := get(t.Context(), http.DefaultClient, at+path, "")
			if err != nil {
				t.Fatal(err)
			}
			if code != http.StatusNotFound && !strings.HasPrefix(page, "# HELP") {
				t.Errorf("%s%s is served, with status %d", at, path, code)
			}
		}
	}
}

// TestContractMetrics holds that a contract has series while it is there, with what is found of it.
func TestContractMetrics(t *testing.T) {
	ns := namespace(t)
	reader, c := scraper(t, ns), trusting(t)
	tells := func(want bool, series string) {
		t.Helper()
		eventually(t, fmt.Sprintf("series %s to be told (%v)", series, want), func(ctx context.Context) error {
			code, page, err := get(ctx, c, "https://"+provider(t).MetricsAddress+"/metrics", reader)
			if err == nil && (code != http.StatusOK || strings.Contains(page, series) != want) {
				err = fmt.Errorf("it is not so, with status %d", code)
			}
			return err
		})
	}
	of := fmt.Sprintf(`{contract="orders",namespace=%q}`, ns)
	secret(t, ns, map[string]string{"username": "shop"})
	uid := contract(t, ns, "requiredKeys: [{name: username}, {name: password}]")
	tells(true, "secret_contract_ready"+of+" 0")
	grant(t, ns, "orders", uid, "required", "nonEmpty")
	tells(true, "secret_contract_missing_keys"+of+" 1")
	contract(t, ns, "requiredKeys: [{name: username}]")
	tells(true, "secret_contract_ready"+of+" 1")
	tells(true, "secret_contract_missing_keys"+of+" 0")

	old := &terdutv1alpha1.SecretContract{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders"}}
	if err := p.Client.Delete(t.Context(), old); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	tells(false, of)
}
