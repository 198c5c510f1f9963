package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NewClient wraps a client so that what a reconciler knows of an object's status survives, and is written only when it is news.
//
// The API server answers an update of an object with its own view of the status, and the managed reconciler updates objects (to add a
// finalizer, or an annotation) between observing something and reporting it. This client keeps the status that the caller had. The
// managed reconciler also updates the status at the end of every pass: an update that would change nothing is not sent.
func NewClient(c client.Client) client.Client { return &statusKeeper{Client: c} }

type statusKeeper struct{ client.Client }

func (c *statusKeeper) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return keepStatus(o, func() error { return c.Client.Update(ctx, o, opts...) })
}

func (c *statusKeeper) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return keepStatus(o, func() error { return c.Client.Patch(ctx, o, p, opts...) })
}

func (c *statusKeeper) Status() client.SubResourceWriter {
	return &newsWriter{SubResourceWriter: c.Client.Status(), client: c.Client}
}

type newsWriter struct {
	client.SubResourceWriter

	client client.Client
}

// Update the status unless it is known already. The whole status is replaced, whatever version of the object the caller has: a reconciler
// is the only writer of its objects' status and computes it from what it has just observed, so a conflict would only delay the news.
func (w *newsWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	status, ok := statusOf(o)
	if !ok {
		return w.SubResourceWriter.Update(ctx, o, opts...)
	}
	if w.known(ctx, o) {
		return nil
	}
	patch, err := json.Marshal([]map[string]any{
		// An object that was made anew under the same name is another one.
		{"op": "test", "path": "/metadata/uid", "value": o.GetUID()},
		{"op": "add", "path": "/status", "value": status.Interface()},
	})
	if err != nil {
		return fmt.Errorf("cannot encode status: %w", err)
	}
	err = w.Patch(ctx, o, client.RawPatch(types.JSONPatchType, patch))
	if kerrors.IsNotFound(err) || failedTest(err) {
		// The object that this is about is gone. A conflict makes a reconciler look again, without an error.
		return kerrors.NewConflict(schema.GroupResource{}, o.GetName(), errGone)
	}
	return err
}

var errGone = errors.New("the object is gone, or was made anew")

// failedTest is true for the API server's answer to a JSON patch whose test failed. Its reason is that of a refused status, which says what
// is wrong with which field; this one says nothing.
func failedTest(err error) bool {
	s := kerrors.APIStatus(nil)
	return kerrors.IsInvalid(err) && errors.As(err, &s) && (s.Status().Details == nil || len(s.Status().Details.Causes) == 0)
}

// known is true when the object in the cache is the version that the caller has, with the very status that is to be written.
func (w *newsWriter) known(ctx context.Context, o client.Object) bool {
	desired, ok := statusOf(o)
	if !ok {
		return false
	}
	// An empty object: a client that decodes into what it is given would leave in it what the server does not have.
	current, ok := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
	if !ok {
		return false
	}
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(o), current); err != nil {
		return false
	}
	observed, _ := statusOf(current)
	return current.GetUID() == o.GetUID() && current.GetResourceVersion() == o.GetResourceVersion() &&
		equality.Semantic.DeepEqual(observed.Interface(), desired.Interface())
}

// keepStatus calls a function that may overwrite the object's status, and puts the status back.
func keepStatus(o client.Object, write func() error) error {
	kept, ok := statusOf(o.DeepCopyObject())
	if err := write(); err != nil {
		return err
	}
	if ok {
		s, _ := statusOf(o)
		s.Set(kept)
	}
	return nil
}

// statusOf returns the Status field of a typed object.
func statusOf(o any) (reflect.Value, bool) {
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	s := v.Elem().FieldByName("Status")
	return s, s.IsValid() && s.CanSet()
}
