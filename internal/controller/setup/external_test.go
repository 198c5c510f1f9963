package setup

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// TestObserve holds what all kinds share: an object whose external system cannot be looked at is not Ready, and an observation speaks of
// a generation.
func TestObserve(t *testing.T) {
	available := func(s *v1alpha1.BaoSecret) { Mark(s, xpv2.Available()) }
	gone := func(s *v1alpha1.BaoSecret) { s.DeletionTimestamp = &deleted }
	unknown := func(r xpv2.ConditionReason) xpv2.Condition {
		return xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionUnknown, Reason: r, Message: "boom", ObservedGeneration: 7}
	}
	old := xpv2.Available().WithObservedGeneration(7)
	withReason := connect.WithReason(errBoom, "ServerAsleep")

	type want struct {
		ready    xpv2.Condition
		observed int64
		err      error
	}
	cases := map[string]struct {
		reason  string
		connect error
		observe error
		mods    []func(*v1alpha1.BaoSecret)
		want    want
	}{
		"Observed": {
			reason: "An observation speaks of the current generation. Ready is the kind's to say.",
			mods:   []func(*v1alpha1.BaoSecret){available},
			want:   want{ready: old, observed: 7},
		},
		"ConnectFails": {
			reason:  "Ready must not stay True when there is no way to look.",
			connect: errBoom,
			mods:    []func(*v1alpha1.BaoSecret){available},
			want:    want{ready: unknown(ReasonUnknown), err: errBoom},
		},
		"ConnectFailsWithReason": {
			reason:  "Ready has the error's own reason.",
			connect: withReason,
			mods:    []func(*v1alpha1.BaoSecret){available},
			want:    want{ready: unknown("ServerAsleep"), err: errBoom},
		},
		"ConnectFailsWhileDeleting": {
			reason:  "While an object is deleted its Ready belongs to the deletion.",
			connect: withReason,
			mods:    []func(*v1alpha1.BaoSecret){available, gone},
			want:    want{ready: old, err: errBoom},
		},
		"ObserveFails": {
			reason:  "Ready must not stay True when nothing was seen, and nothing was observed of this generation.",
			observe: errBoom,
			mods:    []func(*v1alpha1.BaoSecret){available},
			want:    want{ready: unknown(ReasonUnknown), err: errBoom},
		},
		"ObserveFailsWithReason": {
			reason:  "Ready has the error's own reason.",
			observe: withReason,
			want:    want{ready: unknown("ServerAsleep"), err: errBoom},
		},
		"ObserveFailsWhileDeleting": {
			reason:  "While an object is deleted its Ready belongs to the deletion.",
			observe: withReason,
			mods:    []func(*v1alpha1.BaoSecret){available, gone},
			want:    want{ready: old, err: errBoom},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inner := &managed.TypedExternalClientFns[*v1alpha1.BaoSecret]{
				ObserveFn: func(context.Context, *v1alpha1.BaoSecret) (managed.ExternalObservation, error) {
					return managed.ExternalObservation{ResourceExists: true}, tc.observe
				},
			}
			c := &connector[*v1alpha1.BaoSecret]{TypedExternalConnector: managed.TypedExternalConnectorFn[*v1alpha1.BaoSecret](
				func(context.Context, *v1alpha1.BaoSecret) (managed.TypedExternalClient[*v1alpha1.BaoSecret], error) {
					return inner, tc.connect
				})}
			mg := baoSecret(tc.mods...)
			e, err := c.Connect(t.Context(), mg)
			if err == nil {
				var o managed.ExternalObservation
				o, err = e.Observe(t.Context(), mg)
				if !o.ResourceExists {
					t.Errorf("\n%s\nthe kind's observation must be passed on", tc.reason)
				}
			}
			if !errors.Is(err, tc.want.err) {
				t.Errorf("\n%s\nwant error %v, got %v", tc.reason, tc.want.err, err)
			}
			got := mg.GetCondition(xpv2.TypeReady)
			// A generation of 0 would equal every other.
			if diff := cmp.Diff(tc.want.ready, got); diff != "" || got.ObservedGeneration != tc.want.ready.ObservedGeneration {
				t.Errorf("\n%s\nReady: -want, +got:\n%s", tc.reason, diff)
			}
			if mg.GetObservedGeneration() != tc.want.observed {
				t.Errorf("\n%s\nwant observed generation %d, got %d", tc.reason, tc.want.observed, mg.GetObservedGeneration())
			}
		})
	}
}

// TestUpdate holds that an object which could not be put right is not Ready.
func TestUpdate(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   xpv2.ConditionReason
	}{
		"Updated": {"The kind says what it thinks.", nil, xpv2.ReasonAvailable},
		"Fails":   {"Ready says that it is not.", errBoom, ReasonUnknown},
		"Reason":  {"Ready has the error's own reason.", connect.WithReason(errBoom, "Conflict"), "Conflict"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &external[*v1alpha1.BaoSecret]{TypedExternalClient: &managed.TypedExternalClientFns[*v1alpha1.BaoSecret]{
				UpdateFn: func(context.Context, *v1alpha1.BaoSecret) (managed.ExternalUpdate, error) {
					return managed.ExternalUpdate{}, tc.err
				},
			}}
			mg := baoSecret(func(s *v1alpha1.BaoSecret) { Mark(s, xpv2.Available()) })
			_, err := e.Update(t.Context(), mg)
			got := mg.GetCondition(xpv2.TypeReady)
			if !errors.Is(err, tc.err) || got.Reason != tc.want || (got.Status == corev1.ConditionTrue) != (tc.err == nil) || got.ObservedGeneration != 7 {
				t.Errorf("%s want reason %s, got %v and error %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// TestReport holds that each transition to a bad state is told once.
func TestReport(t *testing.T) {
	const kind xpv2.ConditionType = "RecordReady"
	bad := func(r xpv2.ConditionReason, m string) xpv2.Condition {
		return Condition(kind, corev1.ConditionFalse, r, m)
	}
	good := Condition(kind, corev1.ConditionTrue, "Stored", "")
	cases := map[string]struct {
		reason string
		report []xpv2.Condition
		want   []event.Reason
	}{
		"Good": {
			reason: "Good news is no warning.",
			report: []xpv2.Condition{good, good},
		},
		"Once": {
			reason: "What is known need not be told again, also with another wording.",
			report: []xpv2.Condition{bad("Conflict", "a"), bad("Conflict", "a"), bad("Conflict", "b")},
			want:   []event.Reason{"Conflict"},
		},
		"OtherReason": {
			reason: "Another reason is news.",
			report: []xpv2.Condition{bad("Conflict", ""), bad("DataLost", "")},
			want:   []event.Reason{"Conflict", "DataLost"},
		},
		"Again": {
			reason: "What was good in between is news again.",
			report: []xpv2.Condition{bad("Conflict", ""), good, bad("Conflict", "")},
			want:   []event.Reason{"Conflict", "Conflict"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, mg := &recorder{}, baoSecret()
			for _, c := range tc.report {
				Report(mg, r, c)
				if got := mg.GetCondition(kind); !got.Equal(c) || got.ObservedGeneration != 7 {
					t.Errorf("\n%s\nwant condition %v, got %v", tc.reason, c, got)
				}
			}
			var got []event.Reason
			for _, e := range r.events {
				got = append(got, e.Reason)
				if e.Type != event.TypeWarning {
					t.Errorf("\n%s\nwant a warning, got %s", tc.reason, e.Type)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nevents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTransitions holds that the time of a condition moves with its status alone: another message or generation is no transition.
func TestTransitions(t *testing.T) {
	at := func(hour int) metav1.Time { return metav1.NewTime(time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC)) }
	condition := func(s corev1.ConditionStatus, message string, hour int) xpv2.Condition {
		return xpv2.Condition{Type: xpv2.TypeReady, Status: s, Reason: "Some", Message: message, LastTransitionTime: at(hour)}
	}
	mg := baoSecret()
	for _, step := range []struct {
		reason     string
		condition  xpv2.Condition
		generation int64
		want       metav1.Time
	}{
		{"It is new.", condition(corev1.ConditionFalse, "a", 1), 7, at(1)},
		{"The message is another.", condition(corev1.ConditionFalse, "b", 2), 7, at(1)},
		{"It is about another generation.", condition(corev1.ConditionFalse, "b", 3), 8, at(1)},
		{"It has become true.", condition(corev1.ConditionTrue, "b", 4), 8, at(4)},
	} {
		mg.Generation = step.generation
		Mark(mg, step.condition)
		c := mg.GetCondition(xpv2.TypeReady)
		if !c.LastTransitionTime.Equal(&step.want) {
			t.Errorf("%s lastTransitionTime: got %s, want %s", step.reason, c.LastTransitionTime, step.want)
		}
		if c.Message != step.condition.Message || c.ObservedGeneration != step.generation {
			t.Errorf("%s got %+v", step.reason, c)
		}
	}
}
