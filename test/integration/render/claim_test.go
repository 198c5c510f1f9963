package render

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/ryuvia/provider-terdut/cluster/local/render"
)

// annotationResource is Crossplane's: the name that a composed resource has in its composition.
const annotationResource = "crossplane.io/composition-resource-name"

// compareClaim renders the same manifest as a claim, and holds that the same is composed and said but for whose it is.
func compareClaim(t *testing.T, r *render.Renderer, step string, namespaced []byte) {
	t.Helper()
	want, controller := rendered(t, namespaced)
	// Names are made of the uid.
	out, err := r.RenderClaim(t.Context(), step, cmp.Or(controller, "nothing is composed"))
	if err != nil {
		t.Fatal(err)
	}
	got, behind := rendered(t, out)
	if behind == controller && controller != "" {
		t.Errorf("as a claim: what is composed is controlled by the uid of the claim")
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("as a claim: -namespaced, +claim:\n%s", diff)
	}
}

// rendered reads what was rendered, without what differs between composites of either scope: the composite has its status alone, and composed
// resources have no references to it. It returns their controller too.
func rendered(t *testing.T, out []byte) (map[string]any, types.UID) {
	t.Helper()
	objects, controller := map[string]any{}, types.UID("")
	for doc := range strings.SplitSeq(string(out), "---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			t.Fatal(err)
		}
		if o.Object == nil {
			continue
		}
		resource := o.GetAnnotations()[annotationResource]
		if resource == "" {
			status, _, _ := unstructured.NestedMap(o.Object, "status")
			delete(status, "claimConditionTypes")
			objects["status"] = status
			continue
		}
		if c := metav1.GetControllerOf(o); c != nil {
			controller = c.UID
		}
		labels := o.GetLabels()
		for _, l := range []string{"crossplane.io/composite", "crossplane.io/claim-name", "crossplane.io/claim-namespace"} {
			delete(labels, l)
		}
		o.SetLabels(labels)
		o.SetOwnerReferences(nil)
		if resource == "check" {
			// Crossplane generates it.
			o.SetName("")
			o.SetGenerateName("")
		}
		objects[resource] = o.Object
	}
	return objects, controller
}
