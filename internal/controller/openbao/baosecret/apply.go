package baosecret

import (
	"context"
	"errors"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// attempts is how often a record that others write at the same time is looked at anew before that is an error.
const attempts = 3

// apply brings the record to what the spec asks for, under the record's lock. Whoever finds that somebody else has written the record
// looks at it anew and decides again.
func (e *external) apply(ctx context.Context, mg *v1alpha1.BaoSecret) error {
	defer e.records.acquire(e.name)()

	who, err := e.claimant(ctx, mg)
	if err != nil {
		return err
	}
	for range attempts {
		if err = e.attempt(ctx, mg, who); ReasonOf(err) != v1alpha1.ReasonCASMismatch {
			break
		}
	}
	return err
}

// attempt reads the record, marks it, makes sure that the mark is ours, only then writes data, and at last notes what the data holds. It can
// be interrupted anywhere: the next one reads how far this one came.
func (e *external) attempt(ctx context.Context, mg *v1alpha1.BaoSecret, who claimant) error {
	r, err := e.read(ctx)
	if err != nil {
		return e.fail(mg, err)
	}
	if reason, message := e.blocked(mg, r, who); reason != "" {
		return connect.WithReason(errors.New(message), reason)
	}
	w, err := e.writes(ctx, mg, r, who)
	if err != nil {
		return err
	}

	if w.metadata != nil {
		if err := e.client.WriteMetadata(ctx, e.mount, e.path, *w.metadata); err != nil {
			return e.fail(mg, err)
		}
		if err := e.confirm(ctx, who, w.cas); err != nil {
			e.takeBack(ctx, who, w, err)
			return e.fail(mg, err)
		}
	}
	if w.data != nil {
		if _, err := e.client.WriteData(ctx, e.mount, e.path, w.data, w.cas); err != nil {
			e.takeBack(ctx, who, w, err)
			return e.fail(mg, err)
		}
	}

	if r, err = e.read(ctx); err != nil {
		return e.fail(mg, err)
	}
	if w.data != nil {
		if err := e.note(ctx, who, r.metadata, w.after); err != nil {
			return e.fail(mg, err)
		}
	}
	e.project(mg, r)
	return nil
}

// confirm that the record bears our mark and has the version that was read. Two control planes may mark a record at the same time: the mark
// that stays decides, and the other one yields.
func (e *external) confirm(ctx context.Context, who claimant, version int) error {
	m, err := e.client.ReadMetadata(ctx, e.mount, e.path)
	if err != nil {
		return err
	}
	if judge(m, e.name, who, consents{}) != ours {
		return connect.WithReason(errors.New(conflict(m, e.name)), v1alpha1.ReasonConflict)
	}
	if m.CurrentVersion != version {
		return connect.WithReason(errors.New("the record was written by somebody else meanwhile: trying again"), v1alpha1.ReasonCASMismatch)
	}
	return nil
}

// note what the data holds that was just written. The metadata is as it was read after the data, and becomes what is written.
func (e *external) note(ctx context.Context, who claimant, m *openbao.Metadata, changes map[string]string) error {
	if m == nil || judge(m, e.name, who, consents{}) != ours {
		// Somebody else's by now, or gone: the next pass reports that.
		return nil
	}
	w := metadataWrite(m, changes, nil)
	if w == nil {
		return nil
	}
	if err := e.client.WriteMetadata(ctx, e.mount, e.path, *w); err != nil {
		return err
	}
	m.CustomMetadata = w.CustomMetadata
	return nil
}

// takeBack removes the marker of a rotation whose version somebody else made, which nobody may take for the rotation. Only a marker that was
// written a moment ago is: with an earlier one, the version may be that of a request whose answer never came. It is best effort, because
// the next pass looks at the values too.
func (e *external) takeBack(ctx context.Context, who claimant, w *writes, why error) {
	if w.marker == "" || w.metadata == nil || ReasonOf(why) != v1alpha1.ReasonCASMismatch {
		return
	}
	m, err := e.client.ReadMetadata(ctx, e.mount, e.path)
	if err != nil || m.CustomMetadata[tagRotating] != w.marker {
		return
	}
	_ = e.note(ctx, who, m, map[string]string{tagRotating: ""})
}
