package baosecret

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// writes are what differs between a record and what it should be, in the order in which it is written.
type writes struct {
	// metadata to write before the data, nil for none.
	metadata *openbao.MetadataWrite
	// data to write over version cas, nil for none.
	data map[string]json.RawMessage
	cas  int
	// after are changes of the custom metadata that say what the data holds, so they are made when it is there.
	after map[string]string
	// marker of a rotation that the metadata brings, empty for none or one that was there before.
	marker string
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
	before := who.tags()
	before[tagRetained] = ""
	if r.metadata != nil {
		current = r.metadata.CurrentVersion
	}
	t, err := e.turn(ctx, p, r, who)
	if err != nil {
		return nil, err
	}
	maps.Copy(before, t.before)

	data, differs, err := desired(demand{
		items: p.Data, existing: r.data, sources: sources, lost: lostKeys(p.Data, r),
		rotate: t.rotate, recreate: consentsOf(e.cfg.Server).recreate(r.metadata, e.name, who),
	})
	if err != nil {
		return nil, &planError{err}
	}
	w := &writes{cas: current, after: t.after}
	w.after[tagGenerated] = generatedKeys(p.Data, data)
	switch {
	case differs:
		w.data = data
		w.marker = t.before[tagRotating]
	case t.rotate:
		// There is no generated value.
		before[tagRotating], w.after[tagRotated] = "", rotation{trigger: p.Rotation.Trigger, version: current}.String()
	}
	if !differs {
		maps.Copy(before, w.after)
	}
	w.metadata = metadataWrite(r.metadata, before, p.MaxVersions)
	return w, nil
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
