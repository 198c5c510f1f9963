package oncall

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// An echo is a server that says yes to everything: whatever account or team it is asked for, it has it.
type echo struct {
	team int64
	name string

	mu sync.Mutex
	// keys that it was asked with.
	keys map[string]bool
	// refused is how many keys it was asked to make, and did not.
	refused int
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keys[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] = true
	var body any
	switch p := r.URL.Path; {
	case r.Method == http.MethodPost && strings.HasSuffix(p, "/keys"):
		e.refused++
		w.WriteHeader(http.StatusInternalServerError)
		return
	case r.Method != http.MethodGet:
		body = map[string]any{}
	case p == "/api/service-accounts":
		body = []any{map[string]any{"id": 1, "name": r.URL.Query().Get("name"), "scope": "team", "team_id": e.team}}
	case strings.HasSuffix(p, "/keys"):
		body = []any{map[string]any{"id": 1}}
	case p == "/api/teams":
		body = []any{}
	default:
		body = map[string]any{"id": e.team, "name": e.name}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// TestKeyStaysWhereItWasMade holds that a server which claims to have a Team's account does not get the Team's key, by any of the ways in which
// whoever may write Teams or configs of a namespace can lead a Team to it. Nor is the key given to children then.
func TestKeyStaysWhereItWasMade(t *testing.T) {
	for name, lead := range map[string]func(w *world, m *v1alpha1.Team, endpoint string){
		"ConfigChanged": func(w *world, _ *v1alpha1.Team, endpoint string) {
			change(w, newConfig(), func(c *v1alpha1.ProviderConfig) {
				c.Spec.BootstrapRef, c.Spec.Endpoint = nil, &endpoint
				c.Spec.SecretRef = &commonv1alpha1.LocalSecretKeySelector{Name: "mine", Key: "key"}
			})
		},
		"AnotherConfig": func(w *world, m *v1alpha1.Team, endpoint string) {
			w.create(newConfig(func(c *v1alpha1.ProviderConfig) {
				c.Name = "mine"
				c.Spec.BootstrapRef, c.Spec.Endpoint = nil, &endpoint
				c.Spec.SecretRef = &commonv1alpha1.LocalSecretKeySelector{Name: "mine", Key: "key"}
			}))
			change(w, m, func(m *v1alpha1.Team) { m.Spec.ProviderConfigReference.Name = "mine" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := withServer(t)
			m := newTeam("platform", func(m *v1alpha1.Team) {
				m.Spec.ForProvider.ServerRef = nil
				m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "terdut"}
			})
			w.create(m, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "mine"}, Data: map[string][]byte{"key": []byte("theirs")}})
			w.ready(b, m)
			was, err := w.store.Team(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			e := &echo{team: was.TeamID, name: was.TeamName, keys: map[string]bool{}}
			srv := httptest.NewServer(e)
			t.Cleanup(srv.Close)

			lead(w, m, srv.URL)
			for range 3 {
				_ = w.passAll(1, m)
				c, err := w.store.Team(t.Context(), m)
				if err != nil {
					t.Fatal(err)
				}
				if c.Endpoint == srv.URL && c.Token == was.Token {
					t.Error("the key of another server is stored with this one's address")
				}
			}
			e.mu.Lock()
			if e.refused == 0 {
				t.Error("the other server was not asked for a key of its own")
			}
			if e.keys[string(was.Token)] {
				t.Error("the other server got the key")
			}
			e.mu.Unlock()

			// Led back, the Team works as before, with one key.
			change(w, m, func(m *v1alpha1.Team) { m.Spec.ProviderConfigReference.Name = "terdut" })
			change(w, newConfig(), func(c *v1alpha1.ProviderConfig) {
				c.Spec.BootstrapRef, c.Spec.Endpoint, c.Spec.SecretRef = &v1alpha1.BootstrapReference{Name: "terdut"}, nil, nil
			})
			w.ready(m)
			w.rest(m)
			if s := w.state(); len(s.Teams) != 1 || len(s.Keys) != 3 || meta.GetExternalName(m) == "" {
				t.Errorf("there are %d teams and %d keys", len(s.Teams), len(s.Keys))
			}
		})
	}
}
