package connect

import (
	"fmt"
	"strings"
	"sync"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// idleClient is how long a Client of a server is kept that nobody asks for.
const idleClient = time.Hour

// Terdut shares connections to on-call servers among all keys of a server.
type Terdut struct {
	// Adjust, when set, may change the configuration of a Client before it is made. Tests inject faults with it.
	Adjust func(*terdut.Config)

	mu      sync.Mutex
	clients map[terdutServer]*terdutClient
}

// terdutServer is what connections are shared by.
type terdutServer struct{ endpoint, ca string }

type terdutClient struct {
	client *terdut.Client
	used   time.Time
}

// NewTerdut returns a Terdut.
func NewTerdut() *Terdut { return &Terdut{clients: map[terdutServer]*terdutClient{}} }

// For returns a Client that works with a credential, which must be Complete.
func (t *Terdut) For(c *credential.Credential) (*terdut.Client, error) {
	if !c.Complete() {
		return nil, WithReason(fmt.Errorf("there is no key to work with yet"), ReasonConfigNotReady)
	}
	return t.Client(c.Endpoint, c.CABundle, c.Token)
}

// Client of a server with a key, which may be empty for calls that need none. It contacts nobody.
func (t *Terdut) Client(endpoint, caBundle string, token terdut.Secret) (*terdut.Client, error) {
	// Here and not in the client, whose connections are shared: a key that cannot be sent would look like a server that does not answer.
	if strings.ContainsFunc(string(token), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, WithReason(fmt.Errorf("the key of the server is not printable ASCII without spaces"), ReasonConfigNotReady)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now, key := time.Now(), terdutServer{endpoint: endpoint, ca: caBundle}
	for k, c := range t.clients {
		if k != key && now.Sub(c.used) > idleClient {
			c.client.Close()
			delete(t.clients, k)
		}
	}
	c := t.clients[key]
	if c == nil {
		cfg := terdut.Config{Endpoint: endpoint, CABundle: []byte(caBundle)}
		if t.Adjust != nil {
			t.Adjust(&cfg)
		}
		cl, err := terdut.New(cfg)
		if err != nil {
			return nil, WithReason(err, ReasonConfigNotReady)
		}
		c = &terdutClient{client: cl}
		t.clients[key] = c
	}
	c.used = now
	return c.client.WithToken(token), nil
}

// TerdutReason maps an error of an on-call server, or of the way to it, to a condition reason.
func TerdutReason(err error) xpv2.ConditionReason {
	switch terdut.ReasonOf(err) {
	case terdut.ReasonUnavailable, terdut.ReasonNotAPI:
		return v1alpha1.ReasonUnreachable
	case terdut.ReasonRateLimited:
		return v1alpha1.ReasonRateLimited
	case terdut.ReasonUnauthorized:
		return v1alpha1.ReasonUnauthorized
	case terdut.ReasonForbidden:
		return v1alpha1.ReasonPermissionDenied
	case terdut.ReasonConflict, terdut.ReasonAmbiguous:
		return v1alpha1.ReasonConflict
	}
	return ReasonOf(err, v1alpha1.ReasonFailed)
}
