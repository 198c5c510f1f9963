package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rightsInterval is how often it is asked whether the provider has got rights in a namespace that it was started without.
const rightsInterval = 30 * time.Second

// rights asks the API server in which namespaces the provider may work. Nothing at all would be reconciled before each namespace that is
// watched has been listed: without rights in one, because it is gone or somebody took a binding away, all the others would wait without end.
func rights(ctx context.Context, kube client.Writer, namespaces []string) (with, without []string, err error) {
	for _, n := range namespaces {
		// What is bound in a namespace is one role: who may list its Secrets may do the rest.
		r := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: n, Verb: "list", Resource: "secrets"},
		}}
		if err := kube.Create(ctx, r); err != nil {
			return nil, nil, fmt.Errorf("cannot ask for the rights in namespace %q: %w", n, err)
		}
		if r.Status.Allowed {
			with = append(with, n)
		} else {
			without = append(without, n)
		}
	}
	return with, without, nil
}

// awaitRights ends the provider, so that it starts anew, when it has got rights in one of the namespaces that it was started without.
func awaitRights(ctx context.Context, kube client.Writer, every time.Duration, without []string) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		// An API server that does not answer is asked again.
		if with, _, err := rights(ctx, kube, without); err == nil && len(with) > 0 {
			return fmt.Errorf("there are rights in %s now: the provider has to start anew", strings.Join(with, ", "))
		}
	}
}
