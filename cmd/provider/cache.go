package main

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cacheOptions say what is kept of the objects that are watched. Watching some namespaces alone adds the provider's own, which holds the
// credentials of cluster provider configs.
func cacheOptions(own string, watched ...string) cache.Options {
	o := cache.Options{
		DefaultTransform: strip,
		ByObject:         map[client.Object]cache.ByObject{&apiextensionsv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema}},
	}
	if len(watched) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{own: {}}
	}
	for _, n := range watched {
		o.DefaultNamespaces[n] = cache.Config{}
	}
	return o
}

// strip an object of what nobody here looks at. Of an object whose metadata alone is watched, a Secret or a workload, the annotations go
// too: kubectl apply writes the whole object into one, data and all, and a cache would keep that of every Secret there is. Other objects
// keep theirs, because they are written back.
func strip(in any) (any, error) {
	if m, ok := in.(*metav1.PartialObjectMetadata); ok {
		m.Annotations = nil
	}
	return cache.TransformStripManagedFields()(in)
}
