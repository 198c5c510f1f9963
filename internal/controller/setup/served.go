package setup

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	servedTimeout = 30 * time.Second
	servedPoll    = 200 * time.Millisecond
)

// Served waits until the API server's discovery knows all the kinds. A CustomResourceDefinition is Established a moment before that.
func Served(ctx context.Context, mapper meta.RESTMapper, kinds ...schema.GroupVersionKind) error {
	for _, k := range kinds {
		var last error
		err := wait.PollUntilContextTimeout(ctx, servedPoll, servedTimeout, true, func(context.Context) (bool, error) {
			_, last = mapper.RESTMapping(k.GroupKind(), k.Version)
			return last == nil, nil
		})
		if err != nil {
			return fmt.Errorf("%s is not served: %w", k.GroupKind(), last)
		}
	}
	return nil
}
