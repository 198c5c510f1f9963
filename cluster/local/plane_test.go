package local

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// TestPlane starts a whole plane once, looks at it from several sides and stops it.
func TestPlane(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "plane")
	var progress bytes.Buffer
	p, err := Start(ctx, Options{Dir: dir, Progress: &progress})
	if err != nil {
		t.Fatalf("Start(...): %v", err)
	}
	defer p.Stop()
	t.Logf("progress:\n%s", &progress)

	t.Run("Healthy", func(t *testing.T) {
		if err := p.Check(ctx); err != nil {
			t.Errorf("Check(...): %v", err)
		}
	})
	t.Run("CRDsEstablished", func(t *testing.T) {
		for _, name := range []string{
			"providers.pkg.crossplane.io", "functions.pkg.crossplane.io", "locks.pkg.crossplane.io",
			"compositeresourcedefinitions.apiextensions.crossplane.io",
		} {
			if err := p.waitForCRD(timeout(ctx, t), name); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("CrossplaneIsNoAdmin", func(t *testing.T) { testRoles(ctx, t, p) })
	t.Run("CrossplaneWorks", func(t *testing.T) { testXRD(ctx, t, p) })
	t.Run("ExternalSecretSyncs", func(t *testing.T) { testExternalSecret(ctx, t, p) })
	t.Run("Restart", func(t *testing.T) {
		if err := p.RestartCrossplane(ctx); err != nil {
			t.Fatalf("RestartCrossplane(...): %v", err)
		}
		if err := p.Check(ctx); err != nil {
			t.Errorf("Check(...) after RestartCrossplane(...): %v", err)
		}
	})
	t.Run("ProcessEnds", func(t *testing.T) {
		proc := p.processes[toolchain.ExternalSecrets]
		proc.Kill()
		if err := p.Check(ctx); err == nil || !strings.Contains(err.Error(), proc.LogFile()) {
			t.Errorf("Check(...) after a process was killed: want an error that names %s, got %v", proc.LogFile(), err)
		}
	})

	p.Stop()
	p.Stop() // Stopping twice is fine.
	if err := p.Check(ctx); err == nil {
		t.Error("Check(...) after Stop(): want an error")
	}
	wantStopped(t, dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("os.Stat(%s) after Stop(): want the folder gone, got error %v", dir, err)
	}
}

func TestStartFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plane")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The start is cut off when some processes run and others do not yet.
	_, err := Start(ctx, Options{Dir: dir, Progress: writerFunc(func(line []byte) {
		if bytes.Contains(line, []byte("kube-apiserver is ready")) {
			cancel()
		}
	})})
	if err == nil {
		t.Fatal("Start(...): want an error when the context is cancelled in the middle")
	}
	if logs := filepath.Join(dir, "logs"); !strings.Contains(err.Error(), logs) {
		t.Errorf("Start(...): want an error that names the logs in %s, got %v", logs, err)
	}
	wantStopped(t, dir)

	if _, err := Start(t.Context(), Options{Dir: dir}); err == nil {
		t.Error("Start(...): want an error for a folder that is not empty")
	}
}

// testRoles asks the API server, as Crossplane, what Crossplane may do.
func testRoles(ctx context.Context, t *testing.T, p *Plane) {
	cfg, err := p.ServiceAccountConfig(ctx, SystemNamespace, crossplaneName)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		attrs  authorizationv1.ResourceAttributes
		want   bool
	}{
		"Secrets": {
			reason: "The chart lets Crossplane read Secrets.",
			attrs:  authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets", Namespace: "default"},
			want:   true,
		},
		"ExternalSecrets": {
			reason: "Crossplane cannot compose kinds that nobody has given it access to.",
			attrs:  authorizationv1.ResourceAttributes{Verb: "create", Group: "external-secrets.io", Resource: "externalsecrets", Namespace: "default"},
		},
		"ClusterRoles": {
			reason: "Only the RBAC manager may write roles.",
			attrs:  authorizationv1.ResourceAttributes{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			review := &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &tc.attrs},
			}
			if err := c.Create(ctx, review); err != nil {
				t.Fatal(err)
			}
			if review.Status.Allowed != tc.want {
				t.Errorf("\n%s\nallowed: want %t, got %t", tc.reason, tc.want, review.Status.Allowed)
			}
		})
	}
}

// testXRD sees Crossplane's core offer a composite and its RBAC manager grant access to it.
func testXRD(ctx context.Context, t *testing.T, p *Plane) {
	apply(ctx, t, p, `
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: things.example.org
spec:
  scope: Namespaced
  group: example.org
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object}}}
`)
	waitForCondition(ctx, t, p, "apiextensions.crossplane.io/v2", "CompositeResourceDefinition", "", "things.example.org", "Established")

	role := &unstructured.Unstructured{}
	role.SetAPIVersion("rbac.authorization.k8s.io/v1")
	role.SetKind("ClusterRole")
	if err := poll(timeout(ctx, t), func(ctx context.Context) error {
		return p.client.Get(ctx, client.ObjectKey{Name: "crossplane:composite:things.example.org:aggregate-to-crossplane"}, role)
	}); err != nil {
		t.Errorf("the RBAC manager did not grant Crossplane access to the composite: %v", err)
	}
}

// testExternalSecret sees the External Secrets controller read from the key-value server and write a Secret.
func testExternalSecret(ctx context.Context, t *testing.T, p *Plane) {
	if _, err := p.OpenBao.Root().KVv2(openbao.Mount).Put(ctx, "a/greeting", map[string]any{"text": "hello"}); err != nil {
		t.Fatal(err)
	}
	apply(ctx, t, p, `
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: greeting, namespace: default}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: openbao}
  data: [{secretKey: text, remoteRef: {key: a/greeting, property: text}}]
`)
	waitForCondition(ctx, t, p, "external-secrets.io/v1", "ExternalSecret", "default", "greeting", "Ready")
	if err := p.client.Get(ctx, client.ObjectKey{Namespace: "default", Name: "greeting"}, &corev1.Secret{}); err != nil {
		t.Error(err)
	}
}
