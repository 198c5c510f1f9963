package terdut_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
)

// TestH37Redirects holds that no redirect is followed, wherever it points to, that nobody else gets the key, and that the error says where it
// points to.
func TestH37Redirects(t *testing.T) {
	var elsewhere seen
	record := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.add(r)
		_, _ = io.WriteString(w, `{"id":1}`)
	})
	plain, secure := httptest.NewServer(record), httptest.NewTLSServer(record)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(plain.URL, "http://"))
	ca := func(c *terdut.Config) {
		c.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	}

	cases := map[string]struct {
		reason string
		to     string
		want   string
	}{
		"ToHTTPS":     {"To https", secure.URL + "/api/teams", secure.URL + "/api/teams"},
		"OtherHost":   {"To another host", "http://localhost:" + port + "/api/teams", "http://localhost:" + port + "/api/teams"},
		"OtherPort":   {"To another port", plain.URL + "/x", plain.URL + "/x"},
		"WithSecrets": {"With what may be a secret", "https://u:p@h.example/login?token=" + string(sentinel) + "#f", "https://h.example/login"},
		"Relative":    {"To the same server", "/login?next=x", "/login"},
		"Nowhere":     {"Without saying where to", "", ""},
	}
	for name, tc := range cases {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for verb, call := range verbs {
				n := 0
				c := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
					n++
					if tc.to != "" {
						w.Header().Set("Location", tc.to)
					}
					w.WriteHeader(status)
				}, ca)
				err := call(testContext(t), c)
				wants(t, name+" "+verb, err, terdut.ReasonNotAPI)
				if n != 1 || terdut.IsUncertain(err) != isWrite(verb) {
					t.Errorf("%s, %s, %d: %d requests, uncertain %v", name, verb, status, n, terdut.IsUncertain(err))
				}
				want := tc.want
				if strings.HasPrefix(want, "/") {
					want = c.Endpoint() + want
				}
				if want != "" && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", want))) {
					t.Errorf("%s, %s: the error does not name %s: %v", name, verb, want, err)
				}
			}
		}
	}
	if got := elsewhere.all(); len(got) != 0 {
		t.Errorf("%d redirects were followed", len(got))
	}

	// From https down to http.
	down := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusTemporaryRedirect))
	t.Cleanup(down.Close)
	c := newClient(t, down.URL, sentinel, func(c *terdut.Config) {
		c.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: down.Certificate().Raw})
	})
	wants(t, "down to http", verbs["Create"](testContext(t), c), terdut.ReasonNotAPI)
	if got := elsewhere.all(); len(got) != 0 {
		t.Errorf("the redirect to http was followed")
	}
}

// TestH37NextPageElsewhere holds that the next page of a list is asked of the same server, whatever it says.
func TestH37NextPageElsewhere(t *testing.T) {
	var elsewhere seen
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.add(r)
		_, _ = io.WriteString(w, `[{"id":2}]`)
	}))
	t.Cleanup(other.Close)
	pages := 0
	c := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		pages++
		if r.URL.Query().Get("page") == "" {
			w.Header().Set("Link", `<`+other.URL+`/api/users?page=2>; rel="next"`)
			_, _ = io.WriteString(w, `[{"id":1}]`)
			return
		}
		_, _ = io.WriteString(w, `[{"id":3}]`)
	})
	users := must(c.Users(testContext(t)))(t)
	if len(users) != 2 || users[1].ID != 3 || pages != 2 || len(elsewhere.all()) != 0 {
		t.Errorf("%d pages here, %d elsewhere: %v", pages, len(elsewhere.all()), users)
	}
	c = scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", `</api/users?page=2>; rel=next`)
		_, _ = io.WriteString(w, `[{"id":1}]`)
	})
	_, err := c.Users(testContext(t))
	wants(t, "a list that goes round", err, terdut.ReasonUnavailable)
	c = scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", `</api/users?page=2>; rel=next`)
		_, _ = io.WriteString(w, `[]`)
	})
	_, err = c.Users(testContext(t))
	wants(t, "a list without an end", err, terdut.ReasonNotAPI)
}

// TestH37TLS holds that the server's certificate is verified with the CA that was given, and with no other.
func TestH37TLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id":1}`) }))
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := newClient(t, s.URL, sentinel).Team(testContext(t), 1)
	wants(t, "an unknown CA", err, terdut.ReasonUnavailable)
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("the certificate is not named: %v", err)
	}
	c := newClient(t, s.URL, sentinel, func(c *terdut.Config) {
		c.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	})
	_, err = c.Team(testContext(t), 1)
	check(t, err)
}

// proxyTestEnv names what the process that TestH37Proxy starts is to call.
const proxyTestEnv = "TERDUT_TEST_PROXIED_ENDPOINT"

// TestH37Proxy holds that HTTP_PROXY, HTTPS_PROXY and NO_PROXY work, the latter two together with a CA bundle. They are read once per process, so
// that each case is a process of its own; and they are not for loopback addresses, so that the server has a name that only the proxy knows.
func TestH37Proxy(t *testing.T) {
	if endpoint := os.Getenv(proxyTestEnv); endpoint != "" {
		c := newClient(t, endpoint, sentinel, func(c *terdut.Config) { c.CABundle = []byte(os.Getenv("TERDUT_TEST_CA")) })
		_, err := c.Team(testContext(t), 1)
		check(t, err)
		return
	}

	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+string(sentinel) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"id":1}`)
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer) // The latter's certificate is for example.com, too.
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))

	cases := map[string]struct {
		reason   string
		endpoint string
		env      []string
		ok       bool
		proxied  int
		leaked   int
	}{
		"HTTP":     {"A plain server through the proxy", "http://example.com", []string{"HTTP_PROXY"}, true, 1, 1},
		"HTTPS":    {"A tunnel through the proxy, in which the certificate is verified", "https://example.com", []string{"HTTPS_PROXY"}, true, 1, 0},
		"NoProxy":  {"An exception is not sent to the proxy", "https://example.com", []string{"HTTPS_PROXY", "NO_PROXY=example.com"}, false, 0, 0},
		"Loopback": {"This host is an exception anyway", secure.URL, []string{"HTTPS_PROXY"}, true, 0, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var through seen
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				through.add(r)
				if r.Method != http.MethodConnect {
					forward(w, r, plain.URL)
					return
				}
				tunnel(w, secure.Listener.Addr().String())
			}))
			t.Cleanup(proxy.Close)
			cmd := exec.Command(os.Args[0], "-test.run=^TestH37Proxy$", "-test.timeout=1m")
			cmd.Env = []string{proxyTestEnv + "=" + tc.endpoint, "TERDUT_TEST_CA=" + ca}
			for _, e := range tc.env {
				if !strings.Contains(e, "=") {
					e += "=" + proxy.URL
				}
				cmd.Env = append(cmd.Env, e)
			}
			out, err := cmd.CombinedOutput()
			if (err == nil) != tc.ok {
				t.Errorf("%s: %v\n%s", tc.reason, err, out)
			}
			leaked := 0
			for _, r := range through.all() {
				if r.Header.Get("Authorization") != "" {
					leaked++
				}
			}
			if n := len(through.all()); n != tc.proxied || leaked != tc.leaked {
				t.Errorf("%s: want %d requests through the proxy, %d with the key, got %d and %d", tc.reason, tc.proxied, tc.leaked, n, leaked)
			}
		})
	}
}

// forward sends a request on to another server.
func forward(w http.ResponseWriter, r *http.Request, to string) {
	u, _ := url.Parse(to)
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.Host = "", u.Host
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// tunnel what comes after a CONNECT.
func tunnel(w http.ResponseWriter, to string) {
	up, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	down, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = up.Close()
		return
	}
	_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(up, down)
		_ = up.Close()
	}()
	_, _ = io.Copy(down, up)
	_ = down.Close()
}
