// Package oncallchildren proves against the on-call server's stand-in what the controllers of EscalationPolicies, DeadmanSwitches and
// Integrations decide: what they write, what they leave alone, and what they say. Controllers are called as the reconciler calls them, with
// a key that reaches one team.
package oncallchildren

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/deadmanswitch"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/escalationpolicy"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/integration"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// namespace of the Team and its children, and system of the provider.
const namespace, system = "shop", "crossplane-system"

// A world is a server, a cluster, and a provider between them.
type world struct {
	t     *testing.T
	srv   *terdutserver.Server
	admin *terdut.Client
	kube  client.WithWatch
	wire  *wire
	// timeout of the provider's requests.
	timeout time.Duration
	// births counts how often a team was made.
	births int
	// legacy credentials do not tell when the team was made.
	legacy bool

	events  *recorder
	options setup.Options
	// client is the provider's.
	client client.Client
}

// newWorld has the users alice and bob, and the Team "ops" with its own key. A person has made things in the same team and in another one.
func newWorld(t *testing.T) *world {
	t.Helper()
	srv, err := terdutserver.Start(terdutserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	w := &world{t: t, srv: srv, events: &recorder{}}
	w.login()

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&v1alpha1.Integration{}, index.IntegrationBySecret, index.SecretNameOf)
	for _, o := range []client.Object{&v1alpha1.Team{}, &v1alpha1.EscalationPolicy{}, &v1alpha1.DeadmanSwitch{}, &v1alpha1.Integration{}} {
		b = b.WithStatusSubresource(o)
		if _, ok := index.TeamParametersOf(o); ok {
			b = b.WithIndex(o, index.ChildByTeam, index.TeamNameOf)
		}
	}
	w.kube = b.Build()
	w.start()
	w.team("ops")
	return w
}

// login as an administrator with users to page.
func (w *world) login() {
	w.t.Helper()
	key, err := w.srv.AddAdmin(w.t.Context(), "root")
	if err == nil {
		w.admin, err = terdut.New(terdut.Config{Endpoint: w.srv.URL(), Token: terdut.Secret(key)})
	}
	for _, u := range []string{"alice", "bob"} {
		if err == nil {
			_, err = w.srv.AddUser(w.t.Context(), u, u+"@terdut.example")
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// start the provider: what an earlier one held in memory is gone.
func (w *world) start() {
	w.wire = &wire{}
	wi := w.wire
	kube := interceptor.NewClient(w.kube, interceptor.Funcs{
		Get:               wi.get,
		Create:            wi.create,
		Update:            wi.update,
		Patch:             wi.patch,
		SubResourceUpdate: nil,
		SubResourcePatch:  wi.subResourcePatch,
	})
	w.client = setup.NewClient(kube)
	clients := connect.NewTerdut()
	clients.Adjust = func(c *terdut.Config) {
		c.Timeout = w.timeout
		c.WrapTransport = func(base http.RoundTripper) http.RoundTripper {
			wi.base = base
			return wi
		}
	}
	w.options = setup.Options{Terdut: clients, Credentials: credential.NewStore(w.client, system)}
}

// team makes a Team with a key of its own, as its controller would.
func (w *world) team(name string, mods ...func(*v1alpha1.Team)) *v1alpha1.Team {
	w.t.Helper()
	o := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid of Team " + name), Labels: map[string]string{"team": name}}}
	for _, m := range mods {
		m(o)
	}
	if err := w.kube.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
	w.serverTeam(o, "the first")
	return o
}

// serverTeam makes a Team's team on the server, and stores its key. The era is what tells one server from the next.
func (w *world) serverTeam(o *v1alpha1.Team, era string) int64 {
	w.t.Helper()
	ctx := w.t.Context()
	team, err := w.admin.CreateTeam(ctx, o.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	account, err := w.admin.CreateServiceAccount(ctx, fmt.Sprintf("team-%s-%d", o.Name, team.ID), terdut.ScopeTeam, team.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := w.options.Credentials.Team(ctx, o)
	if err != nil {
		w.t.Fatal(err)
	}
	if c == nil {
		c = credential.New(credential.OwnerOf(v1alpha1.TeamKind, o))
	}
	c.Endpoint, c.Server, c.TeamID, c.TeamName = w.admin.Endpoint(), era, team.ID, team.Name
	c.ServiceAccountID, c.KeyID, c.Token = account.ID, account.Key.ID, account.Key.Key
	w.births++
	c.Made = ""
	if !w.legacy {
		c.Made = fmt.Sprintf("birth %d", w.births)
	}
	if err := w.options.Credentials.Save(ctx, c); err != nil {
		w.t.Fatal(err)
	}
	w.wire.forget()
	return team.ID
}

// credential edits what is stored for a Team.
func (w *world) credential(name string, edit func(*credential.Credential)) {
	w.t.Helper()
	c, err := w.options.Credentials.Team(w.t.Context(), w.liveTeam(name))
	if err != nil || c == nil {
		w.t.Fatalf("Team %s has no credential: %v", name, err)
	}
	edit(c)
	if err := w.options.Credentials.Save(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
	w.wire.forget()
}

func (w *world) liveTeam(name string) *v1alpha1.Team {
	w.t.Helper()
	o := &v1alpha1.Team{}
	if err := w.kube.Get(w.t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, o); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// teamID of a Team on the server.
func (w *world) teamID(name string) int64 {
	w.t.Helper()
	c, err := w.options.Credentials.Team(w.t.Context(), w.liveTeam(name))
	if err != nil || c == nil {
		w.t.Fatalf("Team %s has no credential: %v", name, err)
	}
	return c.TeamID
}

// state of the server.
func (w *world) state() *terdutserver.State {
	w.t.Helper()
	s, err := w.srv.Snapshot(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// edit the server behind its API's back.
func (w *world) edit(f func(*terdutserver.State)) {
	w.t.Helper()
	if err := w.srv.Edit(w.t.Context(), f); err != nil {
		w.t.Fatal(err)
	}
}

// reset the server, as one whose database was made anew. Its Team is made anew, too, with the identifiers that it had.
func (w *world) reset(era string) {
	w.t.Helper()
	if err := w.srv.Forget(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.login()
	w.madeAnew(era)
}

// madeAnew makes the Team's team on a server that was made anew.
func (w *world) madeAnew(era string) {
	w.t.Helper()
	o := w.liveTeam("ops")
	if w.legacy {
		// Then the Team's annotation says that it was made.
		meta.SetExternalCreateSucceeded(o, time.Unix(int64(w.births), 0))
		if err := w.kube.Update(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
	w.serverTeam(o, era)
}

// connectors of one life of the provider.
type connectors struct {
	policies     managed.TypedExternalConnector[*v1alpha1.EscalationPolicy]
	switches     managed.TypedExternalConnector[*v1alpha1.DeadmanSwitch]
	integrations managed.TypedExternalConnector[*v1alpha1.Integration]
}

func (w *world) connectors() connectors {
	return connectors{
		policies:     escalationpolicy.NewConnector(w.options, w.client, w.events),
		switches:     deadmanswitch.NewConnector(w.options, w.client, w.events),
		integrations: integration.NewConnector(w.options, w.client, w.events),
	}
}

// pass does one pass of an object's kind.
func (w *world) pass(o setup.Object) error {
	w.t.Helper()
	return w.passWith(w.connectors(), o)
}

func (w *world) passWith(c connectors, o setup.Object) error {
	w.t.Helper()
	switch o := o.(type) {
	case *v1alpha1.EscalationPolicy:
		return pass(w, c.policies, o)
	case *v1alpha1.DeadmanSwitch:
		return pass(w, c.switches, o)
	case *v1alpha1.Integration:
		return pass(w, c.integrations, o)
	}
	return errors.New("no kind of a child")
}
