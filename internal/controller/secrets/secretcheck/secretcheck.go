// Package secretcheck reconciles SecretChecks: it says whether a Secret holds what a contract asks for, is delivered by its ExternalSecret
// and consumed by its workloads.
//
// There is no external system, so to observe is to evaluate, and nothing is ever written but status, events and metrics. Nothing is
// cached of a Secret but its metadata without annotations: its data is read when a check is authorized, handed to the pure validator, and
// let go.
package secretcheck

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// retryUnknown is how soon something that could not be looked at is looked at again, where no watch would tell that it can be now.
const retryUnknown = 15 * time.Second

// Setup starts the controller of SecretChecks.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	kube := mgr.GetClient()
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(managed.ControllerName(v1alpha1.SecretCheckGroupVersionKind.GroupKind().String())))
	k := setup.Kind[*v1alpha1.SecretCheck]{
		GVK:       v1alpha1.SecretCheckGroupVersionKind,
		Object:    &v1alpha1.SecretCheck{},
		List:      &v1alpha1.SecretCheckList{},
		Connector: NewConnector(o, mgr.GetAPIReader(), recorder),
		Reconciler: []managed.ReconcilerOption{
			// There is nothing to clean up, so nothing holds a check, or its namespace, when it is deleted.
			managed.WithFinalizer(noFinalizer),
			managed.WithPollIntervalHook(nextCheck(time.Now)),
		},
	}
	if err := registerMetrics(mgr, o); err != nil {
		return err
	}
	return setup.Managed(mgr, o, k,
		setup.WatchSecrets(checksOf(kube, bySecret)),
		watchWorkloads(kube),
		watchExternalSecrets(mgr, o.ExternalSecretVersions),
		watchGrants(kube),
	)
}

var noFinalizer = resource.FinalizerFns{
	AddFinalizerFn:    func(context.Context, resource.Object) error { return nil },
	RemoveFinalizerFn: func(context.Context, resource.Object) error { return nil },
}

// nextCheck returns how soon an object is looked at again: at the next moment at which time alone changes what is found, soon when
// something could not be looked at, and otherwise with the poll.
func nextCheck(now func() time.Time) managed.PollIntervalHook {
	return func(mg resource.Managed, poll time.Duration) time.Duration {
		c, ok := mg.(*v1alpha1.SecretCheck)
		if !ok {
			return poll
		}
		// Not all at once, say after a restart.
		next := poll + rand.N(poll/10+1)
		if unseen(c) {
			next = min(next, retryUnknown)
		}
		if t := c.Status.AtProvider.NextCheckTime; t != nil {
			next = min(next, max(t.Sub(now()), time.Second))
		}
		return next
	}
}

// unseen says whether there is anything that could not be looked at, required or not. What waits for something that a watch tells of is not
// among it.
func unseen(c *v1alpha1.SecretCheck) bool {
	for _, t := range []xpv2.ConditionType{
		v1alpha1.TypeSatisfied, v1alpha1.TypeSecretExists, v1alpha1.TypeKeysValid,
		v1alpha1.TypeExternalSecretReady, v1alpha1.TypeWorkloadsConfigured, v1alpha1.TypeRotationPolicySatisfied,
	} {
		is := c.GetCondition(t)
		switch string(is.Reason) {
		case contract.ReasonSecretNotFound.String(), contract.ReasonInvalidSpec.String(), contract.ReasonAccessNotApproved.String():
		default:
			if is.Status == corev1.ConditionUnknown {
				return true
			}
		}
	}
	return false
}

type connector struct {
	live     client.Reader
	secrets  *connect.Secrets
	recorder event.Recorder
	now      func() time.Time
	// versions of ExternalSecrets that are supported.
	versions []string
	// grants says that a check needs a SecretAccessGrant.
	grants bool
}

// NewConnector returns what evaluates SecretChecks. Whatever it looks at is read live.
func NewConnector(o setup.Options, live client.Reader, r event.Recorder) managed.TypedExternalConnector[*v1alpha1.SecretCheck] {
	return &connector{
		live: live, secrets: o.Secrets, recorder: r, now: time.Now,
		versions: o.ExternalSecretVersions, grants: o.SecretGrants,
	}
}

func (c *connector) Connect(context.Context, *v1alpha1.SecretCheck) (managed.TypedExternalClient[*v1alpha1.SecretCheck], error) {
	return &external{connector: c}, nil
}

type external struct{ *connector }

// errNothingToWrite is returned by the verbs that are never reached.
var errNothingToWrite = errors.New("a SecretCheck has nothing to write")

func (e *external) Observe(ctx context.Context, mg *v1alpha1.SecretCheck) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mg) {
		return managed.ExternalObservation{}, nil
	}
	start := time.Now()
	v, err := e.evaluate(ctx, mg)
	e.report(mg, v, err)
	measure(v, err, time.Since(start))
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, err
}

func (e *external) Create(context.Context, *v1alpha1.SecretCheck) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, errNothingToWrite
}

func (e *external) Update(context.Context, *v1alpha1.SecretCheck) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, errNothingToWrite
}

func (e *external) Delete(context.Context, *v1alpha1.SecretCheck) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, errNothingToWrite
}

func (e *external) Disconnect(context.Context) error { return nil }
