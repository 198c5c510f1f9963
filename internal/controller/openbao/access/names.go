package access

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/baosecret"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// defaultName is the external name of an object that was given none. A namespace holds no dot, so no two objects have the same. What Tenants are
// composed of has names that begin differently.
func defaultName(mg client.Object) string { return "terdut." + mg.GetNamespace() + "." + mg.GetName() }

// settle which policy or role an object is about. The external name can be edited at any time, and what the object has made under another
// one would be left behind, with the access that it gives. So another name is refused while that is there, a missing one is put back, and
// what is deleted is what was made.
func (c *connector[T]) settle(ctx context.Context, mg T, api *owned) error {
	asked := meta.GetExternalName(mg)
	made, err := madeBefore(ctx, mg, api)
	switch {
	case err != nil:
		return connect.WithReason(err, baosecret.ReasonOf(err))
	case made == "" && asked == "":
		return setup.SetExternalName(ctx, c.kube, mg, defaultName(mg))
	case made == "":
		return nil
	case meta.WasDeleted(mg):
		meta.SetExternalName(mg, made)
		return nil
	case asked == "":
		return setup.SetExternalName(ctx, c.kube, mg, made)
	}
	err = fmt.Errorf("the external name was changed to %q, and this object has made %q: set annotation %s back to that, or make another object for another name",
		asked, made, meta.AnnotationKeyExternalName)
	return connect.WithReason(err, v1alpha1.ReasonExternalNameChanged)
}

// madeBefore returns the external name of what an object holds, by its status, where that is not the one that it asks for.
func madeBefore(ctx context.Context, mg Object, api *owned) (string, error) {
	// An identifier ends with the name, and what is before it cannot be changed.
	id := mg.GetID()
	i := strings.LastIndex(id, "/")
	backend, name := id[:max(i, 0)], id[i+1:]
	if name == "" || name == meta.GetExternalName(mg) || onlyObserves(mg) {
		return "", nil
	}
	held := &owned{API: api.API, who: api.who, purpose: remove}
	var err error
	switch mg.(type) {
	case *accessv1alpha1.Policy:
		_, err = held.ReadPolicy(ctx, name)
	case *accessv1alpha1.KubernetesAuthRole:
		_, err = held.ReadKubernetesAuthRole(ctx, backend, name)
	case *accessv1alpha1.AppRole:
		_, err = held.ReadAppRoleRole(ctx, backend, name)
	}
	if openbao.IsNotFound(err) || openbao.IsMountNotFound(err) {
		return "", nil
	}
	return name, err
}

func onlyObserves(mg Object) bool {
	return slices.Equal(mg.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
}
