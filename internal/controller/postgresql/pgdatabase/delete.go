package pgdatabase

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// reasonRoleKept is the reason of the event which says that a role was left behind.
const reasonRoleKept event.Reason = "RoleKept"

// observeDeleted says whether there is anything left to delete. What is not to be deleted is as good as gone.
func (e *external) observeDeleted(ctx context.Context, mg *v1alpha1.PGDatabase) (managed.ExternalObservation, error) {
	gone := func() (managed.ExternalObservation, error) {
		e.proofs.forget(mg.GetUID())
		e.owners.Forget(mg)
		return managed.ExternalObservation{}, nil
	}
	unsettled := e.settle(ctx, mg)
	alive, err := e.owners.Alive(ctx, mg)
	if mg.Spec.ForProvider.DeletionPolicy != commonv1alpha1.DeletionDelete {
		if err == nil && unsettled == nil && !alive {
			e.retain(ctx, mg)
		}
		return gone()
	}
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if alive {
		// The composite will make this object again, and it finds its database then.
		return gone()
	}
	if unsettled != nil {
		return managed.ExternalObservation{}, e.fail(mg, unsettled)
	}
	_, held, err := e.held(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if !held {
		return gone()
	}
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// Delete the database, then its role, then their records. Whose they are was looked at a moment ago and is looked at again, here and by the
// client before each drop.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.PGDatabase) (managed.ExternalDelete, error) {
	c, held, err := e.held(ctx, mg)
	if err != nil || !held {
		return managed.ExternalDelete{}, err
	}
	err = e.instance.DropDatabase(ctx, c, mg.Spec.ForProvider.TerminateConnections)
	if postgresql.IsInUse(err) {
		// To wait for others is no error. The runtime comes again, with growing pauses.
		setup.Report(mg, e.recorder, notYet(v1alpha1.TypeDatabaseReady, v1alpha1.ReasonInUse, err.Error()))
		return managed.ExternalDelete{}, nil
	}
	if err != nil {
		return managed.ExternalDelete{}, e.failStep(mg, v1alpha1.TypeDatabaseReady, err)
	}
	kept, err := e.instance.DropRole(ctx, c)
	if err != nil {
		return managed.ExternalDelete{}, e.failStep(mg, v1alpha1.TypeRoleReady, err)
	}
	if len(kept) > 0 {
		e.recorder.Event(mg, event.Event{
			Type: event.TypeWarning, Reason: reasonRoleKept,
			Message: fmt.Sprintf("role %q still owns objects or has privileges in %s: it stays, without LOGIN", c.Role, strings.Join(kept, ", ")),
		})
	}
	return managed.ExternalDelete{}, nil
}

// held returns the claim on what is recorded for this very object. The second result is false when there is nothing of ours.
//
// The owner may be gone by now, and anybody who may make a PGDatabase can write any owner reference into it. So what counts is the holder:
// the uid of the object that last acted for the owner, which nobody can choose.
func (e *external) held(ctx context.Context, mg *v1alpha1.PGDatabase) (postgresql.Claim, bool, error) {
	f, err := e.instance.Observe(ctx, e.names)
	if err != nil {
		return postgresql.Claim{}, false, err
	}
	c := postgresql.Claim{Names: e.names, DeletionPolicy: string(mg.Spec.ForProvider.DeletionPolicy)}
	for _, r := range []*postgresql.Record{f.RoleRecord, f.DatabaseRecord} {
		if r != nil && r.Owner.ControlPlane == e.controlPlane && r.Owner.Holder == string(mg.GetUID()) && r.State != postgresql.StateRetained {
			c.Owner = r.Owner
			return c, true, nil
		}
	}
	return c, false, nil
}

// retain marks the records as let go of. It is best effort: nobody has to be there for an object to leave a database behind.
func (e *external) retain(ctx context.Context, mg *v1alpha1.PGDatabase) {
	c, held, err := e.held(ctx, mg)
	if err != nil || !held {
		return
	}
	_ = e.instance.Retain(ctx, c)
}
