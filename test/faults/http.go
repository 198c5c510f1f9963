package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// An httpProxy passes requests on, and lets some go wrong.
type httpProxy struct {
	*httptest.Server

	server   server
	injector *injector
	pass     *httputil.ReverseProxy
	// classify says in which namespace a request writes what; nothing for what only reads, and for what is nobody's step.
	classify func(*http.Request) (ns, write string)
}

// kvProxy stands before OpenBao.
func kvProxy(i *injector, address string) (*httpProxy, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("cannot parse address of OpenBao: %w", err)
	}
	p := &httpProxy{server: serverKV, injector: i, pass: passTo(u, &http.Transport{}), classify: kvWrite}
	p.Server = httptest.NewServer(p)
	return p, nil
}

// apiProxy stands before the API server. What it is asked with, the provider's token, it passes on.
func apiProxy(i *injector, cfg *rest.Config) (*httpProxy, error) {
	u, err := url.Parse(cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("cannot parse address of the API server: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(cfg.CAData) {
		return nil, errors.New("cannot read the CA of the API server")
	}
	t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	p := &httpProxy{server: serverAPI, injector: i, pass: passTo(u, t), classify: apiWrite}
	p.Server = httptest.NewUnstartedServer(p)
	p.EnableHTTP2 = true
	p.Config.ErrorLog = log.New(io.Discard, "", 0) // Connections that were cut.
	p.StartTLS()
	return p, nil
}

// through returns a client configuration that goes through the proxy.
func (p *httpProxy) through(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Host = p.URL
	cfg.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	return cfg
}

func passTo(u *url.URL, t http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) },
		// Watches are answers that do not end.
		FlushInterval: -1,
		Transport:     t,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// ServeHTTP passes a request on, unless something is to go wrong.
func (p *httpProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ns, write := p.classify(r)
	var f fault
	if write != "" {
		f = p.injector.write(p.server, ns, write)
	} else {
		f = p.injector.read(p.server)
	}
	switch f {
	case faultKillBefore:
		p.injector.kill()
		panic(http.ErrAbortHandler)
	case faultDown:
		if p.server == serverAPI && write != "" {
			go p.injector.cut() // It waits for this request, too.
		}
		panic(http.ErrAbortHandler)
	case faultRefused:
		panic(http.ErrAbortHandler)
	case faultLate:
		late := r.Clone(context.WithoutCancel(r.Context()))
		time.Sleep(lateness)
		p.pass.ServeHTTP(httptest.NewRecorder(), late)
		panic(http.ErrAbortHandler)
	case faultKillAfter, faultLost, faultSlow:
		a := httptest.NewRecorder()
		p.pass.ServeHTTP(a, r)
		switch f {
		case faultKillAfter:
			p.injector.kill()
		case faultSlow:
			time.Sleep(lateness)
		}
		panic(http.ErrAbortHandler)
	case faultSealed:
		p.fail(w, http.StatusServiceUnavailable, "Vault is sealed")
	case faultForbidden:
		p.fail(w, http.StatusForbidden, "permission denied")
	case faultError:
		p.fail(w, http.StatusInternalServerError, "internal error")
	case faultConflict:
		p.fail(w, http.StatusConflict, "the object has been modified; please apply your changes to the latest version and try again")
	default:
		p.pass.ServeHTTP(w, r)
	}
}

// fail answers as the server would.
func (p *httpProxy) fail(w http.ResponseWriter, code int, message string) {
	var body any = map[string]any{"errors": []string{message}}
	if p.server == serverAPI {
		reason := metav1.StatusReasonInternalError
		if code == http.StatusConflict {
			reason = metav1.StatusReasonConflict
		}
		body = metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // Whoever asked may be gone.
}

// writes are the methods that change something.
var writes = []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// kvWrite knows the writes to records. Tenants' records are at tenants/<namespace>/<name>.
func kvWrite(r *http.Request) (ns, write string) {
	engine, below, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"+openbao.Mount+"/"), "/")
	if !ok || !slices.Contains(writes, r.Method) || engine != "data" && engine != "metadata" {
		return "", ""
	}
	if parts := strings.Split(below, "/"); len(parts) == 3 {
		ns = parts[1]
	}
	return ns, map[bool]string{true: "delete ", false: "write "}[r.Method == http.MethodDelete] + engine
}

// apiWrite knows the writes to namespaced objects. Events are no steps: nobody waits for them.
func apiWrite(r *http.Request) (ns, write string) {
	_, below, ok := strings.Cut(r.URL.Path, "/namespaces/")
	parts := strings.Split(below, "/")
	if !ok || len(parts) < 2 || !slices.Contains(writes, r.Method) || parts[1] == "events" || parts[1] == "leases" {
		return "", ""
	}
	what := parts[1]
	if len(parts) > 3 {
		what += "/" + parts[3]
	}
	return parts[0], strings.ToLower(r.Method) + " " + what
}
