package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A spell is a time during which something was not Ready that had been.
type spell struct {
	composite  string
	from, till time.Time // The zero till is a spell that has not ended.
}

// wavering notes the composites of one kind that were not Ready again after they had been.
type wavering struct {
	ready  map[string]bool
	spells []spell
	// cut is true when the API server ended a watch, and what happened later was not seen.
	cut bool
}

func (w *wavering) note(u *unstructured.Unstructured, now time.Time) {
	name, was, is := u.GetName(), w.ready[u.GetName()], isReady(u)
	w.ready[name] = is
	switch {
	case was && !is && u.GetDeletionTimestamp() == nil:
		w.spells = append(w.spells, spell{composite: name, from: now})
	case !was && is:
		for i := range w.spells {
			if s := &w.spells[i]; s.composite == name && s.till.IsZero() {
				s.till = now
			}
		}
	}
}

// String says how often, and for how long at most.
func (w *wavering) String() string {
	longest, open := time.Duration(0), 0
	for _, s := range w.spells {
		if s.till.IsZero() {
			open++
			continue
		}
		longest = max(longest, s.till.Sub(s.from))
	}
	out := fmt.Sprintf("%d (longest %s, not over: %d)", len(w.spells), seconds(longest), open)
	if w.cut {
		out += ", and not all was seen: the API server ended a watch"
	}
	return out
}

// composites that wavered.
func (w *wavering) composites() []string {
	names := map[string]bool{}
	for _, s := range w.spells {
		names[s.composite] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// compositeOf is the name of the composite that an object is, or is a part of.
func compositeOf(u *unstructured.Unstructured) string {
	if n := u.GetLabels()["crossplane.io/composite"]; n != "" {
		return n
	}
	return u.GetName()
}

// about are the recorded lines about one composite.
func (r *recorder) about(composite string) []string {
	var out []string
	for _, l := range r.lines {
		if strings.Contains(l, " "+composite+" ") {
			out = append(out, l)
		}
	}
	return out
}
