package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// places are all that anybody can read, by where it is. Secrets are apart: they may hold secrets, and which do is looked at.
func places(t *testing.T) (readable map[string][]byte, secrets map[string][]byte) {
	t.Helper()
	readable, secrets = map[string][]byte{}, map[string][]byte{}
	logs := []string{p.Plane.Postgres.LogFile}
	if err := filepath.WalkDir(p.Plane.Logs, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			logs = append(logs, path)
		}
		return err
	}); err != nil {
		t.Fatalf("cannot list logs: %v", err)
	}
	for _, path := range logs {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("cannot read log: %v", err)
		}
		readable["log "+filepath.Base(path)] = b
	}
	for _, pkg := range []string{product.Provider, product.FunctionTenant, product.FunctionTerdutServer, product.FunctionContract} {
		readable["metrics of "+pkg] = []byte(metrics(t, pkg))
	}
	objects(t, readable, secrets)
	return readable, secrets
}

// objects dumps every object that the API server has.
func objects(t *testing.T, readable, secrets map[string][]byte) {
	t.Helper()
	disco, err := discovery.NewDiscoveryClientForConfig(p.Plane.Config())
	if err != nil {
		t.Fatalf("cannot create discovery client: %v", err)
	}
	cfg := p.Plane.Config()
	cfg.WarningHandler = rest.NoWarnings{} // Deprecated kinds are looked at too.
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatalf("cannot create dynamic client: %v", err)
	}
	lists, err := disco.ServerPreferredResources()
	if err != nil {
		t.Fatalf("cannot discover kinds: %v", err)
	}
	for _, l := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists) {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			t.Fatalf("cannot parse %q: %v", l.GroupVersion, err)
		}
		for _, r := range l.APIResources {
			items, err := dyn.Resource(gv.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			if kerrors.IsNotFound(err) {
				continue // Another test has taken the kind away.
			}
			if err != nil {
				t.Fatalf("cannot list %s: %v", r.Name, err)
			}
			for _, o := range items.Items {
				place := fmt.Sprintf("%s %s/%s", r.Name, o.GetNamespace(), o.GetName())
				if gv.Group == "" && r.Kind == "Secret" {
					s := &corev1.Secret{}
					b, err := json.Marshal(o.Object)
					if err == nil {
						err = json.Unmarshal(b, s)
					}
					if err != nil {
						t.Fatalf("cannot decode %s", place)
					}
					for _, v := range s.Data {
						secrets[place] = append(append(secrets[place], v...), '\n')
					}
					s.Data = nil
					o.Object["data"] = nil
				}
				b, err := json.Marshal(o.Object)
				if err != nil {
					t.Fatalf("cannot encode %s", place)
				}
				readable[place] = b
			}
		}
	}
}
