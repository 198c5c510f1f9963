package oncallchildren

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// TestRemadeTeamHoldsBack holds that an object which is deleted while its Team has been made anew, and is not on its server yet, waits for that:
// it goes from the server when the Team has the team that it had, and without it when the Team goes or gets another team.
func TestRemadeTeamHoldsBack(t *testing.T) {
	for name, end := range map[string]func(w *world, is *v1alpha1.Team, c credential.Credential) (left bool){
		"SameTeam": func(w *world, is *v1alpha1.Team, c credential.Credential) bool {
			w.credential(is.Name, func(n *credential.Credential) {
				n.TeamID, n.Made, n.ServiceAccountID, n.KeyID, n.Token = c.TeamID, c.Made, c.ServiceAccountID, c.KeyID, c.Token
			})
			return false
		},
		"OtherTeam": func(w *world, is *v1alpha1.Team, c credential.Credential) bool {
			w.credential(is.Name, func(n *credential.Credential) {
				n.TeamID, n.Made, n.ServiceAccountID, n.KeyID, n.Token = c.TeamID+1, "another", c.ServiceAccountID, c.KeyID, c.Token
			})
			return true
		},
		"Gone": func(w *world, is *v1alpha1.Team, _ credential.Credential) bool {
			w.remove(is)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			kind(t, func(t *testing.T, o setup.Object) {
				w := newWorld(t)
				w.apply(o)
				w.settle(o)
				was := w.liveTeam("ops")
				c, err := w.options.Credentials.Team(t.Context(), was)
				if err != nil {
					t.Fatal(err)
				}
				w.remove(was)
				is := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ops", UID: "another uid"}}
				if err := w.kube.Create(t.Context(), is); err != nil {
					t.Fatal(err)
				}
				w.remove(o)
				w.settle(o)
				w.own(load(w, o), v1alpha1.ReasonWaitingForTeam)
				n := credential.New(credential.OwnerOf(v1alpha1.TeamKind, is))
				n.Endpoint, n.Server, n.Pending = c.Endpoint, c.Server, "ops"
				if err := w.options.Credentials.Save(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				w.settle(o)
				w.own(load(w, o), v1alpha1.ReasonWaitingForTeam)
				left := end(w, is, *c)
				w.settle(o)
				w.gone(o)
				if r := w.rows(); len(r.Policies)+len(r.Switches)+len(r.Integrations) > 0 != left {
					t.Errorf("on the server are %v", r)
				}
			})
		})
	}
}
