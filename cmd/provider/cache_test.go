package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// TestCacheHoldsNoData holds that nothing of a Secret's or a workload's content comes into the cache: kubectl apply writes the whole object
// into an annotation, which is metadata.
func TestCacheHoldsNoData(t *testing.T) {
	m := meta.NewDefaultRESTMapper(nil)
	secrets, deployments := corev1.SchemeGroupVersion.WithKind("Secret"), appsv1.SchemeGroupVersion.WithKind("Deployment")
	m.Add(secrets, meta.RESTScopeNamespace)
	m.Add(deployments, meta.RESTScopeNamespace)
	m.Add(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	cases := map[string]struct {
		reason  string
		kind    schema.GroupVersionKind
		watched []string
	}{
		"Secret":        {"The annotation has its data.", secrets, nil},
		"SomeNamespace": {"Also where some namespaces alone are watched.", secrets, []string{"shop"}},
		"Deployment":    {"The annotation has variables that are set inline.", deployments, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := apiextensionsv1.AddToScheme(clientgoscheme.Scheme); err != nil {
				t.Fatal(err)
			}
			o := cacheOptions("crossplane-system", tc.watched...)
			o.Scheme, o.Mapper = clientgoscheme.Scheme, m
			c, err := cache.New(&rest.Config{Host: metadataServer(t)}, o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- c.Start(ctx) }()
			if !c.WaitForCacheSync(ctx) {
				t.Fatal("the cache was not started")
			}
			got := &metav1.PartialObjectMetadata{}
			got.SetGroupVersionKind(tc.kind)
			if err := c.Get(ctx, types.NamespacedName{Namespace: "shop", Name: "orders"}, got); err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			want := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "orders", UID: "a-uid", ResourceVersion: "7", Generation: 3, Labels: map[string]string{"app": "orders"},
			}}
			want.SetGroupVersionKind(tc.kind)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nmetadata in the cache: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// metadataServer is an API server that has one object of whatever kind it is asked for, and no news of it.
func metadataServer(t *testing.T) string {
	t.Helper()
	object := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "orders", UID: "a-uid", ResourceVersion: "7", Generation: 3, Labels: map[string]string{"app": "orders"},
		Annotations:   map[string]string{corev1.LastAppliedConfigAnnotation: `{"data":{"password":"c2VudGluZWw="}}`},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
	object.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
	list.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		q := r.URL.Query()
		if q.Get("watch") == "" {
			answer := list
			if r.URL.Path != "/api/v1/namespaces/crossplane-system/secrets" {
				answer.Items = []metav1.PartialObjectMetadata{object}
			}
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		if q.Get("sendInitialEvents") == "true" {
			// It is an older one, which lists first.
			w.WriteHeader(http.StatusUnprocessableEntity)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s.URL
}
