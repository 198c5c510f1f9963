package pgdatabase

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// databaseOf returns the name of the database: what the spec says, or the external name, which is the object's name by default.
func databaseOf(mg *v1alpha1.PGDatabase) string {
	if d := mg.Spec.ForProvider.Database; d != nil {
		return *d
	}
	if n := meta.GetExternalName(mg); n != "" {
		return n
	}
	return mg.GetName()
}

// settle which database this object is about. The external name can be edited at any time, the database of an object cannot: once one is
// recorded for it, that is the one. An external name that says something else is refused, so that nobody believes that it counts; one
// that is missing is put back. An object that only looks may look at anything.
func (e *external) settle(ctx context.Context, mg *v1alpha1.PGDatabase) error {
	e.names.Database = databaseOf(mg)
	if mg.Spec.ForProvider.Database == nil && !onlyObserves(mg) {
		if err := e.settleByRecord(ctx, mg); err != nil {
			return err
		}
	}
	return setup.SetExternalName(ctx, e.kube, mg, e.names.Database)
}

func (e *external) settleByRecord(ctx context.Context, mg *v1alpha1.PGDatabase) error {
	recorded, err := e.instance.Recorded(ctx, e.controlPlane, string(mg.GetUID()))
	if err != nil || len(recorded) == 0 || slices.Contains(recorded, e.names.Database) {
		return err
	}
	e.names.Database = recorded[0]
	asked := meta.GetExternalName(mg)
	if len(recorded) == 1 && (asked == "" || meta.WasDeleted(mg)) {
		return nil
	}
	err = fmt.Errorf("the external name was changed to %q, and database %q is recorded for this object: set annotation %s back to that, or make another object for another database",
		asked, recorded[0], meta.AnnotationKeyExternalName)
	return connect.WithReason(err, v1alpha1.ReasonExternalNameChanged)
}
