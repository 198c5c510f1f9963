package servers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/servers"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// manifests of an on-call server that keeps its state in the plane's PostgreSQL. The Secret comes later.
const manifests = `
apiVersion: v1
kind: Namespace
metadata: {name: ops}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ops, name: oncall}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: terdut-server}}
  template:
    metadata: {labels: {app.kubernetes.io/name: terdut-server}}
    spec:
      containers:
      - name: server
        image: example.org/any
        env:
        - {name: TERDUT_LISTEN_ADDR, value: ":8080"}
        - {name: TERDUT_DATABASE_DSN, value: "postgres://postgres@localhost:%d/postgres?sslmode=verify-full"}
        - {name: PGPASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}
        - {name: PGSSLROOTCERT, value: /etc/database/ca.crt}
        volumeMounts: [{name: database, mountPath: /etc/database}]
      volumes:
      - name: database
        secret: {secretName: db, items: [{key: ca.crt, path: ca.crt}]}
---
apiVersion: v1
kind: Service
metadata: {namespace: ops, name: oncall}
spec:
  selector: {app.kubernetes.io/name: terdut-server}
  ports: [{name: http, port: 8080, targetPort: 8080}]
`

// TestServers follows the servers of a Deployment through their life: they wait for their Secret, are reached by the Service's name, are
// rolled out anew, are started again after a crash, and end with their Deployment.
func TestServers(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	b := &images.Builder{Source: root, Cache: t.TempDir(), Platform: v1.Platform{OS: goruntime.GOOS, Architecture: goruntime.GOARCH}}
	binary, err := b.Binary(ctx, images.Package{Name: servers.AppName, Main: "test/terdutserver/cmd/terdut-server"})
	if err != nil {
		t.Fatal(err)
	}
	plane, err := local.Start(ctx, local.Options{Postgres: postgres.Options{TLS: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	kube, err := client.New(plane.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := servers.Start(ctx, servers.Options{Config: plane.Config(), Binary: binary, Dir: filepath.Join(plane.Dir, "servers"), Logs: plane.Logs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)

	eventually := func(what string, check func() error) {
		t.Helper()
		for {
			err := check()
			if err == nil {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("%s: %v", what, err)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	get := func(url string) (int, error) {
		rsp, err := s.Client().Get(url)
		if err != nil {
			return 0, err
		}
		defer rsp.Body.Close()
		_, err = io.Copy(io.Discard, rsp.Body)
		return rsp.StatusCode, err
	}
	deployment := &appsv1.Deployment{}
	rolledOut := func(replicas int32) func() error {
		return func() error {
			if err := kube.Get(ctx, types.NamespacedName{Namespace: "ops", Name: "oncall"}, deployment); err != nil {
				return err
			}
			if st := deployment.Status; st.ObservedGeneration != deployment.Generation || st.UpdatedReplicas != replicas || st.AvailableReplicas != replicas || st.Replicas != replicas {
				return fmt.Errorf("%d replicas, %d updated, %d available, want %d", st.Replicas, st.UpdatedReplicas, st.AvailableReplicas, replicas)
			}
			return nil
		}
	}
	const endpoint = "http://oncall.ops.svc:8080"

	if err := plane.Apply(ctx, fmt.Appendf(nil, manifests, plane.Postgres.Port)); err != nil {
		t.Fatal(err)
	}
	eventually("the Pods say what they wait for", func() error {
		l := &corev1.PodList{}
		if err := kube.List(ctx, l, client.InNamespace("ops")); err != nil {
			return err
		}
		for i := range l.Items {
			for _, c := range l.Items[i].Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && c.Message != "" {
					return nil
				}
			}
		}
		return errors.New("none does")
	})
	if code, err := get(endpoint + "/healthz"); err != nil || code != http.StatusBadGateway {
		t.Errorf("before there is a server: want 502, got %d, %v", code, err)
	}

	secret := &corev1.Secret{Data: map[string][]byte{"password": []byte(plane.Postgres.Password), "ca.crt": plane.Postgres.CABundle}}
	secret.Namespace, secret.Name = "ops", "db"
	if err := kube.Create(ctx, secret); err != nil {
		t.Fatal(err)
	}
	eventually("both servers are ready", rolledOut(2))
	for _, url := range []string{endpoint, "http://oncall.ops.svc.cluster.local:8080"} {
		if code, err := get(url + "/healthz"); err != nil || code != http.StatusOK {
			t.Errorf("%s: want 200, got %d, %v", url, code, err)
		}
	}
	if code, err := get("http://oncall.ops.svc:9090/healthz"); err != nil || code != http.StatusBadGateway {
		t.Errorf("a port that the Service does not have: want 502, got %d, %v", code, err)
	}

	before := instances(ctx, t, s)
	if err := kube.Delete(ctx, &corev1.Pod{ObjectMeta: metaOf(before[0].Pod)}); err != nil {
		t.Fatal(err)
	}
	eventually("another Pod takes its place", func() error {
		if err := rolledOut(2)(); err != nil {
			return err
		}
		if cmp.Equal(before, instances(ctx, t, s)) {
			return errors.New("the same servers run")
		}
		return nil
	})
	if rsp, err := http.Get(before[0].URL + "/healthz"); err == nil {
		_ = rsp.Body.Close()
		t.Error("the server of the deleted Pod still answers")
	}

	// The Deployment's controller writes it at any time.
	was := deployment.DeepCopy()
	deployment.Spec.Replicas = new(int32)
	*deployment.Spec.Replicas = 1
	deployment.Spec.Template.Spec.Containers[0].Image = "example.org/other"
	if err := kube.Patch(ctx, deployment, client.MergeFrom(was)); err != nil {
		t.Fatal(err)
	}
	eventually("the new template is rolled out", rolledOut(1))
	last := instances(ctx, t, s)
	if len(last) != 1 {
		t.Fatalf("%d servers run, want 1", len(last))
	}

	if err := kube.Delete(ctx, deployment, client.PropagationPolicy("Background")); err != nil {
		t.Fatal(err)
	}
	eventually("the last server ends", func() error {
		rsp, err := http.Get(last[0].URL + "/healthz")
		if err == nil {
			_ = rsp.Body.Close()
			return errors.New("it answers")
		}
		return nil
	})
}

// instances of the Service.
func instances(ctx context.Context, t *testing.T, s *servers.Servers) []servers.Instance {
	t.Helper()
	is, err := s.Instances(ctx, types.NamespacedName{Namespace: "ops", Name: "oncall"})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func metaOf(n types.NamespacedName) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: n.Namespace, Name: n.Name}
}
