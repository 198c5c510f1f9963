// Package child holds what is the same for all kinds that belong to a Team: which Team that is, the key that reaches it and nothing else,
// and the record by which what was created on the server is told from what was not.
//
// Names on the server are not unique and its objects carry no mark of ours, so that record is an annotation of the object: it is written
// before anything is created, and says what was asked for. What is found afterwards and is exactly that is the object's own; everything
// else of the same name is somebody else's.
package child

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/consent"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// A Team that a child works on.
type Team struct {
	// Object is the live Team, or the one that was.
	Object *v1alpha1.Team
	// ID of the team on the server.
	ID int64
	// Client reaches this team and no other.
	Client *terdut.Client
	// Leaving is true when the child has moved to another Team: what it has in this one is to go.
	Leaving bool

	era, made string
}

// Teams finds the Teams of children.
type Teams struct {
	kube        client.Reader
	credentials *credential.Store
	clients     *connect.Terdut
}

// NewTeams returns a Teams. Team objects may come from a cache: the key is found by the uid that they have there.
func NewTeams(o setup.Options, kube client.Reader) *Teams {
	return &Teams{kube: kube, credentials: o.Credentials, clients: o.Terdut}
}

// Of returns the Team that a child belongs to. Endpoint, id and key are those of the Secret in the provider's namespace, never of a spec
// or a status. What keeps a child from working now, and is no fault of the server, is a *HoldError.
func (t *Teams) Of(ctx context.Context, mg setup.Object) (*Team, error) {
	if meta.WasDeleted(mg) {
		return t.toDelete(ctx, mg)
	}
	team, err := t.resolve(ctx, mg)
	if err != nil {
		return nil, err
	}
	if r := RecordOf(mg); r != nil && r.Team != team.GetUID() && mayDelete(mg) {
		was, err := t.byUID(ctx, mg.GetNamespace(), r.Team)
		if err != nil {
			return nil, err
		}
		if was != nil {
			return t.leave(ctx, was)
		}
	}
	if meta.WasDeleted(team) {
		return nil, wait("Team %q is being deleted", team.Name)
	}
	c, err := t.credential(ctx, team)
	if err != nil {
		return nil, err
	}
	switch {
	case !complete(c):
		return nil, wait("Team %q is not on its server yet", team.Name)
	case c.Suspended != "":
		return nil, wait("Team %q must not be changed now: %s", team.Name, c.Suspended)
	}
	denied, err := t.denied(ctx, team, c)
	switch {
	case err != nil:
		return nil, err
	case denied != "":
		return nil, wait("Team %q must not be changed now: %s", team.Name, denied)
	}
	return t.team(team, c)
}

// denied says why the config that the Team has its server from does not admit it any more. Not only the Team asks that: one that is paused, or
// was led to another config since, does not. A config that is gone says nothing.
func (t *Teams) denied(ctx context.Context, team *v1alpha1.Team, c *credential.Credential) (string, error) {
	from := c.Config
	if from.Kind == "" {
		kind, n, ok := connect.ConfigRef(team)
		if !ok {
			return "", nil
		}
		from = credential.Owner{Kind: kind, Namespace: n.Namespace, Name: n.Name}
	}
	var pc resource.ProviderConfig = &v1alpha1.ProviderConfig{}
	if from.Kind == connect.KindClusterProviderConfig {
		pc = &v1alpha1.ClusterProviderConfig{}
	}
	n := types.NamespacedName{Namespace: from.Namespace, Name: from.Name}
	if err := t.kube.Get(ctx, n, pc); err != nil {
		if kerrors.IsNotFound(err) {
			return "", nil
		}
		return "", fmt.Errorf("cannot get %s %q: %w", from.Kind, n, err)
	}
	return consent.Denied(ctx, t.kube, pc, team.Namespace)
}

// leave a Team that the child has moved away from.
func (t *Teams) leave(ctx context.Context, was *v1alpha1.Team) (*Team, error) {
	c, err := t.credential(ctx, was)
	if err != nil {
		return nil, err
	}
	if !complete(c) {
		return nil, wait("it still has something on the server that belongs to Team %q, which has no key at the moment", was.Name)
	}
	team, err := t.team(was, c)
	if err != nil {
		return nil, err
	}
	team.Leaving = true
	return team, nil
}

// toDelete returns the Team that what a child has on the server is to be deleted from. It is the one that it was created in, whatever the
// spec says now.
func (t *Teams) toDelete(ctx context.Context, mg setup.Object) (*Team, error) {
	r := RecordOf(mg)
	if r == nil && meta.GetExternalName(mg) == "" {
		return nil, &HoldError{message: "nothing was created", gone: true}
	}
	team, err := t.createdIn(ctx, mg, r)
	if err != nil {
		return nil, err
	}
	if team == nil {
		// It was deleted on the server with all that belonged to it, or it was let go, and so is that.
		return nil, &HoldError{message: "its Team is gone, and with it the key; what was in the team went with it, unless that was left on the server", gone: true, released: true}
	}
	c, err := t.credential(ctx, team)
	switch {
	case err != nil:
		return nil, err
	case complete(c):
		return t.team(team, c)
	}
	return nil, wait("Team %q has no key at the moment", team.Name)
}

// createdIn returns the Team that a child was created in, or nil when that is gone.
func (t *Teams) createdIn(ctx context.Context, mg setup.Object, r *Record) (*v1alpha1.Team, error) {
	if r != nil {
		if team, err := t.byUID(ctx, mg.GetNamespace(), r.Team); team != nil || err != nil {
			return team, err
		}
	}
	team, err := t.resolve(ctx, mg)
	if h := (*HoldError)(nil); errors.As(err, &h) && h.absent {
		return nil, nil
	}
	if err != nil || r == nil {
		return team, err
	}
	// A Team object that was made anew for the same team on the same server will do.
	c, err := t.credential(ctx, team)
	switch {
	case err != nil:
		return nil, err
	case !complete(c):
		// It may come to be that. If it goes before, so does the child.
		return nil, wait("Team %q, in whose place this one may be that it was created in, has no key at the moment", team.Name)
	case eraOf(c) != r.Era:
		return nil, nil
	}
	return team, nil
}

func (t *Teams) credential(ctx context.Context, team *v1alpha1.Team) (*credential.Credential, error) {
	c, err := t.credentials.Team(ctx, team)
	if err != nil {
		return nil, connect.WithReason(err, connect.ReasonOf(err, v1alpha1.ReasonConfigNotReady))
	}
	return c, nil
}

func complete(c *credential.Credential) bool { return c.Complete() && c.TeamID > 0 }

func (t *Teams) team(o *v1alpha1.Team, c *credential.Credential) (*Team, error) {
	cl, err := t.clients.For(c)
	if err != nil {
		return nil, err
	}
	return &Team{Object: o, ID: c.TeamID, Client: cl, era: eraOf(c), made: madeOf(c, o)}, nil
}

// madeOf a credential changes when the Team has made its team again. A server that forgot everything may give the next team the same id, and
// nothing but the Team knows of that where it did not make the server's first user. It is read together with the key, so that what is recorded
// under it is about the team that the key reaches. Where the credential is older than this, the Team's annotation says it.
func madeOf(c *credential.Credential, o *v1alpha1.Team) string {
	if c.Made != "" {
		return c.Made
	}
	return o.GetAnnotations()[meta.AnnotationKeyExternalCreateSucceeded]
}

// eraOf a credential changes when the team has another id, or the provider has made the server's first user again.
func eraOf(c *credential.Credential) string { return fmt.Sprintf("%s/%d", c.Server, c.TeamID) }

// resolve the reference or the selector of a child within its namespace.
func (t *Teams) resolve(ctx context.Context, mg client.Object) (*v1alpha1.Team, error) {
	p, _ := index.TeamParametersOf(mg)
	if p.TeamRef != nil {
		team := &v1alpha1.Team{}
		if err := t.kube.Get(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: p.TeamRef.Name}, team); err != nil {
			if kerrors.IsNotFound(err) {
				return nil, absent("Team %q does not exist", p.TeamRef.Name)
			}
			return nil, fmt.Errorf("cannot get Team %q: %w", p.TeamRef.Name, err)
		}
		return team, nil
	}
	l := &v1alpha1.TeamList{}
	if err := t.kube.List(ctx, l, client.InNamespace(mg.GetNamespace()), client.MatchingLabels(p.TeamSelector.MatchLabels)); err != nil {
		return nil, fmt.Errorf("cannot list Teams: %w", err)
	}
	selector := labels.FormatLabels(p.TeamSelector.MatchLabels)
	switch len(l.Items) {
	case 0:
		return nil, absent("no Team has the labels %s", selector)
	case 1:
		return &l.Items[0], nil
	}
	names := make([]string, len(l.Items))
	for i := range l.Items {
		names[i] = l.Items[i].Name
	}
	slices.Sort(names)
	return nil, wait("more than one Team has the labels %s: %s", selector, strings.Join(names, ", "))
}

// byUID returns a Team of a namespace, or nil when there is none.
func (t *Teams) byUID(ctx context.Context, namespace string, uid types.UID) (*v1alpha1.Team, error) {
	l := &v1alpha1.TeamList{}
	if err := t.kube.List(ctx, l, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("cannot list Teams: %w", err)
	}
	for i := range l.Items {
		if l.Items[i].GetUID() == uid {
			return &l.Items[i], nil
		}
	}
	return nil, nil
}
