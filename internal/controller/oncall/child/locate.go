package child

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// An Item is something of a team on the server, or what is to be: as much of it as it is told from others by.
type Item struct {
	ID   int64
	Name string
	// Detail is the rest of what a create asks for, in one canonical form.
	Detail string
}

// A Place is where a child's item was looked for.
type Place struct {
	// ID of the child's own item, 0 when it has none.
	ID int64
	// Lost is true when the item was made by a create whose end is not recorded.
	Lost bool
	// Stale is true when the external name is of something that went with a team or a server that were made anew.
	Stale bool
	// Reason and Message say why nothing must be written, when there is a reason.
	Reason  xpv2.ConditionReason
	Message string
}

// locate a child's own item among all that its team has. What others of the same kind have is not what a create of this one left behind.
func locate(mg setup.Object, t *Team, noun string, items []Item, want Item, others func(Item) bool) Place {
	r, name := RecordOf(mg), meta.GetExternalName(mg)
	if r.inFlight(mg) && r.of(t) {
		var same []string
		var id int64
		for _, i := range items {
			if SameName(r.Name, i.Name) && r.Detail == i.Detail && fmt.Sprint(i.ID) != name && !others(i) {
				same, id = append(same, fmt.Sprint(i.ID)), i.ID
			}
		}
		switch len(same) {
		case 0:
		case 1:
			return Place{ID: id, Lost: true}
		default:
			slices.Sort(same)
			return Place{Reason: v1alpha1.ReasonConflict, Message: fmt.Sprintf(
				"%ss %s are all what was asked for, and nothing tells which is this object's: delete all but one", noun, strings.Join(same, ", "))}
		}
	}

	place := Place{}
	if name != "" {
		id := ID(mg)
		if id == 0 {
			return Place{Reason: v1alpha1.ReasonExternalNameInvalid, Message: fmt.Sprintf("external name %q is not the id of a %s", name, noun)}
		}
		i := slices.IndexFunc(items, func(i Item) bool { return i.ID == id })
		// In a team that was made anew an id may be somebody else's. What also has the name that this object gave it is not.
		if i >= 0 && (r == nil || r.of(t) || SameName(r.Name, items[i].Name)) {
			return Place{ID: id}
		}
		place.Stale = r != nil && !r.of(t)
	}
	for _, i := range items {
		if SameName(want.Name, i.Name) {
			place.Reason = v1alpha1.ReasonConflict
			place.Message = fmt.Sprintf("%s %d has the name %q and is not this object's; to take it over, set the annotation %s to its id", noun, i.ID, want.Name, meta.AnnotationKeyExternalName)
			break
		}
	}
	return place
}

// SameName is true when a server that was told the name may show what it has: some trim names and put them in lower case.
func SameName(told, shown string) bool {
	return shown == told || shown == strings.TrimSpace(told) || shown == strings.ToLower(strings.TrimSpace(told))
}

// ID that a child's external name is, 0 when it is none.
func ID(mg setup.Object) int64 {
	id, err := strconv.ParseInt(meta.GetExternalName(mg), 10, 64)
	if err != nil || id < 0 {
		return 0
	}
	return id
}
