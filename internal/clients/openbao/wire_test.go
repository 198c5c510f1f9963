package openbao_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// sentinel stands for everything secret.
const sentinel = "S3ntinel-Value"

// scripted returns a client of a server that knows the mount kv, takes every login, and answers the rest with h.
func scripted(t *testing.T, h http.HandlerFunc, mods ...func(*openbao.Config)) (*openbao.Client, *calls) {
	t.Helper()
	s := httptest.NewServer(mountThen(h))
	t.Cleanup(s.Close)
	return newClient(t, openbao.Auth{AppRole: &openbao.AppRole{RoleID: "role", SecretID: sentinel}}, append([]func(*openbao.Config){
		func(c *openbao.Config) { c.Address = s.URL },
	}, mods...)...)
}

func mountThen(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/login"):
			_, _ = io.WriteString(w, `{"auth":{"client_token":"`+sentinel+`","lease_duration":3600,"renewable":true}}`)
		case strings.Contains(r.URL.Path, "/v1/sys/internal/ui/mounts/"):
			_, _ = io.WriteString(w, `{"data":{"type":"kv","path":"kv/","options":{"version":"2"}}}`)
		default:
			h(w, r)
		}
	}
}

// TestH20Answers holds how answers of servers, and of what stands before them, are told apart, and that none of their text gets into errors
// where it could repeat a value.
func TestH20Answers(t *testing.T) {
	errs := func(texts ...string) string {
		b, _ := json.Marshal(map[string][]string{"errors": texts})
		return string(b)
	}
	cases := map[string]struct {
		reason string
		status int
		header map[string]string
		body   string
		want   openbao.Reason
	}{
		"Sealed":       {"A sealed server is not empty.", 503, nil, errs("Vault is sealed"), openbao.ReasonSealed},
		"NotInit":      {"A server that is not initialised is not empty.", 400, nil, errs("server is not yet initialized"), openbao.ReasonSealed},
		"Unavailable":  {"A proxy without a server behind it is not a sealed server.", 503, nil, "upstream is sealed", openbao.ReasonUnreachable},
		"Overloaded":   {"A server that has no time is not a sealed server.", 503, nil, errs("request timed out"), openbao.ReasonUnreachable},
		"Standby":      {"A standby node that finds no active one says so.", 500, nil, errs("local node not active but active cluster node not found"), openbao.ReasonStandby},
		"Redirect":     {"A standby node's redirect is not followed.", 307, map[string]string{"Location": "http://127.0.0.1:1/x"}, "", openbao.ReasonStandby},
		"DR":           {"A disaster recovery node is not the active one.", 472, nil, errs("x"), openbao.ReasonStandby},
		"Replica":      {"A performance standby is not the active one.", 473, nil, "", openbao.ReasonStandby},
		"Moved":        {"A redirect of a web server is not followed.", 302, map[string]string{"Location": "http://127.0.0.1:1/x"}, "<html>", openbao.ReasonUnreachable},
		"RateLimited":  {"A rate limit passes.", 429, nil, errs("request path is rate limited"), openbao.ReasonUnreachable},
		"Internal":     {"A failure inside of the server says nothing about the record.", 500, nil, errs("1 error occurred: " + sentinel), openbao.ReasonUnreachable},
		"HTMLNotFound": {"Only the server itself can say that a record is not there.", 404, nil, "<html>not found</html>", openbao.ReasonUnreachable},
		"JSONNotFound": {"Only the server itself can say that a record is not there.", 404, nil, `{"message":"no route"}`, openbao.ReasonUnreachable},
		"NotFound":     {"This is how the server says that a record is not there.", 404, nil, `{"errors":[]}`, openbao.ReasonNotFound},
		"NoRoute":      {"This is how the server says that a mount is not there.", 404, nil, errs(`no handler for route "kv/x". route entry not found.`), openbao.ReasonMountNotFound},
		"SealedPath":   {"The name of a record says nothing about the server.", 404, nil, errs(`no handler for route "sealed/not active". route entry not found.`), openbao.ReasonMountNotFound},
		"Denied":       {"A denial is one.", 403, nil, errs("permission denied"), openbao.ReasonPermissionDenied},
		"CAS":          {"A mismatch is only told by its text.", 400, nil, errs("check-and-set parameter did not match the current version"), openbao.ReasonCASMismatch},
		"Upgrading":    {"A new engine has to prepare itself.", 400, nil, errs("Upgrading from non-versioned to versioned data. This backend will be unavailable for a brief period"), openbao.ReasonUnreachable},
		"Bad":          {"Other bad requests are rejected.", 400, nil, errs("no " + sentinel), openbao.ReasonRejected},
		"Garbage":      {"A success that is none is not a success.", 200, nil, `{"data":{"current_version":"` + sentinel + `","data":"` + sentinel + `","version":"` + sentinel + `"}}`, openbao.ReasonUnreachable},
		"Huge":         {"An answer without end is not read to its end.", 200, nil, strings.Repeat(" ", 5<<20) + "{}", openbao.ReasonUnreachable},
		"HugeError":    {"An answer without end is not read to its end.", 500, nil, strings.Repeat("x", 5<<20), openbao.ReasonUnreachable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, n := scripted(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/lookup-self") {
					_, _ = io.WriteString(w, `{"data":{"ttl":3600}}`)
					return
				}
				for k, v := range tc.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			_, werr := c.WriteData(t.Context(), "kv", "x", text(sentinel), 0)
			_, rerr := c.ReadMetadata(t.Context(), "kv", "x")
			for what, err := range map[string]error{"WriteData": werr, "ReadMetadata": rerr} {
				if got := openbao.ReasonOf(err); got != tc.want {
					t.Errorf("\n%s\n%s(...): want %s, got %s: %v", tc.reason, what, tc.want, got, err)
				}
			}
			if werr != nil && strings.Contains(werr.Error(), sentinel) {
				t.Errorf("\n%s\nWriteData(...): the error repeats a text of the server", tc.reason)
			}
			if got := n.of("write data"); got != 1 {
				t.Errorf("\n%s\nWriteData(...): sent %d times", tc.reason, got)
			}
		})
	}
}

// TestUnreachable holds that a server that is not there or does not answer is told apart from all others.
func TestUnreachable(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	cases := map[string]struct {
		reason string
		mod    func(*openbao.Config)
	}{
		"Refused": {
			reason: "Nothing listens.",
			mod:    func(c *openbao.Config) { c.Address = closed.URL },
		},
		"Injected": {
			reason: "Faults can be put in by tests, and a fault's own text is not repeated.",
			mod: func(c *openbao.Config) {
				c.WrapTransport = func(http.RoundTripper) http.RoundTripper {
					return roundTripper(func(*http.Request) (*http.Response, error) { return nil, fmt.Errorf("saw %s", sentinel) })
				}
			},
		},
		"Slow": {
			reason: "A server that does not answer in time is given up.",
			mod: func(c *openbao.Config) {
				c.Timeout = 50 * time.Millisecond
				c.WrapTransport = func(http.RoundTripper) http.RoundTripper {
					return roundTripper(func(r *http.Request) (*http.Response, error) {
						<-r.Context().Done()
						return nil, r.Context().Err()
					})
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newClient(t, openbao.Auth{Token: sentinel}, tc.mod)
			_, err := c.Health(t.Context())
			errs := everyCall(t.Context(), c, "kv", "x")
			errs["Health"] = err
			for call, err := range errs {
				if !openbao.IsUnreachable(err) || strings.Contains(err.Error(), sentinel) {
					t.Errorf("\n%s\n%s(...): want unreachable, got %s", tc.reason, call, openbao.ReasonOf(err))
				}
			}
		})
	}

	t.Run("Cancelled", func(t *testing.T) {
		c := rootClient(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.ReadMetadata(ctx, "kv", "x"); !openbao.IsUnreachable(err) {
			t.Errorf("ReadMetadata(...): want unreachable, got: %v", err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestH20Requests holds what is sent: the namespace with the login and all calls, the path prefix of the address, the token, and values as
// they were given.
func TestH20Requests(t *testing.T) {
	const value = `{"n":12345678901234567890,"d":1.10,"h":"<&>\u2028","e":[]}`
	type seen struct{ Path, Namespace, Token string }
	var got []seen
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, seen{r.URL.EscapedPath(), r.Header.Get("X-Vault-Namespace"), r.Header.Get("X-Vault-Token")})
		mountThen(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/health") {
				_, _ = io.WriteString(w, `{"initialized":true,"version":"2.0"}`)
				return
			}
			b, _ := io.ReadAll(r.Body)
			body = string(b)
			_, _ = io.WriteString(w, `{"data":{"version":4}}`)
		})(w, r)
	}))
	defer s.Close()
	var jwts atomic.Int32
	auth := openbao.Auth{Kubernetes: &openbao.Kubernetes{Mount: "k8s/west", Role: "r", JWT: func(context.Context) (string, error) {
		return fmt.Sprint("jwt", jwts.Add(1)), nil
	}}}
	c, _ := newClient(t, auth, func(c *openbao.Config) { c.Address, c.Namespace = s.URL+"/prefix", "team/a" })

	v, err := c.WriteData(t.Context(), "kv", "a b/c%2f#?", map[string]json.RawMessage{"k": json.RawMessage(value)}, 3)
	if err != nil || v != 4 {
		t.Fatalf("WriteData(...): %d, %v", v, err)
	}
	if _, err := c.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []seen{
		{"/prefix/v1/auth/k8s/west/login", "team/a", ""},
		{"/prefix/v1/sys/internal/ui/mounts/kv", "team/a", sentinel},
		{"/prefix/v1/kv/data/a%20b/c%252f%23%3F", "team/a", sentinel},
		{"/prefix/v1/sys/health", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(`{"data":{"k":`+value+`},"options":{"cas":3}}`, body); diff != "" {
		t.Errorf("body: -want, +got:\n%s", diff)
	}
	c.Close(t.Context())
	if _, err := c.WriteData(t.Context(), "kv", "x", nil, 3); err != nil {
		t.Fatal(err)
	}
	if n := jwts.Load(); n != 2 {
		t.Errorf("want a ServiceAccount token for each of 2 logins, got %d", n)
	}
}

// TestTLS holds that the server is verified, with the bundle when there is one.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"initialized":true,"version":"2.0"}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})

	c, _ := newClient(t, openbao.Auth{Token: "t"}, func(c *openbao.Config) { c.Address, c.CABundle = s.URL, bundle })
	h, err := c.Health(t.Context())
	if err != nil || h.TLS != "TLS 1.3" {
		t.Errorf("Health(...): %+v, %v", h, err)
	}
	c, _ = newClient(t, openbao.Auth{Token: "t"}, func(c *openbao.Config) { c.Address = s.URL })
	if _, err := c.Health(t.Context()); !openbao.IsUnreachable(err) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("Health(...): want an error about the certificate, got: %v", err)
	}
}

// TestNew holds that settings that cannot work are refused, without repeating what they are.
func TestNew(t *testing.T) {
	token := openbao.Auth{Token: sentinel}
	cases := map[string]struct {
		reason string
		config openbao.Config
	}{
		"NoAddress":   {"There must be an address.", openbao.Config{Auth: token}},
		"NoScheme":    {"The protocol is not guessed.", openbao.Config{Address: "bao:8200", Auth: token}},
		"Socket":      {"The server is reached over the network.", openbao.Config{Address: "unix:///bao.sock", Auth: token}},
		"User":        {"An address has no credential.", openbao.Config{Address: "http://u:" + sentinel + "@bao", Auth: token}},
		"Query":       {"An address is no request.", openbao.Config{Address: "http://bao?" + sentinel, Auth: token}},
		"CA":          {"A bundle without certificates would trust nobody.", openbao.Config{Address: "http://bao", CABundle: []byte(sentinel), Auth: token}},
		"NoAuth":      {"There must be a credential.", openbao.Config{Address: "http://bao"}},
		"TwoAuths":    {"There must be one credential.", openbao.Config{Address: "http://bao", Auth: openbao.Auth{Token: sentinel, AppRole: &openbao.AppRole{RoleID: "r", SecretID: sentinel}}}},
		"NoSecretID":  {"A role id alone is no credential.", openbao.Config{Address: "http://bao", Auth: openbao.Auth{AppRole: &openbao.AppRole{RoleID: "r"}}}},
		"NoJWT":       {"A role alone is no credential.", openbao.Config{Address: "http://bao", Auth: openbao.Auth{Kubernetes: &openbao.Kubernetes{Role: "r"}}}},
		"MountEscape": {"A login goes below auth/ and nowhere else.", openbao.Config{Address: "http://bao", Auth: openbao.Auth{AppRole: &openbao.AppRole{Mount: "../sys", RoleID: "r", SecretID: sentinel}}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := openbao.New(tc.config)
			if err == nil {
				t.Fatalf("\n%s\nNew(...): want an error", tc.reason)
			}
			if strings.Contains(err.Error(), sentinel) {
				t.Errorf("\n%s\nNew(...): the error holds the credential", tc.reason)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", tc.config, tc.config, &tc.config.Auth), sentinel) && name != "User" && name != "Query" && name != "CA" {
				t.Errorf("\n%s\nprinting the config shows the credential", tc.reason)
			}
		})
	}
}
