package baosecret

import (
	"context"
	"strconv"
	"strings"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// A rotation is a trigger and the version that it made, or is about to make. As text it is TRIGGER@VERSION.
//
// tagRotating says what is about to be made, and is written before the version; tagRotated says what was made, and is written after it, when
// tagRotating goes. Whoever finds tagRotating without its version finishes the rotation. Whoever finds it with the version finds out from
// the values whether the rotation made that version, or somebody else.
type rotation struct {
	trigger string
	version int
}

func (r rotation) String() string { return r.trigger + "@" + strconv.Itoa(r.version) }

// rotationOf reads a rotation from a tag of a record.
func rotationOf(m *openbao.Metadata, tag string) (rotation, bool) {
	if m == nil {
		return rotation{}, false
	}
	trigger, version, ok := strings.Cut(m.CustomMetadata[tag], "@")
	n, err := strconv.Atoi(version)
	if !ok || err != nil {
		return rotation{}, false
	}
	return rotation{trigger: trigger, version: n}, true
}

// A turn says what a rotation takes: whether generated values are to be replaced, and the changes of the custom metadata before and after.
type turn struct {
	rotate        bool
	before, after map[string]string
}

// turn decides whether generated values are to be replaced.
func (e *external) turn(ctx context.Context, p v1alpha1.BaoSecretParameters, r *record, who claimant) (turn, error) {
	t := turn{before: map[string]string{}, after: map[string]string{}}
	if p.Rotation == nil || p.Rotation.Trigger == "" {
		return t, nil
	}
	trigger, current := p.Rotation.Trigger, 0
	if r.metadata != nil {
		current = r.metadata.CurrentVersion
	}
	done, ok := rotationOf(r.metadata, tagRotated)
	switch {
	case ok && done.trigger == trigger:
		t.before[tagRotating] = ""
		return t, nil
	case current == 0 || handedOver(r.metadata, who):
		// Values that are made for the first time, or were somebody else's until now, are not rotated: the trigger counts from here.
		t.before[tagRotating], t.before[tagRotated] = "", rotation{trigger: trigger, version: max(current, 1)}.String()
		return t, nil
	}

	if begun, ok := rotationOf(r.metadata, tagRotating); ok && begun.trigger == trigger && current >= begun.version {
		made, err := e.made(ctx, p.Data, begun.version)
		if err != nil {
			return t, err
		}
		if made {
			t.after[tagRotating], t.after[tagRotated] = "", begun.String()
			return t, nil
		}
	}
	next := rotation{trigger: trigger, version: current + 1}.String()
	t.rotate = true
	t.before[tagRotating] = next
	t.after[tagRotating], t.after[tagRotated] = "", next
	return t, nil
}

// made says whether a rotation made a version: all generated values are others than in the version before. It is only asked when a
// rotation was interrupted. Where one of both cannot be read any more the version counts as made, because nothing is worse than a
// password that changes twice.
func (e *external) made(ctx context.Context, items []v1alpha1.DataItem, version int) (bool, error) {
	if version <= 1 {
		// It replaces nothing, and was made. Packages before v0.1.0 noted it as a rotation, too.
		return true, nil
	}
	var both [2]*openbao.Data
	for i := range both {
		d, err := e.client.ReadData(ctx, e.mount, e.path, version-1+i)
		if openbao.IsNotFound(err) || openbao.IsDeleted(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		both[i] = d
	}
	for _, i := range items {
		if i.Generate == nil {
			continue
		}
		was, had := both[0].Text(i.Key)
		is, has := both[1].Text(i.Key)
		if had && (!has || is == was) {
			return false, nil
		}
	}
	return true, nil
}
