package baosecret

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

var _ managed.TypedExternalClient[*v1alpha1.BaoSecret] = &external{}

// external is one reconcile's view of one record.
type external struct {
	*connector

	cfg    *connect.OpenBaoConfig
	client *openbao.Client
	mount  string
	path   string
	// name is the external name, <mount>/<path>.
	name string
}

// upToDate is an observation that asks for no write.
var upToDate = managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}

// absent is an observation of a record that is to be created, where that is allowed.
var absent = managed.ExternalObservation{ResourceUpToDate: true}

func (e *external) Observe(ctx context.Context, mg *v1alpha1.BaoSecret) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mg) {
		return e.observeDeleted(ctx, mg)
	}
	record, err := e.read(ctx)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	e.project(mg, record)
	if onlyObserves(mg) {
		return e.observeOnly(mg, record), nil
	}
	who, err := e.claimant(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}

	if r, message := e.blocked(mg, record, who); r != "" {
		return e.stop(mg, r, message), nil
	}
	if record.metadata == nil || record.metadata.CurrentVersion == 0 {
		return e.plan(ctx, mg, record, who, absent)
	}
	return e.plan(ctx, mg, record, who, managed.ExternalObservation{ResourceExists: true})
}

// blocked says why the record must not be written, with no reason when it may be: it is somebody else's, or data that was there is gone
// and no admin allows to make it anew.
func (e *external) blocked(mg *v1alpha1.BaoSecret, r *record, who claimant) (xpv2.ConditionReason, string) {
	c := consentsOf(e.cfg.Server)
	if judge(r.metadata, e.name, who, c) == foreign {
		return v1alpha1.ReasonConflict, conflict(r.metadata, e.name)
	}
	how := ""
	switch {
	case r.metadata == nil:
		if wasCreated(mg) {
			how = "has vanished"
		}
	case r.metadata.CurrentVersion == 0:
		// The consent to make a vanished record anew holds until its data is there.
		if wasCreated(mg) && !c.recreate(nil, e.name, who) {
			how = "has lost its versions"
		}
	case r.data == nil:
		how = "has a deleted or destroyed current version"
	}
	if how == "" || c.recreate(r.metadata, e.name, who) {
		return "", ""
	}
	return v1alpha1.ReasonDataLost, fmt.Sprintf("record %q %s: restore it, or have an admin allow a new one with recreate in the provider config's adoptions", e.name, how)
}

// plan computes what the record should hold, and says whether that is what it holds.
func (e *external) plan(ctx context.Context, mg *v1alpha1.BaoSecret, r *record, who claimant, o managed.ExternalObservation) (managed.ExternalObservation, error) {
	w, err := e.writes(ctx, mg, r, who)
	if err != nil {
		reason, ok := waitsFor(err)
		if !ok {
			return o, e.fail(mg, err)
		}
		return e.stop(mg, reason, err.Error()), nil
	}
	if !o.ResourceExists {
		// Why the last create failed stays until one succeeds: a reason that comes and goes with each attempt tells nobody anything.
		if c := mg.GetCondition(v1alpha1.TypeRecordReady); c.Status != corev1.ConditionUnknown || c.Reason == "" {
			setup.Mark(mg, setup.Condition(v1alpha1.TypeRecordReady, corev1.ConditionFalse, xpv2.ReasonCreating, ""))
		}
		setup.Mark(mg, xpv2.Creating())
		return o, nil
	}
	o.ResourceUpToDate = w.none()
	if o.ResourceUpToDate {
		setup.Mark(mg, setup.Condition(v1alpha1.TypeRecordReady, corev1.ConditionTrue, v1alpha1.ReasonStored, ""), xpv2.Available())
	}
	return o, nil
}

// Create marks the record as ours, then writes its data.
func (e *external) Create(ctx context.Context, mg *v1alpha1.BaoSecret) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, e.apply(ctx, mg)
}

// Update writes what differs.
func (e *external) Update(ctx context.Context, mg *v1alpha1.BaoSecret) (managed.ExternalUpdate, error) {
	if err := e.apply(ctx, mg); err != nil {
		return managed.ExternalUpdate{}, err
	}
	setup.Mark(mg, setup.Condition(v1alpha1.TypeRecordReady, corev1.ConditionTrue, v1alpha1.ReasonStored, ""), xpv2.Available())
	return managed.ExternalUpdate{}, nil
}

// Disconnect is nothing: clients are shared.
func (e *external) Disconnect(context.Context) error { return nil }

// claimant returns who asks for the record.
func (e *external) claimant(ctx context.Context, mg *v1alpha1.BaoSecret) (claimant, error) {
	id, err := e.owners.Of(ctx, mg, v1alpha1.BaoSecretGroupVersionKind)
	if err != nil {
		return claimant{}, err
	}
	return claimant{
		controlPlane: e.controlPlane,
		ownerUID:     string(id.UID),
		owner:        id.Namespace + "/" + id.Name,
		holder:       string(mg.GetUID()),
	}, nil
}

// A record as it was read. Without metadata there is none; without data it has no current version that can be read.
type record struct {
	metadata *openbao.Metadata
	data     map[string]json.RawMessage
}

// read the record with at most two calls.
func (e *external) read(ctx context.Context) (*record, error) {
	m, err := e.client.ReadMetadata(ctx, e.mount, e.path)
	if openbao.IsNotFound(err) {
		return &record{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := &record{metadata: m}
	if v, ok := m.Current(); !ok || !v.Live(time.Now()) {
		return r, nil
	}
	d, err := e.client.ReadData(ctx, e.mount, e.path, m.CurrentVersion)
	if openbao.IsDeleted(err) || openbao.IsNotFound(err) {
		// Deleted between the two calls.
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.data = d.Values
	return r, nil
}

// sources reads the values that come from Secrets, by key.
func (e *external) sources(ctx context.Context, mg *v1alpha1.BaoSecret) (map[string]string, error) {
	values := map[string]string{}
	for _, i := range mg.Spec.ForProvider.Data {
		if i.ValueFrom == nil {
			continue
		}
		ref := i.ValueFrom.SecretKeyRef
		v, _, err := e.secrets.Read(ctx, types.NamespacedName{Namespace: mg.Namespace, Name: ref.Name}, ref.Key)
		if err != nil {
			return nil, err
		}
		if !utf8.ValidString(v[0]) {
			// JSON would keep something else, which would differ again at each look.
			return nil, &planError{connect.WithReason(fmt.Errorf("key %q of Secret %q is no text: OpenBao keeps text (UTF-8) alone, so store it encoded, for example in base64",
				ref.Key, ref.Name), v1alpha1.ReasonSourceNotReady)}
		}
		values[i.Key] = v[0]
	}
	return values, nil
}

// stop reports something that only a person, or a change elsewhere, can resolve. It is no error: nothing is retried but by the poll and by
// what is watched.
func (e *external) stop(mg *v1alpha1.BaoSecret, r xpv2.ConditionReason, message string) managed.ExternalObservation {
	setup.Report(mg, e.recorder, setup.Condition(v1alpha1.TypeRecordReady, corev1.ConditionFalse, r, message))
	setup.Mark(mg, setup.NotReady(r, message))
	return upToDate
}

// fail reports an error of the server.
func (e *external) fail(mg *v1alpha1.BaoSecret, err error) error {
	r := ReasonOf(err)
	if meta.WasDeleted(mg) && (r == v1alpha1.ReasonUnreachable || r == v1alpha1.ReasonSealed) {
		r = v1alpha1.ReasonDegraded
	}
	setup.Mark(mg, setup.Condition(v1alpha1.TypeRecordReady, corev1.ConditionUnknown, r, err.Error()))
	return connect.WithReason(err, r)
}

// ReasonOf maps an error of the client to a condition reason.
func ReasonOf(err error) xpv2.ConditionReason {
	switch {
	case openbao.IsMountNotFound(err):
		return v1alpha1.ReasonMountNotFound
	case openbao.IsPermissionDenied(err):
		return v1alpha1.ReasonPermissionDenied
	case openbao.IsSealed(err):
		return v1alpha1.ReasonSealed
	case openbao.IsUnreachable(err), openbao.IsStandby(err):
		return v1alpha1.ReasonUnreachable
	case openbao.IsCASMismatch(err):
		return v1alpha1.ReasonCASMismatch
	}
	return connect.ReasonOf(err, v1alpha1.ReasonFailed)
}

// waitsFor returns the reason of an error that is no fault of the server: something that the spec names is missing or cannot be used.
func waitsFor(err error) (xpv2.ConditionReason, bool) {
	if e := (*connect.MissingSecretError)(nil); errors.As(err, &e) {
		return v1alpha1.ReasonSourceNotReady, true
	}
	if e := (*planError)(nil); errors.As(err, &e) {
		return connect.ReasonOf(err, v1alpha1.ReasonTemplateFailed), true
	}
	return "", false
}

// wasCreated is true when a create of this object has succeeded before: the runtime notes it in an annotation, which survives a lost status.
func wasCreated(mg *v1alpha1.BaoSecret) bool {
	return mg.Status.AtProvider.Version > 0 || !meta.GetExternalCreateSucceeded(mg).IsZero()
}

func onlyObserves(mg *v1alpha1.BaoSecret) bool {
	return slices.Equal(mg.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
}
