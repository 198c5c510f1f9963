package setup

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

// reasonReleased is the reason of the event which says that something was left behind outside.
const reasonReleased event.Reason = "Released"

// released counts what was left behind, by kind.
var released = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "terdut_released_total",
	Help: "Managed resources that went without being deleted outside, because the way to the server went first.",
}, []string{"kind"})

func init() { metrics.Registry.MustRegister(released) }

// A releaser decides when an object is let go although what it manages is to be deleted: what is needed for that is gone for good.
//
// A namespace is deleted with everything in it at once. The Secret of a namespaced provider config may go before the objects that need it,
// and nobody can make it again in a namespace that is being deleted. Without this the namespace would never end.
type releaser struct {
	live     client.Reader
	kind     string
	recorder event.Recorder
	log      logging.Logger
}

// may the object go, whose connection ended with an error?
func (r *releaser) may(ctx context.Context, mg Object, err error) bool {
	if r == nil || !meta.WasDeleted(mg) || !connect.Gone(err, mg) {
		return false
	}
	if terminating, err := owner.NamespaceTerminating(ctx, r.live, mg.GetNamespace()); err != nil || !terminating {
		return false
	}
	Release(mg, r.kind, r.recorder, r.log, err)
	return true
}

// Release tells in the log, a counter and, where the API server takes one, an event that an object goes without being deleted outside.
func Release(mg Object, kind string, r event.Recorder, l logging.Logger, cause error) {
	const message = "released without deleting anything outside, because the way to the server went first"
	l.Info(message, "namespace", mg.GetNamespace(), "name", mg.GetName(), "external-name", meta.GetExternalName(mg), "cause", cause.Error())
	released.WithLabelValues(kind).Inc()
	r.Event(mg, event.Event{Type: event.TypeWarning, Reason: reasonReleased, Message: message + ": " + cause.Error()})
}

// patience is how long a server may not answer before an object goes without it that could go, and forgetful how long it is remembered that
// it did not.
const (
	patience  = 15 * time.Second
	forgetful = 5 * time.Minute
)

// Patience remembers since when servers have not answered for objects that are being deleted. An object which may be let go because the way
// to its server goes as well is not at the first failure: the server may only have missed one call. One Patience is for all kinds, so that
// objects which go one after the other do not each wait anew.
type Patience struct {
	// Limit replaces the usual time, in tests.
	Limit time.Duration

	mu      sync.Mutex
	servers map[string]silence
}

// silence of a server: since when, and when it was noticed last.
type silence struct{ since, last time.Time }

// Over is true when a server has not answered for long enough. It is called for each failure.
func (p *Patience) Over(server string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for name, s := range p.servers {
		if now.Sub(s.last) > forgetful {
			delete(p.servers, name)
		}
	}
	s, ok := p.servers[server]
	if !ok {
		s.since = now
	}
	s.last = now
	if p.servers == nil {
		p.servers = map[string]silence{}
	}
	p.servers[server] = s
	limit := p.Limit
	if limit == 0 {
		limit = patience
	}
	return now.Sub(s.since) >= limit
}

// Answered is called when a server answers.
func (p *Patience) Answered(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.servers, server)
}
