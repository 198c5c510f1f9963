package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// criticalPrefix is what the names of the annotations begin with that record an external name and how its create went.
const criticalPrefix = "crossplane.io/external-"

// SetExternalName of an object, in nothing but its annotation. One that has no finalizer yet is not written for that alone: the runtime adds
// the finalizer after it has observed the object, in the same pass, and that write carries the name. Each write of a composed object wakes
// its composite.
func SetExternalName(ctx context.Context, kube client.Client, mg Object, name string) error {
	if meta.WasDeleted(mg) || meta.GetExternalName(mg) == name {
		return nil
	}
	meta.SetExternalName(mg, name)
	if !meta.FinalizerExists(mg, managed.FinalizerName) {
		return nil
	}
	return (&annotationPatcher{client: kube}).UpdateCriticalAnnotations(ctx, mg)
}

// annotationPatcher persists annotations that must not be lost, such as the one that records how a create ended. It patches the
// annotations and nothing else, so it cannot conflict with another writer. The caller's object stays as it is but for its resource version:
// what is reported afterwards is still about the spec, and the generation, that the caller has seen.
type annotationPatcher struct{ client client.Client }

// UpdateCriticalAnnotations implements managed.CriticalAnnotationUpdater. It retries every error but the end of the context.
func (u *annotationPatcher) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	// Only those that the runtime keeps: others may have been changed meanwhile.
	critical := map[string]string{}
	for k, v := range o.GetAnnotations() {
		if strings.HasPrefix(k, criticalPrefix) {
			critical[k] = v
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": critical}})
	if err != nil {
		return fmt.Errorf("cannot encode annotations: %w", err)
	}
	patched, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is not an object of the API", o)
	}
	var last error
	// Not its result: it forgets the error of a context that has ended.
	_ = retry.OnError(retry.DefaultRetry,
		func(err error) bool {
			return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
		},
		func() error {
			last = u.client.Patch(ctx, patched, client.RawPatch(types.MergePatchType, patch))
			return last
		})
	if last != nil {
		return fmt.Errorf("cannot update annotations: %w", last)
	}
	o.SetResourceVersion(patched.GetResourceVersion())
	return nil
}
