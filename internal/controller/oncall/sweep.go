package oncall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// sweepInterval is how often credentials are looked for whose object is gone.
const sweepInterval = time.Hour

// A Sweeper removes credentials whose object is gone. An object that is let go without contact, because its management policies do not allow to
// delete, leaves its credential behind: nobody is asked then. A Bootstrap's is retained, because it may be the only way into its server.
type Sweeper struct {
	Live  client.Reader
	Store *credential.Store
	Log   logging.Logger
}

// Start implements manager.Runnable. It runs in the one provider that works.
func (s *Sweeper) Start(ctx context.Context) error {
	t := time.NewTicker(sweepInterval)
	defer t.Stop()
	for {
		if err := s.Sweep(ctx); err != nil {
			s.Log.Info("cannot sweep credentials", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// Sweep once.
func (s *Sweeper) Sweep(ctx context.Context) error {
	all, err := s.Store.All(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range all {
		if c.Owner.UID == "" {
			continue
		}
		gone, err := s.gone(ctx, c.Owner)
		switch {
		case err != nil:
		case !gone:
			continue
		case c.Owner.Kind == v1alpha1.BootstrapKind && (c.Complete() || c.AdminToken != ""):
			err = s.Store.Retain(ctx, c)
		default:
			err = s.Store.Delete(ctx, c)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *Sweeper) gone(ctx context.Context, o credential.Owner) (bool, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(o.Kind))
	n := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	err := s.Live.Get(ctx, n, m)
	if kerrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot get %s %q: %w", o.Kind, n, err)
	}
	return m.GetUID() != o.UID, nil
}
