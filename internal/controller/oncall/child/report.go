package child

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Observations.
var (
	// UpToDate asks for no write.
	UpToDate = managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}
	// Differs asks for an update.
	Differs = managed.ExternalObservation{ResourceExists: true}
	// Absent asks for a create. Of an object that is being deleted it says that nothing is left.
	Absent = managed.ExternalObservation{ResourceUpToDate: true}
)

// A Reporter reports on one kind's objects in that kind's own condition, and in Ready.
type Reporter struct {
	Kind      string
	Condition xpv2.ConditionType
	Recorder  event.Recorder
	Log       logging.Logger
}

// NewReporter returns a Reporter of a kind.
func NewReporter(o setup.Options, kind string, c xpv2.ConditionType, r event.Recorder) Reporter {
	log := o.Logger
	if log == nil {
		log = logging.NewNopLogger()
	}
	return Reporter{Kind: kind, Condition: c, Recorder: r, Log: log}
}

// InSync reports that all is as the spec says.
func (r Reporter) InSync(mg setup.Object) {
	setup.Mark(mg, setup.Condition(r.Condition, corev1.ConditionTrue, v1alpha1.ReasonInSync, ""), xpv2.Available())
}

// Creating reports that there is nothing yet. Why the last create failed stays until one succeeds: a reason that comes and goes with each
// attempt tells nobody anything.
func (r Reporter) Creating(mg setup.Object) {
	if c := mg.GetCondition(r.Condition); c.Status != corev1.ConditionUnknown || c.Reason == "" {
		setup.Mark(mg, setup.Condition(r.Condition, corev1.ConditionFalse, xpv2.ReasonCreating, ""))
	}
	setup.Mark(mg, xpv2.Creating())
}

// Stop reports something that only a person, or a change elsewhere, can resolve. It is no error: nothing is retried but by the poll and by
// what is watched.
func (r Reporter) Stop(mg setup.Object, reason xpv2.ConditionReason, message string) managed.ExternalObservation {
	setup.Report(mg, r.Recorder, setup.Condition(r.Condition, corev1.ConditionFalse, reason, message))
	setup.Mark(mg, setup.NotReady(reason, message))
	return UpToDate
}

// Fail reports an error of the server.
func (r Reporter) Fail(mg setup.Object, err error) error {
	reason := connect.TerdutReason(err)
	if meta.WasDeleted(mg) && reason == v1alpha1.ReasonUnreachable {
		reason = v1alpha1.ReasonDegraded
	}
	setup.Mark(mg, setup.Condition(r.Condition, corev1.ConditionUnknown, reason, err.Error()))
	return connect.WithReason(err, reason)
}

// OnlyObserves is true for an object whose policy lets it look and nothing else.
func OnlyObserves(mg resource.Managed) bool {
	return slices.Equal(mg.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
}

// mayDelete is true when an object's policy lets it delete on the server.
func mayDelete(mg resource.Managed) bool {
	p := mg.GetManagementPolicies()
	return slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, xpv2.ManagementActionDelete)
}
