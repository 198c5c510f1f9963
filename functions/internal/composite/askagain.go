package composite

import (
	"time"

	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// Soon is how soon Crossplane asks again while a composite is on its way. Watches are faster, but stop for a while when too much happens
	// at once, and nothing is watched that has to be waited for because of that.
	Soon = 5 * time.Second
	// Slow is how late Crossplane asks again for what is not there yet. It finds what no watch tells of: an event that got lost while Crossplane
	// started, and that the API server would take now what it refused.
	Slow = time.Minute
	// Late is how late Crossplane asks again for what may stay as it is.
	Late = 5 * time.Minute
	// patience is by how much longer something has to have been as it is than it is left alone.
	patience = 6
)

// AskAgain is how soon Crossplane is to ask again for a composite: soon as long as something happens, and the later the longer nothing did, up to a
// limit. Asking costs the API server as much as a change does, and what waits for a person, or for a server that is down, may be many, for days.
func (c *Composition) AskAgain(xr *structpb.Struct, observed map[string]*structpb.Struct, shown bool, now time.Time, limit time.Duration) time.Duration {
	switch {
	case !shown || Paused(xr):
		return Soon
	case c.Ready:
		return Late
	}
	last := CreatedAt(xr)
	for _, c := range conditionsOf(xr).Conditions {
		last = later(last, c.LastTransitionTime.Time)
	}
	for _, o := range observed {
		last = later(last, CreatedAt(o))
	}
	if last.IsZero() {
		return Soon // Nobody can tell.
	}
	return min(max(now.Sub(last)/patience, Soon), limit)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// CreatedAt is when an object was made, the zero time when it does not say.
func CreatedAt(o *structpb.Struct) time.Time {
	return Time(o.GetFields()["metadata"].GetStructValue().GetFields()["creationTimestamp"].GetStringValue())
}

// Time that is written in an object, the zero time when there is none.
func Time(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}
