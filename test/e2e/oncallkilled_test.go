package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// mostKills bounds how often the provider is killed in one part of a life: what a crash has to be made up for by other writes has an end.
const mostKills = 24

// A deadlyServer is an on-call server that kills the provider as a crash would while that waits for an answer to a write: at the first write of
// its kind and place before it is carried out, and at the next one after it was.
type deadlyServer struct {
	*terdutserver.Server

	endpoint string

	mu    sync.Mutex
	met   map[string]int
	kills int
	last  []string
}

func newDeadlyServer(t *testing.T) *deadlyServer {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	s := &deadlyServer{endpoint: "http://" + h.Listener.Addr().String()}
	s.Server = terdutserver.New(terdutserver.Options{BaseURL: s.endpoint})
	h.Config.Handler = s
	h.Start()
	t.Cleanup(h.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *deadlyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	turn := s.turn(r)
	if turn == 1 {
		_ = p.Runtime.Kill(product.Provider) // One that another request has just killed is dead, too.
		panic(http.ErrAbortHandler)
	}
	if turn != 2 {
		s.Server.ServeHTTP(w, r)
		return
	}
	s.Server.ServeHTTP(httptest.NewRecorder(), r)
	_ = p.Runtime.Kill(product.Provider)
	panic(http.ErrAbortHandler)
}

// turn is how often a write of its kind was met in this part, counted from 1; 0 when the provider is left in peace.
func (s *deadlyServer) turn(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet || s.met == nil || s.kills >= mostKills {
		return 0
	}
	what := r.Method + " " + r.URL.Path
	s.met[what]++
	// The key in the answer to a bootstrap is shown once: who does not get that has lost it, which is told, and is not made up for.
	if s.met[what] > 2 || s.met[what] == 2 && strings.HasSuffix(what, "/bootstrap") {
		return 0
	}
	s.kills++
	s.last = append(s.last, what)
	return s.met[what]
}

// during a part of a life the server is deadly, and it fails unless the provider was killed so many times at the least.
func (s *deadlyServer) during(t *testing.T, part string, least int, f func()) {
	t.Helper()
	s.mu.Lock()
	s.met, s.kills, s.last = map[string]int{}, 0, nil
	s.mu.Unlock()
	f()
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Logf("%s: %d kills: %v", part, s.kills, s.last)
	if s.kills < least {
		t.Errorf("%s: the provider was killed %d times, want %d", part, s.kills, least)
	}
	s.met = nil
}

// TestH38OnCallKilled kills the provider's process at each write of the life of everything that it has on an on-call server, before the write is
// carried out and after it was, and before the answer: what comes of it is one of each, the same one until it is deleted, and nothing afterwards.
func TestH38OnCallKilled(t *testing.T) {
	s := newDeadlyServer(t)
	ns := namespace(t)
	b, c, m := newBootstrap(ns, s.endpoint), newOnCallConfig(ns), newTeam(ns, "ops", ns)
	m.Spec.ForProvider.OIDC = &oncallv1alpha1.OIDCGroups{MemberGroup: ptr.To("members")}
	policy, dog, alerts := newPolicy(ns, "ops"), newSwitch(ns, "ops", "watchdog"), newIntegration(ns, "ops", "alerts")
	policy.Spec.ForProvider.Levels = policy.Spec.ForProvider.Levels[:1]
	all := []conditioned{b, m, policy, dog, alerts}

	s.during(t, "create", 13, func() {
		for _, o := range []client.Object{b, c, m, policy, dog, alerts} {
			create(t, o)
		}
		isReady(t, all...)
	})
	first := s.one(t, m, dog, alerts)
	if n := first.Sequences["team"] + first.Sequences["switch"]; n != 2 {
		t.Errorf("%d teams and switches were made", n)
	}
	post(t, &callServer{Server: s.Server}, ns, "alerts-webhook", alerts.Status.AtProvider.IntegrationID)

	s.during(t, "update", 10, func() {
		edit(t, m, func(m *oncallv1alpha1.Team) {
			m.Spec.ForProvider.DisplayName, m.Spec.ForProvider.OIDC = ptr.To("The Ops"), &oncallv1alpha1.OIDCGroups{MemberGroup: ptr.To("others")}
		})
		edit(t, policy, func(o *oncallv1alpha1.EscalationPolicy) { o.Spec.ForProvider.RepeatCount = 5 })
		edit(t, dog, func(o *oncallv1alpha1.DeadmanSwitch) { o.Spec.ForProvider.Severity = "warning" })
		edit(t, alerts, func(o *oncallv1alpha1.Integration) { o.Spec.ForProvider.Name = ptr.To("production") })
		eventually(t, "the changes to be on the server", func(context.Context) error {
			st, err := s.Snapshot(context.Background())
			if err != nil {
				return err
			}
			if st.Teams[0].Name != "The Ops" || st.Teams[0].MemberGroup != "others" || st.Policies[st.Teams[0].ID].RepeatCount != 5 ||
				st.Switches[0].Severity != "warning" || st.Integrations[0].Name != "production" {
				return fmt.Errorf("there is %v %v %v %v", st.Teams, st.Policies, st.Switches, st.Integrations)
			}
			return nil
		})
	})
	isReady(t, all...)

	old := s.one(t, m, dog, alerts)
	s.during(t, "rotate", 8, func() {
		edit(t, b, func(b *oncallv1alpha1.Bootstrap) {
			b.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
		})
		edit(t, m, func(m *oncallv1alpha1.Team) {
			m.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
		})
		eventually(t, "other keys, and one of each account", func(context.Context) error { return otherKeys(s.snapshot(t), old) })
	})
	isReady(t, all...)
	last := s.one(t, m, dog, alerts)
	for i, st := range []*terdutserver.State{old, last} {
		if st.Teams[0].ID != first.Teams[0].ID || st.Switches[0].ID != first.Switches[0].ID || st.Integrations[0].ID != first.Integrations[0].ID {
			t.Errorf("after part %d there is another one: %v %v %v", i+2, st.Teams, st.Switches, st.Integrations)
		}
	}
	post(t, &callServer{Server: s.Server}, ns, "alerts-webhook", alerts.Status.AtProvider.IntegrationID)

	s.during(t, "delete", 10, func() {
		for _, o := range []client.Object{policy, dog, alerts} {
			remove(t, o)
			isGone(t, o)
		}
		for _, o := range []client.Object{m, c, b} {
			remove(t, o)
		}
		for _, o := range []client.Object{m, c, b} {
			isGone(t, o)
		}
	})
	if st := s.snapshot(t); len(st.Teams)+len(st.Switches)+len(st.Integrations)+len(st.ServiceAccounts) != 0 || len(st.Users) != 1 {
		t.Errorf("left: %v %v %v, %d accounts, %d users", st.Teams, st.Switches, st.Integrations, len(st.ServiceAccounts), len(st.Users))
	}
	noCredentials(t, ns)
}

// one of each is on the server, and it is the one that the objects know. Returned is what else is there.
func (s *deadlyServer) one(t *testing.T, m *oncallv1alpha1.Team, dog *oncallv1alpha1.DeadmanSwitch, alerts *oncallv1alpha1.Integration) *terdutserver.State {
	t.Helper()
	st := s.snapshot(t)
	if len(st.Teams) != 1 || len(st.Switches) != 1 || len(st.Integrations) != 1 || len(st.ServiceAccounts) != 2 || len(st.Users) != 1 {
		t.Fatalf("there is not one of each: %v %v %v, %d accounts, %d users", st.Teams, st.Switches, st.Integrations, len(st.ServiceAccounts), len(st.Users))
	}
	if st.Teams[0].ID != m.Status.AtProvider.TeamID || st.Switches[0].ID != dog.Status.AtProvider.SwitchID || st.Integrations[0].ID != alerts.Status.AtProvider.IntegrationID {
		t.Errorf("the objects know others: %v %v %v", st.Teams, st.Switches, st.Integrations)
	}
	if n := len(keysOf(st)); n != 2 {
		t.Errorf("there are keys of %d accounts, want each to have one", n)
	}
	return st
}

// otherKeys is nil when each account has one key, and that is none of before.
func otherKeys(st, old *terdutserver.State) error {
	was, is := keysOf(old), keysOf(st)
	for account, key := range is {
		if key == 0 || key == was[account] {
			return fmt.Errorf("account %d has its old key, or several", account)
		}
	}
	if len(is) != len(was) {
		return fmt.Errorf("%d accounts have keys", len(is))
	}
	return nil
}

// keysOf service accounts: the id of the key that each has, 0 when it has several.
func keysOf(st *terdutserver.State) map[int64]int64 {
	out := map[int64]int64{}
	for _, k := range st.Keys {
		if k.AccountID == 0 {
			continue
		}
		if _, more := out[k.AccountID]; more {
			k.ID = 0
		}
		out[k.AccountID] = k.ID
	}
	return out
}

func (s *deadlyServer) snapshot(t *testing.T) *terdutserver.State {
	t.Helper()
	st, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return st
}
