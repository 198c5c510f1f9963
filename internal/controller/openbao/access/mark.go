package access

import (
	"fmt"
	"slices"
	"strings"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// markPrefix begins a mark. Neither kind of object has custom metadata, so that its mark is a part of it: a comment in the first line of a
// policy's text, and one of the token policies of a role, which grants nothing because no policy has that name.
const markPrefix = "terdut-owner:"

// A mark says whose an object is. All its parts are in lower case, in which OpenBao keeps names of policies, and none holds a slash or a comma.
type mark struct {
	controlPlane, ownerUID, holder, namespace, name string
}

// String returns the mark as it is kept.
func (m mark) String() string {
	return markPrefix + strings.Join([]string{m.controlPlane, m.ownerUID, m.holder, m.namespace, m.name}, "/")
}

// owner as namespace/name.
func (m mark) owner() string { return m.namespace + "/" + m.name }

// parse a mark.
func parse(s string) (mark, bool) {
	rest, ok := strings.CutPrefix(s, markPrefix)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 5 {
		return mark{}, false
	}
	return mark{controlPlane: parts[0], ownerUID: parts[1], holder: parts[2], namespace: parts[3], name: parts[4]}, true
}

// marked returns the text of a policy with a mark.
func marked(text string, m mark) string { return "# " + m.String() + "\n" + text }

// unmarked parts the mark from the text of a policy.
func unmarked(text string) (string, *mark) {
	first, rest, _ := strings.Cut(text, "\n")
	if m, ok := parse(strings.TrimPrefix(first, "# ")); ok {
		return rest, &m
	}
	return text, nil
}

// withMark returns token policies with a mark.
func withMark(policies []string, m mark) []string {
	out, _ := withoutMark(policies)
	return append(out, m.String())
}

// withoutMark parts marks from token policies. Of several marks none counts: no two owners were meant.
func withoutMark(policies []string) ([]string, *mark) {
	var out []string
	var marks []mark
	for _, p := range policies {
		if m, ok := parse(p); ok {
			marks = append(marks, m)
			continue
		}
		out = append(out, p)
	}
	if len(marks) != 1 {
		return out, nil
	}
	return out, &marks[0]
}

// A verdict on whose an object is.
type verdict int

const (
	// ours: the object belongs to who asks, and says so.
	ours verdict = iota
	// toMark: the object belongs to who asks, and is to say so: it was another object's of the same owner, or an admin allows to take it over.
	toMark
	// foreign: the object is not ours and stays untouched.
	foreign
)

// judge whose an object is. Without a mark it was not made here.
func judge(m *mark, who mark, path string, s v1alpha1.ServerSpec) verdict {
	from := commonv1alpha1.AdoptionFromUnregistered
	if m != nil {
		from = m.ownerUID
	}
	switch {
	case m != nil && *m == who:
		return ours
	case m != nil && m.ownerUID == who.ownerUID && m.controlPlane == who.controlPlane:
		return toMark
	case m != nil && m.owner() == who.owner() && slices.ContainsFunc(s.ControlPlanes, func(c commonv1alpha1.ControlPlaneAdoption) bool { return c.From == m.controlPlane }):
		return toMark
	case slices.ContainsFunc(s.Adoptions, func(a v1alpha1.Adoption) bool {
		return a.Path == path && a.From == from && a.To == who.owner()
	}):
		return toMark
	}
	return foreign
}

// conflict says why an object is not ours, and what to do.
func conflict(m *mark, path string) string {
	who, from := "was not made by this provider", commonv1alpha1.AdoptionFromUnregistered
	if m != nil {
		who, from = fmt.Sprintf("belongs to %s (%s)", m.owner(), m.ownerUID), m.ownerUID
	}
	return fmt.Sprintf("%q %s: have an admin hand it over in the provider config's adoptions (from: %s), or choose another external name", path, who, from)
}
