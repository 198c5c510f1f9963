package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// A proxy passes requests on to OpenBao and counts them.
type proxy struct {
	address string
	server  *http.Server

	mu    sync.Mutex
	calls map[call]float64
}

// A call is what a request was about.
type call struct {
	// record is true for calls to the KV engine, about data or metadata of a record.
	record bool
	write  bool
}

func startProxy(target string) (*proxy, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("cannot parse address of OpenBao: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	pass := httputil.NewSingleHostReverseProxy(u)
	p := &proxy{address: "http://" + l.Addr().String(), calls: map[call]float64{}}
	p.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := call{record: strings.HasPrefix(r.URL.Path, "/v1/"+openbao.Mount+"/"), write: r.Method != http.MethodGet}
		p.mu.Lock()
		p.calls[c]++
		p.mu.Unlock()
		pass.ServeHTTP(w, r)
	})}
	go p.server.Serve(l) //nolint:errcheck // It ends when it is closed.
	return p, nil
}

func (p *proxy) stop() { _ = p.server.Close() }

// counts until now.
func (p *proxy) counts() map[call]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.calls)
}

// useAddress points the provider config of OpenBao at an address and waits until it is Healthy there.
func (b *bench) useAddress(ctx context.Context, address string) error {
	cfg := &openbaov1alpha1.ClusterProviderConfig{}
	n := types.NamespacedName{Name: "default"}
	if err := b.p.Client.Get(ctx, n, cfg); err != nil {
		return fmt.Errorf("cannot get the provider config of OpenBao: %w", err)
	}
	was := cfg.DeepCopy()
	cfg.Spec.Address = address
	if err := b.p.Client.Patch(ctx, cfg, client.MergeFrom(was)); err != nil {
		return fmt.Errorf("cannot change the provider config of OpenBao: %w", err)
	}
	return b.p.WaitFor(ctx, "the provider config of OpenBao to be Healthy at another address", func(ctx context.Context) error {
		if err := b.p.Client.Get(ctx, n, cfg); err != nil {
			return err
		}
		if c := cfg.GetCondition(openbaov1alpha1.TypeHealthy); c.Status != corev1.ConditionTrue || c.ObservedGeneration != cfg.Generation {
			return errors.New("it is not")
		}
		return nil
	})
}
