package baosecret

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// writes are what differs between a record and what it should be.
type writes struct {
	// metadata to write before the data, nil for none.
	metadata *openbao.MetadataWrite
	// data to write over version cas, nil for none.
	data map[string]json.RawMessage
	cas  int
}

func (w *writes) none() bool { return w.metadata == nil && w.data == nil }

// planError is an error of what the spec asks for, not of the server.
type planError struct{ error }

func (e *planError) Unwrap() error { return e.error }

// writes compares a record with the spec. Nothing is written.
func (e *external) writes(ctx context.Context, mg *v1alpha1.BaoSecret, r *record, who claimant) (*writes, error) {
	p := mg.Spec.ForProvider
	sources, err := e.sources(ctx, mg)
	if err != nil {
		return nil, err
	}

	current := 0
	changes := who.tags()
	changes[tagRetained] = ""
	if r.metadata != nil {
		current = r.metadata.CurrentVersion
	}
	marker, rotate := rotate(p.Rotation, r.metadata, current)
	if marker != "" {
		changes[tagRotation] = marker
	}

	w := &writes{cas: current}
	data, differs, err := desired(p.Data, r.data, sources, rotate)
	if err != nil {
		return nil, &planError{err}
	}
	if differs {
		w.data = data
	}
	w.metadata = metadataWrite(r.metadata, changes, p.MaxVersions)
	return w, nil
}

// rotate decides whether generated values are to be replaced, and returns the marker that has to be written before, empty for none.
//
// The marker names the version that the rotation writes. It is there before that version is, so whoever finds the marker without the
// version finishes the rotation, and whoever finds both knows that it is done.
func rotate(want *v1alpha1.Rotation, m *openbao.Metadata, current int) (marker string, now bool) {
	if want == nil || want.Trigger == "" {
		return "", false
	}
	next := rotation{trigger: want.Trigger, version: current + 1}
	have, ok := rotationOf(m)
	if ok && have.trigger == want.Trigger {
		if current >= have.version {
			return "", false
		}
		return next.String(), current > 0
	}
	return next.String(), current > 0
}

// metadataWrite returns what has to be written so that the custom metadata has the changes made, nil for nothing.
func metadataWrite(m *openbao.Metadata, changes map[string]string, maxVersions *int32) *openbao.MetadataWrite {
	w := openbao.MetadataWrite{CustomMetadata: merge(m, changes)}
	if maxVersions != nil {
		n := int(*maxVersions)
		w.MaxVersions = &n
	}
	if m != nil && maps.Equal(m.CustomMetadata, w.CustomMetadata) && (w.MaxVersions == nil || *w.MaxVersions == m.MaxVersions) {
		return nil
	}
	return &w
}

// apply brings the record to what the spec asks for. It reads again under the record's lock, marks the record, makes sure that the mark is
// ours, and only then writes data.
func (e *external) apply(ctx context.Context, mg *v1alpha1.BaoSecret) error {
	defer e.records.acquire(e.name)()

	who, err := e.claimant(ctx, mg)
	if err != nil {
		return err
	}
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
			return e.fail(mg, err)
		}
	}
	if w.data != nil {
		if _, err := e.client.WriteData(ctx, e.mount, e.path, w.data, w.cas); err != nil {
			return e.fail(mg, err)
		}
	}

	r, err = e.read(ctx)
	if err != nil {
		return e.fail(mg, err)
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
