package servers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// direct goes where a request says.
var direct = &http.Transport{MaxIdleConnsPerHost: 16}

// handler of the proxy.
func (s *Servers) handler() http.Handler {
	type targetKey struct{}
	p := &httputil.ReverseProxy{
		Transport: direct,
		Rewrite: func(r *httputil.ProxyRequest) {
			if target, ok := r.In.Context().Value(targetKey{}).(string); ok {
				r.Out.URL.Host = target
			}
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect || !r.URL.IsAbs() {
			http.Error(w, "this is a proxy for http", http.StatusNotImplemented)
			return
		}
		service, ok := serviceOf(r.URL.Hostname())
		if !ok {
			p.ServeHTTP(w, r)
			return
		}
		target, err := s.target(r.Context(), service, r.URL.Port())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		p.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), targetKey{}, target)))
	})
}

// serviceOf a name in the cluster: NAME.NAMESPACE.svc, with or without the cluster's domain.
func serviceOf(host string) (types.NamespacedName, bool) {
	parts := strings.Split(strings.TrimSuffix(host, ".cluster.local"), ".")
	if len(parts) != 3 || parts[2] != "svc" {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: parts[1], Name: parts[0]}, true
}

// target is the address of a ready server of a Service, of several one after the other.
func (s *Servers) target(ctx context.Context, service types.NamespacedName, port string) (string, error) {
	svc := &corev1.Service{}
	if err := s.client.Get(ctx, service, svc); err != nil {
		return "", fmt.Errorf("cannot get Service %q: %w", service, err)
	}
	if port == "" {
		port = "80"
	}
	if !slices.ContainsFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return fmt.Sprint(p.Port) == port }) {
		return "", fmt.Errorf("service %q has no port %s", service, port)
	}
	ready, err := s.Instances(ctx, service)
	if err != nil {
		return "", err
	}
	if len(ready) == 0 {
		return "", fmt.Errorf("service %q has no ready server", service)
	}
	s.mu.Lock()
	s.next++
	i := ready[s.next%len(ready)]
	s.mu.Unlock()
	return strings.TrimPrefix(i.URL, "http://"), nil
}
