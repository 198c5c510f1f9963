package oncall

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// faults are misbehaviours of a server.
var faults = map[string]terdutserver.Fault{
	"Delay":       {Delay: 20 * time.Millisecond},
	"DropBefore":  {Drop: true},
	"DropAfter":   {Drop: true, Commit: true},
	"Truncated":   {Truncate: true, Commit: true},
	"401":         {Status: http.StatusUnauthorized},
	"403":         {Status: http.StatusForbidden},
	"404":         {Status: http.StatusNotFound},
	"404Page":     {Status: http.StatusNotFound, ContentType: "text/html", Body: "<h1>Not here</h1>"},
	"409":         {Status: http.StatusConflict},
	"429":         {Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "0"}},
	"500":         {Status: http.StatusInternalServerError},
	"500After":    {Status: http.StatusInternalServerError, Commit: true},
	"503Page":     {Status: http.StatusServiceUnavailable, ContentType: "text/html", Body: "<h1>Back soon</h1>"},
	"Redirect":    {Status: http.StatusFound, Header: map[string]string{"Location": "http://elsewhere.example/api"}},
	"LoginPage":   {Status: http.StatusOK, ContentType: "text/html", Body: "<form>"},
	"OtherServer": {Status: http.StatusOK, Body: `{"hello": "world"}`},
}

// calls are those that the stages of TestFaults make.
var calls = map[string][]struct{ method, route string }{
	"Create": {
		{http.MethodGet, "/healthz"}, {http.MethodPost, "/api/bootstrap"}, {http.MethodPost, "/api/service-accounts"},
		{http.MethodGet, "/api/service-accounts/{account}/keys"}, {http.MethodGet, "/api/teams"}, {http.MethodPost, "/api/teams"},
		{http.MethodGet, "/api/teams/{team}"}, {http.MethodGet, "/api/service-accounts"},
	},
	"Update": {
		{http.MethodGet, "/api/teams/{team}"}, {http.MethodGet, "/api/service-accounts"}, {http.MethodGet, "/api/teams"},
		{http.MethodPut, "/api/teams/{team}"}, {http.MethodPut, "/api/teams/{team}/oidc-groups"},
	},
	"Rotate": {
		{http.MethodGet, "/api/service-accounts/{account}/keys"}, {http.MethodPost, "/api/service-accounts/{account}/keys"},
		{http.MethodDelete, "/api/service-accounts/{account}/keys/{id}"}, {http.MethodGet, "/api/users"},
	},
	"Recreate": {{http.MethodGet, "/api/teams/{team}"}, {http.MethodGet, "/api/teams"}, {http.MethodPost, "/api/teams"}, {http.MethodPost, "/api/service-accounts"}},
	"Delete": {
		{http.MethodGet, "/api/teams/{team}"}, {http.MethodDelete, "/api/teams/{team}"}, {http.MethodGet, "/api/service-accounts"},
		{http.MethodDelete, "/api/service-accounts/{account}"},
	},
}

// TestFaults holds that whatever a server does to a call, nothing is there twice afterwards, nothing is left, and what is somebody else's is
// as it was.
func TestFaults(t *testing.T) {
	n := 0
	for name, all := range calls {
		for _, c := range all {
			for fault, f := range faults {
				n++
				t.Run(name+" "+c.method+" "+c.route+" "+fault, func(t *testing.T) {
					t.Parallel()
					f.Method, f.Route, f.Times = c.method, c.route, 2
					stages[name].misbehave(t, f)
				})
			}
		}
	}
	t.Logf("%d combinations of call and fault", n)
}

func (s stage) misbehave(t *testing.T, f terdutserver.Fault) {
	w, b, m := s.start(t)
	w.polls = 2 // There are hundreds of these.
	if !s.first {
		// Somebody else's, made after ours. Before, it would keep the first user from being made.
		w.foreign()
	}
	was := w.state()
	w.server.Inject(f)
	s.do(w, b, m)
	rows := func() (int, int) { st := w.state(); return len(st.Teams), len(st.ServiceAccounts) }
	teams, accounts := rows()
	for range 4 {
		_ = w.passAll(1, b, m)
		nowTeams, nowAccounts := rows()
		if nowTeams > max(teams, len(was.Teams)+1) || nowAccounts > max(accounts, len(was.ServiceAccounts)+2) {
			t.Fatalf("the server has %d teams and %d accounts while it misbehaves", nowTeams, nowAccounts)
		}
	}
	w.server.ClearFaults()
	w.settle(t, s, b, m)
	if s.first {
		if st := w.state(); len(st.Users) == 2 {
			s.keys++ // The administrator's who let the provider in.
		}
	} else {
		s.accounts, s.keys, s.teams = s.accounts+1, s.keys+2, s.teams+1
	}
	s.check(t, w, b, m)
	w.foreignIsAsItWas(t, was)
}

// settle makes passes until the objects are where the stage ends.
func (w *world) settle(t *testing.T, s stage, b *v1alpha1.Bootstrap, m *v1alpha1.Team) {
	t.Helper()
	done := func() bool {
		if s.gone {
			return !w.exists(b) && !w.exists(m)
		}
		return b.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonAvailable && m.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonAvailable
	}
	let := false
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := w.passAll(1, b, m)
		if err == nil && done() && w.passAll(2, b, m) == nil {
			return
		}
		if b.GetCondition(v1alpha1.TypeBootstrapped).Reason == v1alpha1.ReasonBootstrapStateLost && !let && s.first {
			// The answer with the first user's key was lost, or something in front of the server said that there are users.
			w.letIn(b)
			let = true
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not end: %v; %v; %v", err, b.GetCondition(v1alpha1.TypeBootstrapped), m.GetCondition(v1alpha1.TypeTeamReady))
		}
		<-time.After(20 * time.Millisecond) // A server may ask to be left alone for a moment.
	}
}

// letIn gives a Bootstrap an administrator's key.
func (w *world) letIn(b *v1alpha1.Bootstrap) {
	w.t.Helper()
	key, err := w.server.AddAdmin(context.Background(), "root")
	if err != nil {
		w.t.Fatal(err)
	}
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "root"}, Data: map[string][]byte{"key": []byte(key)}})
	change(w, b, func(b *v1alpha1.Bootstrap) {
		b.Spec.ForProvider.AdminKeySecretRef = &commonv1alpha1.LocalSecretKeySelector{Name: "root", Key: "key"}
	})
}

// Identifiers that nothing of ours has.
const foreignTeam, foreignAccount = 900, 901

// foreign adds a team and an account that are somebody else's, with two keys.
func (w *world) foreign() {
	w.t.Helper()
	err := w.server.Edit(context.Background(), func(s *terdutserver.State) {
		s.Teams = append(s.Teams, terdutserver.Team{ID: foreignTeam, Name: "foreign", MemberGroup: "theirs"})
		s.ServiceAccounts = append(s.ServiceAccounts, terdutserver.ServiceAccount{ID: foreignAccount, Name: "foreign", Scope: terdutserver.ScopeTeam, TeamID: foreignTeam})
		for id := range int64(2) {
			s.Keys = append(s.Keys, terdutserver.Key{ID: foreignAccount + id, AccountID: foreignAccount, Hash: "none"})
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) foreignIsAsItWas(t *testing.T, was *terdutserver.State) {
	t.Helper()
	pick := func(s *terdutserver.State) (teams []terdutserver.Team, accounts []terdutserver.ServiceAccount, keys []int64) {
		for _, v := range s.Teams {
			if v.ID == foreignTeam {
				teams = append(teams, v)
			}
		}
		for _, v := range s.ServiceAccounts {
			if v.ID == foreignAccount {
				accounts = append(accounts, v)
			}
		}
		for _, v := range s.Keys {
			if v.AccountID == foreignAccount {
				keys = append(keys, v.ID)
			}
		}
		return teams, accounts, keys
	}
	t1, a1, k1 := pick(was)
	t2, a2, k2 := pick(w.state())
	if !slices.Equal(t1, t2) || !slices.Equal(a1, a2) || !slices.Equal(k1, k2) {
		t.Error("what is somebody else's has changed")
	}
}
