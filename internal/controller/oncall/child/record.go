package child

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// annotationRecord is the annotation that holds a child's Record.
const annotationRecord = "oncall.terdut.ryuvia.com/created"

// A Record says what a child asked a server to create last. It is written before the server is asked, so that what an interrupted create
// left behind is recognised. The runtime's own annotations do not tell that: they call a create failed whose answer was lost, and count in
// whole seconds.
//
// Whoever may write the object may write its record, as its external name. Both lead no further than to the Teams of its namespace.
type Record struct {
	// Child is the uid of the object. A record that was copied to another object says nothing.
	Child types.UID `json:"child"`
	// Team is the uid of the Team that it was created in.
	Team types.UID `json:"team"`
	// Era is the team's id and what tells its server from one that was made anew.
	Era string `json:"era"`
	// Made tells it from what the Team made before or since: another team on another server may have its id.
	Made string `json:"made,omitempty"`
	// Replaces is the external name that the object had before. While it has it still, the create is in flight.
	Replaces string `json:"replaces,omitempty"`
	// Name and Detail are what was asked for.
	Name   string `json:"name,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Told is what the server was told last and keeps in another form, and Kept is that form.
	Told []string `json:"told,omitempty"`
	Kept []string `json:"kept,omitempty"`
}

// RecordOf returns a child's record, or nil when it has none.
func RecordOf(o client.Object) *Record {
	v, ok := o.GetAnnotations()[annotationRecord]
	if !ok {
		return nil
	}
	r := &Record{}
	if json.Unmarshal([]byte(v), r) != nil || r.Child != o.GetUID() {
		return nil
	}
	return r
}

// inFlight is true while it is not known how the create ended.
func (r *Record) inFlight(o client.Object) bool {
	return r != nil && r.Replaces == meta.GetExternalName(o)
}

// of is true when the record is about this very team on this very server.
func (r *Record) of(t *Team) bool { return r.Era == t.era && r.Made == t.made }

// Begin records what is about to be created. Without this having succeeded nothing may be. It is not the first attempt when it is not known how
// an earlier one ended, which may have made it yet.
func Begin(ctx context.Context, kube client.Client, mg setup.Object, t *Team, i Item) (first bool, err error) {
	r := RecordOf(mg)
	first = !r.inFlight(mg) || !r.of(t) || r.Name != i.Name || r.Detail != i.Detail
	return first, record(ctx, kube, mg, &Record{
		Child: mg.GetUID(), Team: t.Object.GetUID(), Era: t.era, Made: t.made, Replaces: meta.GetExternalName(mg), Name: i.Name, Detail: i.Detail,
	})
}

func record(ctx context.Context, kube client.Client, mg setup.Object, r *Record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("cannot encode record: %w", err)
	}
	return annotate(ctx, kube, mg, map[string]any{annotationRecord: string(b)})
}

// Failed takes back what Begin recorded for the first attempt, when the server certainly created nothing. It is best effort: what stays only
// makes something that is exactly what was asked for the object's own.
func Failed(ctx context.Context, kube client.Client, mg setup.Object, first bool, err error) {
	if !first || terdut.IsUncertain(err) {
		return
	}
	_ = annotate(ctx, kube, mg, map[string]any{annotationRecord: nil})
}

// Adopt records the id of what an interrupted create left behind.
func Adopt(ctx context.Context, kube client.Client, mg setup.Object, id int64) error {
	return annotate(ctx, kube, mg, map[string]any{meta.AnnotationKeyExternalName: fmt.Sprint(id)})
}

// Forget the external name and the record of something that is gone.
func Forget(ctx context.Context, kube client.Client, mg setup.Object) error {
	return annotate(ctx, kube, mg, map[string]any{meta.AnnotationKeyExternalName: nil, annotationRecord: nil})
}

// Keep a record true: a Team or a server that was made anew around what is the child's is the child's from now on.
func Keep(ctx context.Context, kube client.Client, mg setup.Object, t *Team) error {
	r := RecordOf(mg)
	if r == nil || (r.of(t) && r.Team == t.Object.GetUID()) {
		return nil
	}
	r.Team, r.Era, r.Made = t.Object.GetUID(), t.era, t.made
	return record(ctx, kube, mg, r)
}

// annotate patches annotations and nothing else, here and in the API server. An annotation that is nil goes.
func annotate(ctx context.Context, kube client.Client, mg setup.Object, annotations map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": mg.GetUID(), "annotations": annotations}})
	if err != nil {
		return fmt.Errorf("cannot encode annotations: %w", err)
	}
	patched, ok := mg.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is not an object of the API", mg)
	}
	if err := kube.Patch(ctx, patched, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("cannot update annotations: %w", err)
	}
	mg.SetResourceVersion(patched.GetResourceVersion())
	for k, v := range annotations {
		if s, ok := v.(string); ok {
			meta.AddAnnotations(mg, map[string]string{k: s})
		} else {
			meta.RemoveAnnotations(mg, k)
		}
	}
	return nil
}

// Wrote is true when the policy of a team was written by an object, or given to it: there is one in each team, so that its id alone says
// nothing once the team was made anew.
func Wrote(o client.Object, t *Team) bool {
	if r := RecordOf(o); r != nil {
		return r.of(t)
	}
	return meta.GetExternalName(o) == fmt.Sprint(t.ID)
}

// Disown what the record and the external name are about, which is not what is there now. Then an admin can give that to the object.
func Disown(ctx context.Context, kube client.Client, mg setup.Object) error {
	if RecordOf(mg) == nil {
		return nil
	}
	return Forget(ctx, kube, mg)
}
