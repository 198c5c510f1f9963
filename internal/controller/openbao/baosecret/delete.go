package baosecret

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// observeDeleted says whether there is anything left to delete. What is not to be deleted is as good as gone.
func (e *external) observeDeleted(ctx context.Context, mg *v1alpha1.BaoSecret) (managed.ExternalObservation, error) {
	alive, err := e.owners.Alive(ctx, mg)
	if mg.Spec.ForProvider.DeletionPolicy != commonv1alpha1.DeletionDelete {
		if err == nil && !alive {
			e.retain(ctx, mg)
		}
		e.owners.Forget(mg)
		return managed.ExternalObservation{}, nil
	}
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if alive {
		// The composite will make this object again, and it finds its record then.
		e.owners.Forget(mg)
		return managed.ExternalObservation{}, nil
	}

	user, err := e.user(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if user != "" {
		message := fmt.Sprintf("PGDatabase %q still uses this record: it goes first", user)
		setup.Mark(mg, setup.Condition(v1alpha1.TypeRecordReady, corev1.ConditionFalse, v1alpha1.ReasonInUse, message))
		return upToDate, nil
	}

	m, err := e.held(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if m == nil {
		e.owners.Forget(mg)
		return managed.ExternalObservation{}, nil
	}
	return upToDate, nil
}

// Delete the record with all its versions. Whose it is was looked at a moment ago and is looked at again.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.BaoSecret) (managed.ExternalDelete, error) {
	// Not from the condition: it may be of an earlier pass.
	if user, err := e.user(ctx, mg); err != nil || user != "" {
		return managed.ExternalDelete{}, err
	}
	defer e.records.acquire(e.name)()

	m, err := e.held(ctx, mg)
	if err != nil {
		return managed.ExternalDelete{}, e.fail(mg, err)
	}
	if m == nil {
		return managed.ExternalDelete{}, nil
	}
	if err := e.client.DeleteMetadata(ctx, e.mount, e.path); err != nil {
		return managed.ExternalDelete{}, e.fail(mg, err)
	}
	return managed.ExternalDelete{}, nil
}

// held returns the metadata of the record if this very object holds it, and nil if there is nothing of ours: no record, no engine, or
// somebody else's record.
func (e *external) held(ctx context.Context, mg *v1alpha1.BaoSecret) (*openbao.Metadata, error) {
	m, err := e.client.ReadMetadata(ctx, e.mount, e.path)
	if openbao.IsNotFound(err) || openbao.IsMountNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !holds(mg, m) || m.CustomMetadata[tagControlPlane] != e.controlPlane {
		return nil, nil
	}
	return m, nil
}

// retain notes on the record that its owner let go of it. It is best effort: nobody has to be there for an object to leave a record behind.
func (e *external) retain(ctx context.Context, mg *v1alpha1.BaoSecret) {
	defer e.records.acquire(e.name)()
	m, err := e.held(ctx, mg)
	if err != nil || m == nil {
		return
	}
	if m.CurrentVersion == 0 {
		// A mark without data keeps nothing but the path from others.
		_ = e.client.DeleteMetadata(ctx, e.mount, e.path)
		return
	}
	_ = e.client.WriteMetadata(ctx, e.mount, e.path, openbao.MetadataWrite{CustomMetadata: merge(m, map[string]string{tagRetained: "true"})})
}

// user returns the name of a PGDatabase that takes its password from this BaoSecret, empty when there is none.
func (e *external) user(ctx context.Context, mg *v1alpha1.BaoSecret) (string, error) {
	l := &postgresqlv1alpha1.PGDatabaseList{}
	err := e.kube.List(ctx, l, client.InNamespace(mg.GetNamespace()), client.MatchingFields{index.PGDatabaseByBaoSecret: mg.GetName()})
	if err != nil {
		return "", fmt.Errorf("cannot list PGDatabases: %w", err)
	}
	if len(l.Items) == 0 {
		return "", nil
	}
	return l.Items[0].GetName(), nil
}
