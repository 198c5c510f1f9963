package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/local"
)

// A functionRelay stands between Crossplane and a function, and keeps what they say to each other.
type functionRelay struct {
	// composition is the name of a Composition that is as the product's, with the relay in the function's place.
	composition string

	mu        sync.Mutex
	requests  [][]byte
	responses [][]byte
}

// said is all requests, and all responses.
func (r *functionRelay) said() (requests, responses [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests), slices.Clone(r.responses)
}

// newFunctionRelay for the function of a Composition. For Crossplane the relay is a function of its own, whose package it never fetches. It is
// made before the namespaces of what it composes, so that it ends after them.
func newFunctionRelay(t *testing.T, composition string) *functionRelay {
	t.Helper()
	c := &unstructured.Unstructured{}
	c.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.crossplane.io", Version: "v1", Kind: "Composition"})
	if err := p.Client.Get(t.Context(), types.NamespacedName{Name: composition}, c); err != nil {
		t.Fatalf("cannot get Composition: %v", err)
	}
	steps, _, _ := unstructured.NestedSlice(c.Object, "spec", "pipeline")
	ref := steps[0].(map[string]any)["functionRef"].(map[string]any)
	function := ref["name"].(string)
	l := &pkgv1.FunctionRevisionList{}
	if err := p.Client.List(t.Context(), l, client.MatchingLabels{pkgv1.LabelParentPackage: function}); err != nil {
		t.Fatalf("cannot list revisions of the function: %v", err)
	}
	i := slices.IndexFunc(l.Items, func(f pkgv1.FunctionRevision) bool { return f.Status.Endpoint != "" })
	if i < 0 {
		t.Fatalf("function %q does not run", function)
	}

	name := "relay-" + strings.ToLower(rand.Text())
	f := &pkgv1.FunctionRevision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{pkgv1.LabelParentPackage: name}}}
	f.Spec.DesiredState, f.Spec.Package, f.Spec.Revision = pkgv1.PackageRevisionActive, "registry.invalid/relay:v0", 1
	create(t, f)
	t.Cleanup(func() { _ = p.Client.Delete(context.Background(), f) }) // It does no harm.
	r := &functionRelay{composition: name}
	endpoint := r.serve(t, l.Items[i].Status.Endpoint, *pkgv1.GetSecretNameWithSuffix(name, pkgv1.TLSServerSecretNameSuffix))
	eventually(t, "the relay to be a function", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(f), f); err != nil {
			return err
		}
		f.Status.Endpoint, f.Status.Capabilities = endpoint, l.Items[i].Status.Capabilities
		return p.Client.Status().Update(ctx, f)
	})

	ref["name"] = name
	relayed := &unstructured.Unstructured{Object: map[string]any{"spec": c.Object["spec"]}}
	if err := unstructured.SetNestedSlice(relayed.Object, steps, "spec", "pipeline"); err != nil {
		t.Fatal(err)
	}
	relayed.SetGroupVersionKind(c.GroupVersionKind())
	relayed.SetName(name)
	create(t, relayed)
	t.Cleanup(func() { _ = p.Client.Delete(context.Background(), relayed) }) // As above.
	return r
}

// serve the relay, with the certificate that the plane makes for it. It speaks to the function as Crossplane.
func (r *functionRelay) serve(t *testing.T, target, serverSecret string) string {
	t.Helper()
	var own, crossplane map[string][]byte
	eventually(t, "the relay's certificate", func(ctx context.Context) error {
		for secret, data := range map[string]*map[string][]byte{serverSecret: &own, "crossplane-tls-client": &crossplane} {
			s := &corev1.Secret{}
			if err := p.Client.Get(ctx, types.NamespacedName{Namespace: local.SystemNamespace, Name: secret}, s); err != nil {
				return err
			}
			if len(s.Data[corev1.TLSCertKey]) == 0 {
				return fmt.Errorf("Secret %q is empty", secret)
			}
			*data = s.Data
		}
		return nil
	})
	pair := func(data map[string][]byte) tls.Certificate {
		t.Helper()
		c, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
		if err != nil {
			t.Fatal("cannot use a certificate of the plane")
		}
		return c
	}
	ca := x509.NewCertPool()
	if !ca.AppendCertsFromPEM(crossplane["ca.crt"]) {
		t.Fatal("cannot use the plane's certificate authority")
	}
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: target})
	to.Transport = &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ca, Certificates: []tls.Certificate{pair(crossplane)}},
	}
	to.ModifyResponse = func(rsp *http.Response) error {
		b, err := io.ReadAll(rsp.Body)
		if err != nil {
			return errors.New("the function's answer ended early")
		}
		r.keep(&r.responses, b)
		rsp.Body = io.NopCloser(bytes.NewReader(b))
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("cannot listen: %v", err)
	}
	s := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair(own)}},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			b, err := io.ReadAll(req.Body)
			if err != nil {
				return // Crossplane asks again.
			}
			r.keep(&r.requests, b)
			req.Body = io.NopCloser(bytes.NewReader(b))
			to.ServeHTTP(w, req)
		}),
	}
	go func() { _ = s.ServeTLS(l, "", "") }() // It ends when it is closed.
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

func (r *functionRelay) keep(in *[][]byte, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*in = append(*in, b)
}
